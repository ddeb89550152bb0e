"""Commands as people copy them: short lines that break at options, and the subscription set once for a block.

For the terminal and Slack alike. A block stays whole by itself: whoever copies the second of two must not act on the
subscription that another shell happens to be in, so `az account set` stands in each block that relies on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from runbooks.linear import compile_linear

LONGEST = 64
"""Characters: about what a phone shows in two lines, and every terminal in one."""
_FENCE = compile_linear(r"\s*(`{3,}|~{3,})\s*(\w*)")
_SHELLS = frozenset({"sh", "bash", "shell"})
_COMMAND = compile_linear(r"\s*(az|kubectl) .*")
_SUBSCRIPTION = compile_linear(r""" --subscription ('[^']*'|"[^"]*"|[^\s'"$]+)( |$)""")
_BREAKS = ("--", "| ", "&& ")


def for_people(markdown: str) -> str:
    """The text with the commands of its shell blocks in short lines."""
    return "\n".join(_lines(markdown.split("\n")))


def _lines(lines: Iterable[str]) -> Iterator[str]:
    fence, shell = "", False
    block: list[str] = []
    for line in lines:
        mark = _FENCE.match(line)
        if not fence:
            fence, shell = (mark[1], mark[2] in _SHELLS) if mark else ("", False)
            yield line
        elif mark and mark[1].startswith(fence):
            yield from _block(block)
            yield line
            fence, block = "", []
        elif shell:
            block.append(line)
        else:
            yield line
    yield from block


def _block(lines: Sequence[str]) -> Iterator[str]:
    if any(line.rstrip().endswith("\\") or "<<" in line for line in lines):
        yield from lines  # laid out by hand, or text for a program
        return
    subscription = _of_all(lines)
    if subscription:
        indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
        yield f"{indent}az account set --subscription {subscription}"
    for line in lines:
        short = f"{line} ".replace(f" --subscription {subscription} ", " ").rstrip() if subscription else line
        yield from _wrapped(short) if _COMMAND.fullmatch(line) else (short,)


def _of_all(lines: Sequence[str]) -> str:
    """The one subscription that all az commands of a block name, if there are several; else empty."""
    commands = [line for line in lines if line.lstrip().startswith("az ") and " --ids " not in line]
    named = [found[1] for line in commands if (found := _SUBSCRIPTION.search(line))]
    return named[0] if len(named) == len(commands) > 1 and len(set(named)) == 1 else ""


def _wrapped(line: str) -> Iterator[str]:
    indent = line[: len(line) - len(line.lstrip())]
    kept = ""
    for part in _parts(line.strip()):
        longer = f"{kept} {part}" if kept else f"{indent}{part}"
        if kept and len(longer) + 2 > LONGEST:
            yield f"{kept} \\"
            longer = f"{indent}  {part}"
        kept = longer
    yield kept


def _parts(command: str) -> Iterator[str]:
    """The command, broken before each option, pipe and `&&` that stands outside of quotes and of `$(…)`."""
    begins, quote, depth = 0, "", 0
    for at, letter in enumerate(command):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "()":
            depth += 1 if letter == "(" else -1
        elif letter == " " and not depth and command[at + 1 :].startswith(_BREAKS):
            yield command[begins:at]
            begins = at + 1
    yield command[begins:]
