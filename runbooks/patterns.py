"""The patterns of runbooks, compiled to search pasted text.

RE2 runs them (`runbooks/linear.py`). It has no lookaround: what must not be there is a pattern of its own, `unless`. A
team may have older pages with a lookaround: Python's own `re` runs those, limited to a length that keeps them fast, and
not at all where even a few hundred characters could take forever.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from runbooks.linear import Match, NotLinear, Pattern, compile_linear

log = logging.getLogger(__name__)

_BEFORE, _BEHIND = 60, 450
"""Characters around a match in which `unless` may begin and end."""
_MOST_MATCHES = 50
"""Of one pattern: who pastes more than that of what does not count has made the text for it."""

LONGEST = 2_000
_SHORTEST = 100
_MOST_STEPS = 2_000_000
"""What `re` may take for one pattern and one text: some 50 ms."""

_TOKEN = re.compile(
    r"""(?P<atom>\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?[aiLmsux]{1,7}\)|\(\?P=\w{1,40}\))
      | (?P<open>\((?:\?(?:[:=!>]|<[=!]|P<\w{1,40}>|[aiLmsux-]{1,7}:))?)
      | (?P<close>\))
      | (?P<repeat>[*+?]|\{\d*,?\d*\})[?+]?
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)


class Found(Protocol):
    """One match."""

    def __getitem__(self, group: int | str, /) -> str: ...
    def start(self, group: int = 0, /) -> int: ...
    def end(self, group: int = 0, /) -> int: ...
    def groups(self) -> tuple[str | None, ...]: ...
    def groupdict(self) -> dict[str, str | None]: ...


class Searchable(Protocol):
    """A pattern of a runbook."""

    @property
    def groups(self) -> int: ...
    def search(self, text: str, pos: int = 0, end: int | None = None) -> Found | None: ...
    def finditer(self, text: str) -> Iterator[Found]: ...


@cache
def searchable(pattern: str, unless: str = "") -> Searchable:
    """Compile the pattern. Matches that `unless` also matches do not count."""
    try:
        linear = compile_linear(pattern)
        return _Unless(linear, compile_linear(unless)) if unless else linear
    except NotLinear:
        most = longest(pattern)
        if not most:
            log.warning("a runbook's pattern is never looked for, as it could take for ever: %s", pattern)
        return _Old(re.compile(pattern), most)


@dataclass(frozen=True, slots=True)
class _Unless:
    """A pattern, and another one that vetoes its matches."""

    pattern: Pattern
    unless: Pattern

    @property
    def groups(self) -> int:
        return self.pattern.groups

    def search(self, text: str, pos: int = 0, end: int | None = None) -> Match | None:
        return next(self._counting(text, pos, end), None)

    def finditer(self, text: str) -> Iterator[Match]:
        return self._counting(text, 0, None)

    def _counting(self, text: str, pos: int, end: int | None) -> Iterator[Match]:
        for _ in range(_MOST_MATCHES):
            found = self.pattern.search(text, pos, end)
            if found is None:
                return
            forbidden = self._forbids(found)
            pos = found.start() + 1 if forbidden else max(found.end(), found.start() + 1)
            if not forbidden:
                yield found

    def _forbids(self, match: Match) -> bool:
        """Whether `unless` matches inside this match or across one of its ends."""
        start, end = match.span()
        left = max(0, start - _BEFORE)
        around = match.string[left : end + _BEHIND]
        return any(match.end() > start - left and match.start() < end - left for match in self.unless.finditer(around))


@dataclass(frozen=True, slots=True)
class _Old:
    """A pattern that RE2 refuses, run by `re` over limited text."""

    pattern: re.Pattern[str]
    most: int

    @property
    def groups(self) -> int:
        return self.pattern.groups

    def search(self, text: str, pos: int = 0, end: int | None = None) -> re.Match[str] | None:
        last = min(len(text) if end is None else end, pos + self.most)
        return self.pattern.search(text, pos, last) if self.most else None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self.pattern.finditer(text, 0, self.most) if self.most else iter(())


def longest(pattern: str) -> int:
    """The number of characters over which `re` may run a pattern; 0: none."""
    most = min(LONGEST, int(_MOST_STEPS / _ways(pattern)))
    return most if most >= _SHORTEST else 0


def _ways(pattern: str) -> float:
    """The number of ways, at most, in which a pattern can match from one position: the product of its repeats."""
    outer, ways, before = list[float](), 1.0, 1.0  # `before`: the ways of the part inside a repeat
    for token in _TOKEN.finditer(pattern):
        if token["open"]:
            outer.append(ways)
            ways, before = 1.0, 1.0
        elif token["close"] and outer:
            before, ways = ways, outer.pop() * ways
        elif token["repeat"]:
            least, most = _ends(token["repeat"])
            ways *= before ** min(most - 1, LONGEST) * max(most - least + 1, 1) if most else 1
            before = 1.0
        else:
            before = 1.0
        if ways > _MOST_STEPS:
            return math.inf
    return ways


def _ends(repeat: str) -> tuple[int, float]:
    if not repeat.startswith("{"):
        return (1 if repeat == "+" else 0), (1 if repeat == "?" else math.inf)
    least, comma, most = repeat[1:-1].partition(",")
    if not comma:
        return int(least or 0), int(least or 0)
    return int(least or 0), int(most) if most else math.inf
