"""Which literal a regular expression requires: searching for it first is a hundred times cheaper.

`(?i)lookup \\S{1,80}\\.local` needs "lookup "; `(SubnetIsFull|is full)` needs one of two. All in lower case.
"""

from __future__ import annotations

import importlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

# The standard library's own parser, so that the result agrees with what `re` does. A test verifies that.
_parser: Any = importlib.import_module("re._parser")
SHORTEST = 3
_MOST = 40
"""Alternatives; past these, running the expression is as cheap."""

Needs = tuple[str, ...]


def needs(pattern: str) -> Needs:
    """At least one of these is in every text that the pattern matches. Empty: unknown."""
    try:
        return _best(_of(_parser.parse(pattern))) or ()
    except re.error:  # RE2 syntax that `re` does not know, such as `\\p{L}`
        return ()


class Choice:
    """Many patterns; selects those that may match a text by the first letters of their literals: there are hundreds of
    patterns, and a message has few of the literals.
    """

    def __init__(self, wanted: Iterable[Needs]) -> None:
        """The literals that each pattern needs."""
        self._by_letters: dict[str, list[int]] = defaultdict(list)
        for place, literals in enumerate(wanted):
            for letters in {literal[:SHORTEST] for literal in literals} or {""}:
                self._by_letters[letters].append(place)

    def of(self, lower: str) -> list[int]:
        """The indexes of the patterns, in order."""
        has = {lower[at : at + SHORTEST] for at in range(len(lower) - SHORTEST + 1)}
        return sorted({place for letters in ("", *has) for place in self._by_letters.get(letters, ())})


def _best(found: Iterator[Needs]) -> Needs | None:
    usable = [item for item in found if len(item) <= _MOST and min(map(len, item)) >= SHORTEST]
    return max(usable, key=lambda item: (min(map(len, item)), -len(item)), default=None)


def _of(parts: Any) -> Iterator[Needs]:
    """Each group of alternatives that this sequence requires."""
    run = ""
    for operation, argument in parts:
        letter = _letter(str(operation), argument)
        if letter:
            run += letter
            continue
        if run:
            yield (run,)
        run = ""
        yield from _inside(str(operation), argument)
    if run:
        yield (run,)


def _inside(operation: str, argument: Any) -> Iterator[Needs]:
    if operation == "SUBPATTERN":
        yield from _of(argument[3])
    elif operation in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and argument[0] >= 1:
        yield from _of(argument[2])
    elif operation == "BRANCH":
        branches = [_best(_of(branch)) for branch in argument[1]]
        if all(branches):
            yield tuple(dict.fromkeys(literal for branch in branches for literal in branch or ()))


def _letter(operation: str, argument: Any) -> str:
    """The single letter that this must be, ignoring case."""
    if operation == "LITERAL":
        return _lower(argument)
    if operation == "IN" and all(str(kind) == "LITERAL" for kind, _ in argument):
        letters = {_lower(value) for _, value in argument}
        return letters.pop() if len(letters) == 1 else ""
    return ""


def _lower(codepoint: int) -> str:
    lower = chr(codepoint).lower()
    return lower if lower.isascii() else ""


def lowered(text: str) -> str:
    """Lower case, letter by letter: the length stays the same, so that positions agree."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(letter.lower()[:1] for letter in text)
