"""How much each word of a text speaks for each code: the odds that a runbook's phrases use it, against all the others'.

Where likeness looks for one phrase that the text says nearly whole, this adds up hints from all over the text. It is
naive Bayes over words, pairs of words and concepts, learned from the runbooks when the bot starts.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from bot.triage.tokens import THESAURUS, sentences
from runbooks.library import Library, Runbook

_WORD, _PAIR = "w:", "b:"
_PAIR_COUNTS = 0.6
_SMOOTH = 10.0
"""Phrases of everybody's that each code is given: one phrase of a rare code is no proof."""
_UNSEEN = 0.25
"""A word that no runbook knows speaks a little for something else."""
_STRANGEST = 1.5
"""No single word makes a message foreign: who names another cloud may compare."""
_MOST = 300
"""Features of a text: what it is about shows in fewer."""
_LEADING = 8
_LEAST = 0.15
"""Odds that say less than this are not worth their time."""
_SYNTAX = re.compile(r"\\.|[\[\](){}.*+?^$|]")


@dataclass(frozen=True, slots=True)
class Hints:
    """What the words of a text speak for."""

    scores: dict[str, float]
    """The codes that most speaks for, the best first."""
    elsewhere: float
    """How much more it speaks of what is no concern of ours; below 0: less. Concepts only: other people's messages
    are whole sentences, so that each small word would speak for them."""
    words: int
    features: frozenset[str]

    @property
    def lead(self) -> float:
        """How far the best is before the next."""
        best = [*self.scores.values(), 0.0, 0.0]
        return best[0] - best[1]


class Odds:
    """What a catalogue's phrases, and the phrases of other people's problems, teach about words."""

    def __init__(self, library: Library, unrelated: Iterable[str]) -> None:
        counts: dict[str, Counter[str]] = {}
        phrases: dict[str, int] = {}
        for runbook in library.values():
            spoken = [features(phrase) for phrase in _phrases(runbook)]
            counts[runbook.code] = Counter(one for found in spoken for one in found)
            phrases[runbook.code] = len(spoken)
        self._speaks = _speaks(counts, phrases)
        ours: Counter[str] = Counter()
        for count in counts.values():
            ours.update(count)
        others = [features(text) for text in unrelated]
        theirs = Counter(one for found in others for one in found)
        self._strange = {
            one: min(
                _STRANGEST,
                math.log((theirs[one] + 0.5) / (len(others) + 10))
                - math.log((ours[one] + 0.5) / (sum(phrases.values()) + 10)),
            )
            for one in {*ours, *theirs}
            if not one.startswith((_WORD, _PAIR))
        }

    def read(self, text: str) -> Hints:
        found = features(text)
        scores: dict[str, float] = defaultdict(float)
        elsewhere = 0.0
        for one in sorted(found):
            if not one.startswith((_WORD, _PAIR)):
                elsewhere += self._strange.get(one, _UNSEEN)
            for code, speaks in self._speaks.get(one, {}).items():
                scores[code] += speaks
        leading = sorted(scores.items(), key=lambda one: (-one[1], one[0]))[:_LEADING]
        many = sum(one.startswith(_WORD) for one in found)
        return Hints(dict(leading), elsewhere, many, found)

    def telling(self, code: str, hints: Hints, most: int = 4) -> list[str]:
        """The words and concepts of the text that speak loudest for a code."""
        spoken = [(self._speaks.get(one, {}).get(code, 0.0), one) for one in hints.features]
        loudest = sorted((one for one in spoken if one[0] > 0), key=lambda one: (-one[0], one[1]))
        return list(dict.fromkeys(one.removeprefix(_WORD).removeprefix(_PAIR).lstrip(".") for _, one in loudest))[:most]


def features(text: str) -> frozenset[str]:
    """The words of a text, its pairs of words, and the concepts that they name."""
    found: dict[str, None] = {}
    for stems in sentences(text):
        told = [one for one in stems if not one.isdigit()]
        found.update(dict.fromkeys(sorted(THESAURUS.concepts(stems))))
        found.update(dict.fromkeys(f"{_WORD}{one}" for one in told))
        found.update(dict.fromkeys(f"{_PAIR}{one} {other}" for one, other in pairwise(stems)))
        if len(found) >= _MOST:
            break
    return frozenset(list(found)[:_MOST])


def _phrases(runbook: Runbook) -> Iterator[str]:
    yield runbook.title
    yield from runbook.symptoms.words
    yield from runbook.symptoms.codes
    yield from (_SYNTAX.sub(" ", one.pattern) for one in runbook.symptoms.patterns)


def _speaks(counts: dict[str, Counter[str]], phrases: dict[str, int]) -> dict[str, dict[str, float]]:
    """For each feature, the codes that it speaks for, and how loudly. It never speaks against one."""
    usual: dict[str, float] = defaultdict(float)
    for code, count in counts.items():
        for one, times in count.items():
            usual[one] += times / phrases[code] / len(counts)
    speaks: dict[str, dict[str, float]] = defaultdict(dict)
    for code, count in counts.items():
        for one, times in count.items():
            here = (times + _SMOOTH * usual[one]) / (phrases[code] + _SMOOTH)
            odds = math.log(here / usual[one]) * (_PAIR_COUNTS if one.startswith(_PAIR) else 1.0)
            if odds > _LEAST:
                speaks[one][code] = odds
    return speaks
