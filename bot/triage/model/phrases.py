"""For a team's own runbooks: the model was not trained on them, so the phrases of their heads are searched."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from bot.triage.model.stop_words import STOP
from bot.triage.model.tokens import sentences, stem, words
from runbooks.library import Library

_STOP_STEMS = frozenset({stem(word) for word in STOP} | STOP)
_LEAST_WORDS = 2
"""One word alone is no phrase."""


@dataclass(frozen=True, slots=True)
class PhraseMatch:
    """A phrase of a runbook whose significant words all stand in one sentence of the text."""

    code: str
    phrase: str


class Phrases:
    """The phrases of the runbooks that the model was not trained on."""

    def __init__(self, library: Library, learned: Collection[str]) -> None:
        self._phrases = [
            (frozenset(telling), PhraseMatch(runbook.code, phrase))
            for runbook in library.values()
            if runbook.code not in learned
            for phrase in (runbook.title, *runbook.symptoms.words)
            if len(telling := {stem(word) for word in words(phrase)} - _STOP_STEMS) >= _LEAST_WORDS
        ]

    def find(self, text: str) -> list[PhraseMatch]:
        """For each code, the longest phrase that matches."""
        if not self._phrases:
            return []
        best: dict[str, tuple[int, PhraseMatch]] = {}
        for stems in map(frozenset, sentences(text)):
            for telling, match in self._phrases:
                if telling <= stems and len(telling) > best.get(match.code, (0, match))[0]:
                    best[match.code] = (len(telling), match)
        return [match for _, match in sorted(best.values(), key=lambda item: (-item[0], item[1].code))]
