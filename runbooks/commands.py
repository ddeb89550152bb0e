"""Whether an `az` or `kubectl` line is a command that exists. `commands.yaml` lists them, as the programs report them.

An entry is a command and its options: `--name,-n!` is one option with two spellings that must be given. A test
compares the table with the programs where they are installed.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

_TABLE = Path(__file__).with_name("commands.yaml")
_BETWEEN_COMMANDS = re.compile(r"[|&;()]+")
_SUBSTITUTED = re.compile(r"\$\(([^()]*)\)")
_VALUE = re.compile(r"\{\{.*?\}\}")
_CONTROL = re.compile(r"\{[%#].*?[%#]\}")


@dataclass(frozen=True, slots=True)
class Command:
    """A command, and every spelling of its options."""

    name: str
    options: frozenset[str]
    required: tuple[tuple[str, ...], ...]
    """Each of these must be given, in one of its spellings."""

    @classmethod
    def of(cls, name: str, options: str) -> Command:
        groups = [(tuple(group.rstrip("!").split(",")), group.endswith("!")) for group in options.split()]
        known = frozenset(spelling for spellings, _ in groups for spelling in spellings)
        return cls(name, known, tuple(spellings for spellings, must in groups if must))


@dataclass(frozen=True, slots=True)
class Program:
    """All commands of one program."""

    name: str
    everywhere: frozenset[str]
    commands: dict[str, Command]
    takes_words: bool
    """Whether words may follow a command (`kubectl get pods`); az takes options only."""

    def complaint(self, words: list[str]) -> str | None:
        """What is wrong with this command line (without the program's name), or None."""
        first_option = next((at for at, word in enumerate(words) if _is_option(word)), len(words))
        command = self._command(words[:first_option])
        if command is None:
            called = " ".join([self.name, *words[:first_option]])
            return f"`{called}` is not in commands.yaml (add it there if it exists)"
        given = [_spelling(word) for word in _options(words)]
        for option in given:
            if option not in command.options | self.everywhere:
                return f"`{self.name} {command.name}` has no option `{option}`"
        if "--ids" not in given:
            for spellings in command.required:
                if not set(spellings) & set(given):
                    return f"`{self.name} {command.name}` needs `{spellings[0]}`"
        return None

    def _command(self, words: list[str]) -> Command | None:
        for length in range(len(words), 0, -1):
            command = self.commands.get(" ".join(words[:length]))
            if command and (length == len(words) or self.takes_words):
                return command
        return None


@cache
def programs() -> dict[str, Program]:
    """The table, by program."""
    table = yaml.safe_load(_TABLE.read_text(encoding="utf-8"))
    return {
        name: Program(
            name,
            Command.of("", entry["everywhere"]).options,
            {command: Command.of(command, options or "") for command, options in entry["commands"].items()},
            takes_words=name == "kubectl",
        )
        for name, entry in table.items()
    }


def complaint_about(line: str) -> str | None:
    """The first error in the `az` and `kubectl` commands of one shell line."""
    try:
        for words in _commands(_CONTROL.sub("", _VALUE.sub("VALUE", line))):
            program = programs().get(words[0])
            complaint = program.complaint(words[1:]) if program else None
            if complaint:
                return complaint
    except ValueError as bad:
        return f"not a shell line: {bad}"
    return None


def _commands(line: str) -> Iterator[list[str]]:
    """The commands of a line: split at pipes, in `$(…)`, also between quotes."""
    words: list[str] = []
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    for word in lexer:
        if _BETWEEN_COMMANDS.fullmatch(word):
            if words:
                yield words
            words = []
        else:
            words.append(word)
            for inside in _SUBSTITUTED.findall(word):
                yield from _commands(inside)
    if words:
        yield words


def _options(words: list[str]) -> Iterator[str]:
    for word in words:
        if word == "--":
            return
        if _is_option(word):
            yield word


def _is_option(word: str) -> bool:
    return len(word) > 1 and word[0] == "-" and not word[1].isdigit()


def _spelling(word: str) -> str:
    return word.split("=", 1)[0] if word.startswith("--") else word[:2]
