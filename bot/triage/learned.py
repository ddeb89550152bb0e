"""What was learned from messages: how much each word of a text speaks for each code, and for silence.

Two logistic regressions that `make learn` makes (`bot/triage/learn.py`): one over all codes and `none`, by what a text
speaks of; one for problem or none, by how it says it. Here they are only read: sums, so that an answer can name the
words that it comes from.
"""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import orjson

from bot.triage.features import PAIR, WORD
from bot.triage.heard import NONE

FILE = Path(__file__).with_name("learned.json")
LIVE = 1.4
"""What the second counts for, next to the first."""
SCALE = 100
"""Weights are kept as hundredths."""
_LEAST_TOLD = 0.05
_TERSE = 20
"""Words: who says fewer is not judged by how they are said."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text speaks of."""

    odds: float
    """The logarithm of how much likelier it is one of the codes than none of them."""
    chances: Mapping[str, float]
    """Of each code, if it is one; the likeliest first."""


@dataclass(frozen=True, slots=True)
class Learned:
    """The weights, ready to be summed."""

    codes: tuple[str, ...]
    bias: tuple[float, ...]
    features: Mapping[str, Sequence[int]]
    """Of each: how rare it is (0 for what is shown), then a code's place and its weight, and so on; in hundredths."""
    live: Mapping[str, int]
    """How much each run of words speaks for somebody's having the problem now; in hundredths."""
    live_bias: float
    learned_from: str

    @classmethod
    def load(cls, file: Path = FILE) -> Learned:
        return _load(file)

    def read(self, spoken: Mapping[str, float], shown: Mapping[str, float], phrased: Iterable[str] = ()) -> Reading:
        sums = list(self.bias)
        for feature, value in self._scaled(spoken, shown):
            flat, share = self.features[feature], value / SCALE
            for at in range(1, len(flat), 2):
                sums[flat[at]] += flat[at + 1] * share
        none = self.codes.index(NONE)
        highest = max(sums)
        powers = [math.exp(one - highest) for one in sums]
        ours = sum(powers) - powers[none]
        odds = math.log(max(ours, 1e-12)) - math.log(max(powers[none], 1e-12))
        likeliest = sorted(
            (-power / ours, code) for code, power in zip(self.codes, powers, strict=True) if code != NONE
        )
        return Reading(odds + LIVE * self._live(phrased), {code: -chance for chance, code in likeliest})

    def _live(self, phrased: Iterable[str]) -> float:
        runs = list(phrased)
        known = [weight for one in runs if (weight := self.live.get(one)) is not None]
        said = self.live_bias + sum(known) / SCALE / math.sqrt(len(known) or 1)
        return said * min(1.0, sum(" " not in one for one in runs) / _TERSE)

    def telling(self, code: str, spoken: Mapping[str, float], most: int = 4) -> list[str]:
        """The words of the text that speak loudest for a code."""
        if code not in self.codes:
            return []
        wanted = self.codes.index(code)
        loud: dict[str, float] = defaultdict(float)
        for feature, value in self._scaled(spoken, {}):
            flat = self.features[feature]
            weight = dict(zip(flat[1::2], flat[2::2], strict=True)).get(wanted, 0) / SCALE
            if weight * value > _LEAST_TOLD and feature.startswith((WORD, PAIR)):
                loud[feature[len(WORD) :]] += weight * value
        names = sorted(loud, key=lambda one: (-loud[one], one))
        kept: list[str] = []
        for name in names:
            if not any(set(name.split()) & set(other.split()) for other in kept):
                kept.append(name)
        return kept[:most]

    def _scaled(self, spoken: Mapping[str, float], shown: Mapping[str, float]) -> Iterator[tuple[str, float]]:
        """The features that are known: what is said is weighed by its rarity, and a long text says no more than a
        short one."""
        weighed = [
            (one, value * self.features[one][0] / SCALE) for one, value in spoken.items() if one in self.features
        ]
        length = math.sqrt(sum(value * value for _, value in weighed)) or 1.0
        yield from ((one, value / length) for one, value in weighed)
        yield from ((one, value) for one, value in shown.items() if one in self.features)


@cache
def _load(file: Path) -> Learned:
    told = orjson.loads(file.read_bytes())
    features = {feature: array("h", flat) for feature, flat in told["features"].items()}
    return Learned(
        tuple(told["codes"]),
        tuple(told["bias"]),
        features,
        told["live"],
        told["live_bias"],
        told["learned_from"],
    )
