"""Which words may follow on a command line: read from the commands themselves, so that there is no list to keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.checks.library import load
from bot.checks.remedies import remedy_names
from bot.checks.words import areas
from bot.cli.process import Output
from bot.settings import load as settings
from handlers.question import Word

SHELLS = ("bash", "zsh", "fish")
FILE_HINTS = ("FILE", "FOLDER")
"""What stands for a file in an option's help."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """One command, as it is typed: what may follow it, and what may follow each of its options."""

    path: str
    """`runbooks show`; empty for aksbot itself."""
    words: tuple[str, ...]
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    """Options that name a file."""
    takes_file: bool = False
    """An argument is a file."""


def spoken(root: Any) -> list[Spoken]:
    """All commands below this one. `root` is what typer makes of the app."""
    return list(_below(root, "", _known()))


def _below(command: Any, path: str, known: Mapping[str, tuple[str, ...]]) -> Iterator[Spoken]:
    inner = getattr(command, "commands", {})
    options = [option for option in command.params if option.param_type_name == "option"]
    arguments = [argument for argument in command.params if argument.param_type_name == "argument"]
    names = [name for option in options for name in option.opts if name.startswith("--")]
    follow = [value for argument in arguments for value in _for(known, path, argument.name)]
    values = {
        name: known[option.name]
        for option in options
        for name in option.opts
        if option.name in known and not option.is_flag
    }
    files = tuple(name for option in options for name in option.opts if _is_file(option))
    takes_file = any(_is_file(argument) for argument in arguments)
    yield Spoken(path, (*sorted(inner), *follow, *names, "--help"), values, files, takes_file)
    for name, child in inner.items():
        yield from _below(child, f"{path} {name}".strip(), known)


def _for(known: Mapping[str, tuple[str, ...]], path: str, name: str) -> tuple[str, ...]:
    return known.get(f"{path} {name}", known.get(name, ()))


def _is_file(option: Any) -> bool:
    return any(hint in (option.metavar or option.name).upper() for hint in FILE_HINTS)


def _known() -> dict[str, tuple[str, ...]]:
    """The values of an option or an argument, by its name; `plan remedy` is the argument of that command alone.

    Names of clusters are not among them: only Azure knows those, and a key must not wait for Azure.
    """
    codes = tuple(load(settings()).explains)
    return {
        "area": tuple(sorted(areas())),
        "only": codes,
        "code": codes,
        "remedy": tuple(sorted(remedy_names())),
        "output": tuple(Output),
        "check about": (*sorted(areas()), *(word.value for word in Word)),
        "role": ("all", "web", "worker"),
        "over": ("socket", "http"),
        "scenario": _scenarios(),
        "shell": SHELLS,
    }


def _scenarios() -> tuple[str, ...]:
    """None where the sandbox is not installed: nobody can play one there."""
    try:
        from bot.playground.scenarios import scenario_names
    except ModuleNotFoundError:
        return ()
    return scenario_names()
