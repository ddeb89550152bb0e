"""Finds codes and patterns in a text: the strong evidence. Each names the runbook line it comes from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from bot.triage.literals import Choice, Needs, lowered, needs
from handlers.evidence.errors import WRAPPERS
from runbooks.library import Library
from runbooks.linear import compile_linear
from runbooks.patterns import Searchable, searchable

ERROR_CODE = "error code"
INNERMOST, PATTERN, NAMED = 100.0, 80.0, 45.0
"""The code of the innermost error, a pattern, a code that is only mentioned."""

_BEFORE, _AFTER = 450, 750
"""Where a pattern may begin and end, seen from the text that it needs: no repeat is longer than 400."""
_SHORT = _BEFORE + _AFTER
_PLACES = 4
_MOST_SEARCHES = 160
"""In one text. A message holds a handful; one made to hold all of them is not read to its end."""

_IN_NAMES = bytes(code if chr(code).isalnum() or chr(code) in "_." else 32 for code in range(128)) + b" " * 128
_SHORTEST_NAME, _LONGEST_NAME = 5, 81
_STATED = compile_linear(
    r"(?i)\bcode\"?'?\s{0,4}[:=]\s{0,4}[\"']?([A-Za-z][A-Za-z0-9_]{2,80})|\(([A-Z][A-Za-z0-9_]{4,80})\) "
)


@dataclass(frozen=True, slots=True)
class Sign:
    """Why a code is meant: what matched, and the runbook that lists it."""

    code: str
    points: float
    found: str
    source: str

    @property
    def is_error_code(self) -> bool:
        return self.source == ERROR_CODE


@dataclass(frozen=True, slots=True)
class _Pattern:
    code: str
    expression: Searchable
    needs: Needs
    source: str


class Signs:
    """The codes and patterns of a catalogue, prepared for searching."""

    def __init__(self, library: Library) -> None:
        self._by_name: dict[str, list[str]] = defaultdict(list)
        self._patterns: list[_Pattern] = []
        for runbook in library.values():
            for name in runbook.symptoms.codes:
                self._by_name[name.lower()].append(runbook.code)
            for pattern in runbook.symptoms.patterns:
                expression = searchable(pattern.pattern, pattern.unless)
                self._patterns.append(_Pattern(runbook.code, expression, needs(pattern.pattern), pattern.source))
        self._choice = Choice(pattern.needs for pattern in self._patterns)

    def find(self, text: str) -> list[Sign]:
        return [*self._named(text), *self._matched(text)]

    def _named(self, text: str) -> Iterator[Sign]:
        inner = innermost_code(text).lower()
        seen: dict[str, str] = {}
        for name in _names(text):
            seen.setdefault(name.lower(), name)
        for lower, name in seen.items():
            for code in self._by_name.get(lower, ()):
                points = INNERMOST if lower == inner else NAMED if inner else PATTERN
                if lower in WRAPPERS:
                    points = NAMED / 2
                yield Sign(code, points, name, ERROR_CODE)

    def _matched(self, text: str) -> Iterator[Sign]:
        lower = lowered(text)
        left = _MOST_SEARCHES
        # A long text contains the letters of most of them.
        possible = [self._patterns[at] for at in self._choice.of(lower)] if len(lower) <= _SHORT else self._patterns
        for pattern in possible:
            places = _places(lower, pattern.needs)
            for begin, end in places:
                left -= 1
                hit = pattern.expression.search(text, begin, end)
                if hit:
                    yield Sign(pattern.code, PATTERN, " ".join(hit[0].split())[:160], pattern.source)
                    break
            if left <= 0:
                return


def _names(text: str) -> Iterator[str]:
    """Words that may be a code; of `Microsoft.Compute/disks.Read` only those that do not follow a dot."""
    for word in text.encode("ascii", "replace").translate(_IN_NAMES).decode().split():
        name = word.partition(".")[0]
        if _SHORTEST_NAME <= len(name) <= _LONGEST_NAME and name[0].isalpha():
            yield name


def innermost_code(text: str) -> str:
    """Of the codes in the (unwrapped) text, the last that is more than a wrapper."""
    stated = [code for hit in _STATED.finditer(text) for code in hit.groups() if code]
    telling = [code for code in stated if code.lower() not in WRAPPERS]
    return telling[-1] if telling else (stated[-1] if stated else "")


def _places(lower: str, wanted: Needs) -> list[tuple[int, int]]:
    """The parts of the text that a pattern may match."""
    if not wanted:
        return [(0, len(lower))]
    if len(lower) <= _SHORT:
        return [(0, len(lower))] if any(action in lower for action in wanted) else []
    places: list[tuple[int, int]] = []
    for literal in wanted:
        at = lower.find(literal)
        while at >= 0 and len(places) < _PLACES:
            places.append((max(0, at - _BEFORE), at + _AFTER))
            at = lower.find(literal, at + _AFTER)
    return places
