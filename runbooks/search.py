"""Finds runbooks by the words in them, for `/aks runbook pdb` and `aksbot runbooks show pdb`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runbooks.library import Runbook

_MOST_WORDS, _LONGEST_WORD = 8, 40
_PREFIX = 4
"""From this many letters on, the beginning of a word finds it: `federat`, `reconcil`."""
_NEAREST = 3
_CODE, _TITLE, _SYMPTOM, _TEXT = 8, 4, 2, 1
"""How much it says that a word stands in the code, the title, the symptoms or the sections."""


@dataclass(frozen=True, slots=True)
class _Page:
    code: str
    places: tuple[tuple[int, frozenset[str]], ...]
    """The weight of each place, and the words in it."""

    @classmethod
    def of(cls, runbook: Runbook) -> _Page:
        symptoms = (*runbook.symptoms.codes, *runbook.symptoms.words)
        texts = (
            (_CODE, runbook.code),
            (_TITLE, runbook.title),
            (_SYMPTOM, " ".join(symptoms)),
            (_TEXT, " ".join(runbook.sections.values())),
        )
        return cls(runbook.code, tuple((weight, frozenset(_words(text))) for weight, text in texts))

    def weight(self, wanted: str) -> int:
        return max((weight for weight, words in self.places if _stands_in(wanted, words)), default=0)

    @property
    def names(self) -> frozenset[str]:
        """The words of code and title."""
        return frozenset().union(*(words for weight, words in self.places if weight >= _TITLE))


class Index:
    """The pages of a library by the words in them."""

    def __init__(self, runbooks: Iterable[Runbook]) -> None:
        self._pages = [_Page.of(runbook) for runbook in runbooks]

    @cached_property
    def _named(self) -> Mapping[str, list[str]]:
        """The pages by each word of their codes and titles."""
        named: dict[str, list[str]] = {}
        for page in self._pages:
            for word in page.names:
                named.setdefault(word, []).append(page.code)
        return named

    def about(self, asked: str) -> list[str]:
        """The codes of the pages that have every word asked for, best first.

        Pages that have one only in their sections are left out if others have all of them in code, title or symptoms.
        """
        wanted = _asked(asked)
        weights = {page.code: [page.weight(word) for word in wanted] for page in self._pages} if wanted else {}
        for least in (_SYMPTOM, _TEXT):
            found = {code: sum(each) for code, each in weights.items() if min(each) >= least}
            if found:
                return sorted(found, key=lambda code: (-found[code], code))
        return []

    def nearest(self, asked: str) -> list[str]:
        """For words that no page has: the pages whose code, or a word of whose name, is spelled most like it."""
        codes = get_close_matches(asked.lower()[: 2 * _LONGEST_WORD], [page.code for page in self._pages], cutoff=0.6)
        named = self._named
        alike = {
            near
            for word in _asked(asked)
            for near in get_close_matches(word, sorted(named), n=_NEAREST, cutoff=_alike(word))
        }
        # A word of one page says more than one of twenty.
        by_word = (code for near in sorted(alike, key=lambda near: (len(named[near]), near)) for code in named[near])
        return list(dict.fromkeys((*codes, *by_word)))[:_NEAREST]


def _alike(word: str) -> float:
    """One wrong letter of three is a third of the word: `pdp` is near `pdb`."""
    return 0.65 if len(word) < _PREFIX else 0.8


def _stands_in(wanted: str, words: frozenset[str]) -> bool:
    return wanted in words or (len(wanted) >= _PREFIX and any(word.startswith(wanted) for word in words))


def _asked(asked: str) -> list[str]:
    return [word[:_LONGEST_WORD] for word in _words(asked)[:_MOST_WORDS]]


def _words(text: str) -> list[str]:
    return "".join(letter if letter.isalnum() else " " for letter in text.lower()).split()
