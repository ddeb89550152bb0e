"""Regular expressions for text from outside: RE2, whose time grows with the text and never with its square.

Python's own `re` goes back and tries again, and keeps the interpreter's lock while it does, so that one hostile line
can hold up the whole process. RE2 knows no lookaround and no backreference: look at a match's neighbours in Python.
`\\w`, `\\d`, `\\s` and `\\b` mean ASCII here. A loop over matches can be quadratic all the same: a search that starts
again at every letter and reads to the end each time. `tests/linear` measures every pattern that is compiled here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Protocol, cast

import re2

_SURROGATE = re.compile("[\ud800-\udfff]")


class NotLinear(ValueError):
    """Why RE2 refuses a pattern, in its own words."""


class Match(Protocol):
    """What RE2 found; as `re.Match`, for what is used of it."""

    def __getitem__(self, group: int | str) -> str: ...
    def start(self, group: int = 0) -> int: ...
    def end(self, group: int = 0) -> int: ...
    def span(self, group: int = 0) -> tuple[int, int]: ...
    def groups(self) -> tuple[str | None, ...]: ...
    def groupdict(self) -> dict[str, str | None]: ...
    @property
    def string(self) -> str: ...
    @property
    def lastgroup(self) -> str | None: ...


class Pattern:
    """A compiled pattern. `pos` counts characters, as everywhere in Python."""

    __slots__ = ("_compiled", "pattern")

    def __init__(self, pattern: str, options: re2.Options) -> None:
        self.pattern = pattern
        try:
            self._compiled = re2.compile(pattern, options)
        except re2.error as refused:
            said = refused.args[0] if refused.args else refused
            raise NotLinear(said.decode() if isinstance(said, bytes) else str(said)) from None

    def search(self, text: str, pos: int = 0) -> Match | None:
        return cast("Match | None", self._compiled.search(_readable(text), pos))

    def match(self, text: str, pos: int = 0) -> Match | None:
        return cast("Match | None", self._compiled.match(_readable(text), pos))

    def fullmatch(self, text: str) -> Match | None:
        return cast("Match | None", self._compiled.fullmatch(_readable(text)))

    def finditer(self, text: str, pos: int = 0) -> Iterator[Match]:
        return cast("Iterator[Match]", self._compiled.finditer(_readable(text), pos))

    def findall(self, text: str) -> list[str]:
        return cast("list[str]", self._compiled.findall(_readable(text)))

    def split(self, text: str) -> list[str]:
        return cast("list[str]", self._compiled.split(_readable(text)))

    def sub(self, replacement: str | Callable[[Match], str], text: str, count: int = 0) -> str:
        return cast("str", self._compiled.sub(replacement, _readable(text), count))


def compile_linear(pattern: str, *, ignore_case: bool = False, dot_all: bool = False) -> Pattern:
    """Compile a pattern, or raise `NotLinear`. `(?m)` and the like may stand inside it as well."""
    options = re2.Options()
    options.case_sensitive = not ignore_case
    options.dot_nl = dot_all
    options.log_errors = False
    return Pattern(pattern, options)


def _readable(text: str) -> str:
    """JSON may hold half a surrogate pair, which has no UTF-8: one letter takes its place, so that positions stay."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text
