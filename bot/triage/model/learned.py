"""The trained model: how much each word of a text speaks for each code, and for silence.

Two logistic regressions, trained by `make learn` (`bot/triage/learning/learn.py`): one over all codes and `none`, by
topic; one for problem or no problem, by wording. Here they are only evaluated: plain sums, so that an answer can name
the words it comes from.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

from bot.triage.model import weights
from bot.triage.model.features import PAIR, WORD
from bot.triage.model.labelled import NONE
from bot.triage.model.table import Table

SCALE = 100
"""Weights are kept as hundredths."""
_TERSE = 20
"""Words. How fewer of them are worded tells little: `prod-weu: SubnetIsFull` is a report, and no sentence."""
_LEAST_TOLD = 0.05
"""A word that weighs less is not named as a reason: it tells a person nothing."""

Weighed = Sequence[tuple[str, Sequence[int], float]]
"""The features of a text that are known: each with its row of weights, and how much of it there is."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The prediction for one text."""

    odds: float
    """The logarithm of how much likelier it is one of the codes than none of them."""
    chances: Mapping[str, float]
    """Of each code, if it is one; the likeliest first."""


@dataclass(frozen=True, slots=True)
class Learned:
    """The weights, ready to be summed."""

    codes: tuple[str, ...]
    bias: tuple[float, ...]
    features: Table
    """As in `Weights`."""
    live: Table
    """How much each run of words speaks for somebody's having the problem now; in hundredths."""
    live_bias: float

    @classmethod
    def load(cls, file: Path = weights.FILE) -> Learned:
        return _load(file)

    def read(self, spoken: Weighed, shown: Mapping[str, float], phrased: Iterable[str] = ()) -> Reading:
        """`spoken`: the features with their weights, from `weighed`."""
        sums = list(self.bias)
        marks = [(feature, flat, value) for feature, value in shown.items() if (flat := self.features.get(feature))]
        for _, flat, value in (*spoken, *marks):
            share = value / SCALE
            places = islice(flat, 1, None)
            for code, weight in zip(places, places, strict=True):
                sums[code] += weight * share
        none = self.codes.index(NONE)
        highest = max(sums)
        powers = [math.exp(value - highest) for value in sums]
        ours = sum(powers) - powers[none]
        odds = math.log(max(ours, 1e-12)) - math.log(max(powers[none], 1e-12))
        likeliest = sorted(
            (-power / ours, code) for code, power in zip(self.codes, powers, strict=True) if code != NONE
        )
        return Reading(odds + self._live(phrased), {code: -chance for chance, code in likeliest})

    def _live(self, phrased: Iterable[str]) -> float:
        runs = list(phrased)
        known = [weight[0] for run in runs if (weight := self.live.get(run))]
        text = self.live_bias + sum(known) / SCALE / math.sqrt(len(known) or 1)
        return text * min(1.0, sum(" " not in run for run in runs) / _TERSE)

    def telling(self, code: str, spoken: Weighed, most: int = 4) -> list[str]:
        """The words of the text that speak most for a code."""
        if code not in self.codes:
            return []
        wanted = self.codes.index(code)
        loud: dict[str, float] = defaultdict(float)
        for feature, flat, value in spoken:
            codes = flat[1::2]  # Most rows do not hold it; checking that is faster than building a dict.
            if feature.startswith((WORD, PAIR)) and wanted in codes:
                weight = flat[2 + 2 * codes.index(wanted)] / SCALE
                if weight * value > _LEAST_TOLD:
                    loud[feature[len(WORD) :]] += weight * value
        names = sorted(loud, key=lambda name: (-loud[name], name))
        kept: list[str] = []
        for name in names:
            if not any(set(name.split()) & set(other.split()) for other in kept):
                kept.append(name)
        return kept[:most]

    def weighed(self, spoken: Mapping[str, float]) -> Weighed:
        """The features weighted by rarity and normalized: a long text says no more than a short one."""
        known = [
            (feature, flat, value * flat[0] / SCALE)
            for feature, value in spoken.items()
            if (flat := self.features.get(feature))
        ]
        length = math.sqrt(sum(value * value for *_, value in known)) or 1.0
        return [(feature, flat, value / length) for feature, flat, value in known]


@cache
def _load(file: Path) -> Learned:
    with weights.opened(file) as lines:
        head = weights.head(lines)
        features, live = Table(weights.rows(lines)), Table(weights.rows(lines))
    return Learned(tuple(head["codes"]), tuple(head["bias"]), features, live, head["live_bias"])
