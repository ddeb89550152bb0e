"""Which runbook's phrase a text resembles: by the concepts that both hold, weighed by how telling each is."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from bot.triage.concept_weights import FAMILIES, HERE, LIGHT
from bot.triage.tokens import THESAURUS, TROUBLES, is_plain, sentences, stem, words
from runbooks.library import Library


@dataclass(frozen=True, slots=True)
class Resemblance:
    """A phrase of a runbook, and how much of it the text says (0 to 1) and how telling that is."""

    code: str
    phrase: str
    share: float
    weight: float
    """The sum of the weights of the phrase's concepts that the text holds."""
    literal: int = 0
    """Words of the phrase, if the text says it word for word; or all that a team's own phrase is about."""

    @property
    def points(self) -> float:
        return self.weight * self.share * self.share


@dataclass(frozen=True, slots=True)
class _Phrase:
    code: str
    text: str
    concepts: tuple[str, ...]
    weight: float
    foreign: bool
    """It speaks of what the thesaurus does not know."""
    asks: bool
    """It is a question or a wish."""
    spoken: str


class Likeness:
    """The phrases of a catalogue, ready to be compared with."""

    def __init__(self, library: Library) -> None:
        spoken = [
            (runbook.code, text, THESAURUS.concepts([stem(word) for word in words(text)], asked=True))
            for runbook in library.values()
            for text in (*runbook.symptoms.words, runbook.title)
        ]
        shares = _shares(spoken)
        self.weights = _weights(shares, len(library))
        self._phrases = [
            _Phrase(
                code,
                text,
                tuple(sorted(concepts)),
                sum(self.weights[one] for one in concepts),
                all(map(is_plain, concepts)),
                _ASKS.search(text) is not None,
                " ".join(words(text)),
            )
            for code, text, concepts in spoken
            if concepts and _tells(code, concepts, shares)
        ]
        self._with: dict[str, list[int]] = defaultdict(list)
        for number, phrase in enumerate(self._phrases):
            for one in phrase.concepts:
                self._with[one].append(number)

    def find(self, text: str) -> list[Resemblance]:
        """The best phrase of each code, best first."""
        spoken = [THESAURUS.concepts(stems) for stems in sentences(text)]
        said = f" {' '.join(words(text))} "
        asked = _ASKS.search(text) is not None
        everything = frozenset(concept for one in spoken for concept in one)
        here = not HERE.isdisjoint(everything)
        best: dict[str, Resemblance] = {}
        for near in _windows(spoken):
            troubled = not TROUBLES.isdisjoint(near)
            for number, weight in self._compare(near).items():
                phrase = self._phrases[number]
                share = weight / phrase.weight
                if share < _LEAST_SHARE:
                    continue
                literally = share > _ALL and f" {phrase.spoken} " in said
                family = _family(phrase.code)
                at_home = not family.isdisjoint(everything)
                whole = _WHOLE if share > _ALL and len(phrase.concepts) > 1 else 1.0
                trust = (
                    1.0
                    if literally
                    else whole * self._trust(phrase, troubled, asked and (phrase.asks or at_home), at_home)
                )
                if family and not at_home:
                    trust *= _STRANGER
                if phrase.foreign:
                    trust *= _FOREIGN
                elif not here:
                    trust *= _ELSEWHERE
                counted = weight * trust * (1 + _LITERAL * phrase.spoken.count(" ") if literally else 1)
                own = phrase.foreign and share > _ALL and len(phrase.concepts) > 2
                verbatim = phrase.spoken.count(" ") + 1 if literally or own else 0
                one = Resemblance(phrase.code, phrase.text, min(share, 1.0), counted, verbatim)
                if phrase.code not in best or one.points > best[phrase.code].points:
                    best[phrase.code] = one
        return sorted(best.values(), key=lambda one: (-one.points, one.code))

    @staticmethod
    def _trust(phrase: _Phrase, troubled: bool, asked: bool, at_home: bool) -> float:
        """A thing that is merely named says less than one that has a trouble; a word alone less than two."""
        trust = 1.0 if troubled or asked or phrase.foreign else _NAMED_ONLY
        return trust * _ALONE if len(phrase.concepts) == 1 and not at_home else trust

    def _compare(self, near: dict[str, float]) -> dict[int, float]:
        held: dict[int, float] = defaultdict(float)
        for concept, closeness in near.items():
            weight = self.weights.get(concept, 0.0) * closeness
            for number in self._with.get(concept, ()):
                held[number] += weight
        return held


Shares = dict[str, dict[str, float]]


def _shares(spoken: Iterable[tuple[str, str, set[str]]]) -> Shares:
    """For each concept: of each code's phrases, the share that speaks of it."""
    total: Counter[str] = Counter(code for code, _, _ in spoken)
    shares: Shares = defaultdict(lambda: defaultdict(float))
    for code, _, concepts in spoken:
        for one in concepts:
            shares[one][code] += 1 / total[code]
    return shares


def _tells(code: str, concepts: set[str], shares: Shares) -> bool:
    """A phrase that comes down to one concept tells this code only if the concept is mostly this code's."""
    if len(concepts) > 1:
        return True
    held = shares[next(iter(concepts))]
    return held[code] >= _ITS_OWN * sum(held.values())


def _weights(shares: Shares, codes: int) -> dict[str, float]:
    """How telling each concept is: much, if few codes speak of it. Spread counts how evenly, not how often."""
    light = {concept: share for share, concepts in LIGHT.items() for concept in concepts}
    return {
        one: (light.get(one) or (_PLAIN if is_plain(one) else 1.0)) * math.log(1 + codes / _spread(held.values()))
        for one, held in shares.items()
    }


def _spread(shares: Iterable[float]) -> float:
    """Among how many codes this is spread, were it spread evenly (the exponential of the entropy)."""
    held = list(shares)
    whole = sum(held)
    return math.exp(-sum(one / whole * math.log(one / whole) for one in held))


_LEAST_SHARE, _ALL = 0.6, 0.97
_LITERAL = 0.18
"""What each further word of a phrase that stands in the text as it is adds."""
_ASKS = re.compile(
    r"\?|\b(?:how|where|who|which|what|when|can (?:i|we|you)|is it|are there|do (?:i|we)|supported|need|want)\b",
    re.I,
)
_NAMED_ONLY, _ALONE, _STRANGER = 0.55, 0.72, 0.4
_ELSEWHERE = 0.5
"""For a message that holds no word of clusters at all."""
_FOREIGN = 1.8
"""For a phrase of words that are in no concept: a team's own, of what it alone knows."""
_ITS_OWN = 0.5
_WHOLE = 1.12
"""For a phrase of which the text says everything."""
_PLAIN = 0.25


@cache
def _family(code: str) -> frozenset[str]:
    return next((anchors for prefix, anchors in FAMILIES.items() if code.startswith(prefix)), frozenset())


_NEXT_DOOR = 0.75
"""What a concept counts for when it stands in the sentence before or after."""


def _windows(spoken: Sequence[set[str]]) -> list[dict[str, float]]:
    found = []
    for at, own in enumerate(spoken):
        near = dict.fromkeys(own, 1.0)
        for other in (*spoken[max(0, at - 1) : at], *spoken[at + 1 : at + 2]):
            for concept in other:
                near.setdefault(concept, _NEXT_DOOR)
        found.append(near)
    return found
