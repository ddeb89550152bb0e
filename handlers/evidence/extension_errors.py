"""What a machine's extension says when it fails, and whether that is all that is wrong with the machine.

AKS makes a node of a machine by a script extension (vmssCSE; AKSLinuxExtension and others beside it). Its message is
long; what tells is the exit status and a line of its stderr.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from handlers.evidence.compute import Instance
from handlers.evidence.errors import ErrorDetail
from handlers.evidence.signs import named_cause
from runbooks.cse_exit_codes import called
from runbooks.linear import compile_linear

SCRIPT_FAILED = "cse-error"

_EXTENSION = compile_linear(r"extension '(?P<name>[^']{1,80})'", ignore_case=True)
_EXIT = compile_linear(
    r"exit (?:status|code)(?: of)?[ =:\"']{1,4}(?P<code>\d{1,4})\b|\"ExitCode\":\s*\"?(?P<json>\d{1,4})\b",
    ignore_case=True,
)
_WINDOWS = compile_linear(
    r"ExitCode: ?\|(?P<code>\d{1,4})\|, ?Output: ?\|WINDOWS_CSE_ERROR_(?P<name>[A-Z0-9_]{2,80})\|"
    r"(?:, ?Error: ?\|(?P<said>[^|]{1,900}))?"
)
_OF_WINDOWS = compile_linear(r"CustomScriptExtension|CSEWindows")
"""The script extension of Windows nodes has a type, and a page of help, of its own."""
_OUTPUT = compile_linear(r'"Output\\?":\s*\\?"(?P<said>(?:[^"\\]|\\[^"]){1,1000})')
_NAMED = compile_linear(r"VMExtensionError_(?P<after>\w{3,80})|\b(?P<before>\w{3,80})VMExtensionError\b")
_SPOKEN = (
    (compile_linear(r"connection (?:from agents )?to kubernetes api server", ignore_case=True), 51),
    (compile_linear(r"resolve kubernetes api server name", ignore_case=True), 52),
)
"""What AKS says in place of an exit code."""
_SCRIPT = compile_linear(r"cse|customscript", ignore_case=True)
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class ExtensionError:
    """One extension's failure."""

    extension: str
    exit_code: int
    """0 where it names none: a script that fails ends with another."""
    line: str
    windows: bool = False
    """Whether a Windows node's script says so: its numbers mean other things."""
    windows_name: str = ""

    @property
    def same_as(self) -> tuple[str, str]:
        """What the failures of many machines have in common when their cause is one."""
        telling = str(self.exit_code) if self.exit_code else re.sub(r"\d+", "", self.line)
        return self.extension.lower(), telling

    @property
    def known_as(self) -> str:
        """The code of the problem behind it. Other extensions have exit codes of their own."""
        if self.windows:
            return SCRIPT_FAILED if _SCRIPT.search(self.extension) else ""
        named = named_cause("", str(self))
        if named in ("", SCRIPT_FAILED):
            return SCRIPT_FAILED if _SCRIPT.search(self.extension) else ""
        return named

    def __str__(self) -> str:
        how = f"exit status {self.exit_code}: " if self.exit_code else ""
        how += f"{self.windows_name}: " if self.windows_name else ""
        return f"extension {self.extension} failed: {how}{self.line}"


def only_its_extension(machine: Instance) -> ExtensionError | None:
    """The error of a machine that is Failed for its extension and for nothing else."""
    if not machine.failed or not machine.errors or set(machine.errors) != set(machine.extension_errors):
        return None
    told = [read_extension_error(error) for error in machine.extension_errors]
    # The machine and the extension say the same thing; the one with an exit status says more.
    return max(told, key=lambda error: (bool(error.exit_code), error.extension != "unknown", len(error.line)))


def script_error(machine: Instance) -> ExtensionError | None:
    """What the set-up script of a Failed machine says; the one with an exit status says more."""
    told = [read_extension_error(error) for error in machine.extension_errors] if machine.failed else []
    of_script = [error for error in told if error.known_as == SCRIPT_FAILED]
    return max(of_script, key=lambda error: (bool(error.exit_code), len(error.line)), default=None)


def read_extension_error(error: ErrorDetail) -> ExtensionError:
    """From a status of the machine (VMExtensionProvisioningError) or of the extension itself."""
    named, exited = _EXTENSION.search(error.message), _EXIT.search(error.message)
    own = "unknown" if error.code.lower().startswith("vmextension") else error.target
    name = named["name"] if named else own or "unknown"
    told = _WINDOWS.search(error.message)
    if told:
        line = " ".join(_telling(_plain(told["said"] or ""))) or told["name"]
        return ExtensionError(name, int(told["code"]), line[:_LONGEST], windows=True, windows_name=told["name"])
    exit_code = int(exited["code"] or exited["json"]) if exited else _meant(error)
    windows = _OF_WINDOWS.search(error.message) is not None
    return ExtensionError(name, exit_code, _line(error.message), windows)


def _meant(error: ErrorDetail) -> int:
    """The exit code that AKS has put into words; 0 where it has not."""
    named = _NAMED.search(f"{error.code} {error.message}")
    known = called(named["after"] or named["before"]) if named else None
    if known:
        return known.number
    return next((number for sentence, number in _SPOKEN if sentence.search(error.message)), 0)


def _line(message: str) -> str:
    """The last line of stderr that says something, or of the output that the script reports; else the first line."""
    said = _plain(message).partition("'. More information")[0]
    output, (_, _, stderr) = _OUTPUT.search(message), said.partition("[stderr]")
    lines = _telling(stderr) or _telling(_plain(output["said"]) if output else "")
    rest = said.partition("Error message: ")[2] or said
    telling = lines[-1] if lines else next(iter(_telling(rest)), said.strip())
    return telling[:_LONGEST]


def _plain(text: str) -> str:
    return text.replace("\\r", "").replace("\\n", "\n")


def _telling(text: str) -> list[str]:
    lines = [line.strip(" '\"") for line in text.splitlines()]
    return [line for line in lines if line and "exited with non-zero status" not in line and "aka.ms" not in line]
