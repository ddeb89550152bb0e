"""A pasted text, indexed for many searches: a catalogue asks thousands of times."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, cached_property

from bot.triage.literals import SHORTEST, lowered


class PastedText:
    """A text whose letters are indexed once. Case is ignored."""

    def __init__(self, text: str) -> None:
        self.text, self._lower = text, lowered(text)
        self._known: dict[str, bool] = {}

    def has_any(self, literals: Iterable[str]) -> bool:
        """Whether one of these lower-case strings is in the text."""
        return any(map(self._has, literals))

    def says(self, words: str) -> bool:
        """Whether these words stand in a row in the text, each as a whole word."""
        longest, wanted = _wanted(words)
        at = self._spaced.find(wanted) if self._has(longest) else -1
        while at >= 0:
            before, behind = self._spaced[at - 1 : at], self._spaced[at + len(wanted) : at + len(wanted) + 1]
            if not (_is_in_words(before) or _is_in_words(behind)):
                return True
            at = self._spaced.find(wanted, at + 1)
        return False

    def _has(self, literal: str) -> bool:
        known = self._known.get(literal)
        if known is None:
            ends = {literal[:SHORTEST], literal[-SHORTEST:]}
            known = (len(literal) < SHORTEST or ends <= self._letters) and literal in self._lower
            self._known[literal] = known
        return known

    @cached_property
    def _spaced(self) -> str:
        return " ".join(self._lower.split())

    @cached_property
    def _letters(self) -> frozenset[str]:
        """Every run of a few letters: most searches start or end with a run that the text does not have."""
        return frozenset(self._lower[at : at + SHORTEST] for at in range(len(self._lower) - SHORTEST + 1))


@cache
def _wanted(words: str) -> tuple[str, str]:
    """The longest of the words, and all of them."""
    each = lowered(words).split()
    return max(each, key=len, default=""), " ".join(each)


def _is_in_words(letter: str) -> bool:
    return letter.isalnum() or letter == "_"
