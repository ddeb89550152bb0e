"""Whether a text is about one of the problems at all: several weak signs together, weighed.

The weights are a logistic regression over messages that nothing else was tuned on (tests/triage/heard.py).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from bot.triage.likeness import Resemblance
from bot.triage.odds import Hints
from bot.triage.signs import INNERMOST, Sign
from bot.triage.tokens import TROUBLES

WEIGHTS = (-4.31, 1.43, 2.14, 1.96, 0.17, -2.52, 0.83, 0.56, 1.09, -0.86, 0.68)
"""One for each of `clues`."""

_VERBATIM, _STATED, _A_SENTENCE = 0.5, 0.2, 5
"""What each word of a phrase after the first adds, the least when the text states an error's code, or says so many
words of a phrase."""
_OUR_WORLD = re.compile(
    r"\b(?:aks|kubectl|azmk8s|(?:node|agent|user|system) ?pools?|node image|vmss|MC_|kubelet|kube-\w+"
    r"|managed ?clusters?|arc(?:appliance)?|resource bridge|appliance|hybrid ?aks|operator nexus|networkcloud"
    r"|l[23] ?(?:network|isolation)|aso|azure ?service ?operator|ContainerService"
    r"|control plane|api ?server)(?:\b|(?<=_))",
    re.IGNORECASE,
)
_LONG = 60
"""Words; a log of thousands is no longer than this."""


@cache
def unrelated() -> tuple[str, ...]:
    """Messages about other people's problems: what silence sounds like."""
    return tuple((Path(__file__).parent / "unrelated.txt").read_text(encoding="utf-8").splitlines())


def clues(
    text: str, signs: Sequence[Sign], alike: Sequence[Resemblance], hints: Hints, *, ours: bool
) -> tuple[float, ...]:
    """What speaks for an answer, each about 0 to 1. `ours`: the message names a cluster of the fleet."""
    best = next(iter(hints.scores.values()), 0.0)
    length = min(max(3, hints.words), _LONG)
    return (
        1.0,
        max((one.points for one in signs), default=0.0) / 100,
        min(10 * max((one.points for one in alike), default=0.0), 120) / 100,
        best / 20,
        hints.lead / 10,
        max(-2.0, min(hints.elsewhere / math.sqrt(length) / 3, 2.0)),
        float(_OUR_WORLD.search(text) is not None),
        float(not TROUBLES.isdisjoint(hints.features)),
        float(ours),
        math.log(length) / 3,
        float(_agree(signs, alike, hints)),
    )


def _agree(signs: Sequence[Sign], alike: Sequence[Resemblance], hints: Hints) -> bool:
    """Two ways of looking that find the same, each for itself."""
    best = next(iter(hints.scores), None)
    return best in {one.code for one in signs} or (bool(alike) and alike[0].code == best)


def confidence(text: str, signs: Sequence[Sign], alike: Sequence[Resemblance], hints: Hints, *, ours: bool) -> float:
    """Above 0: more likely one of the problems than not. An error's own code, and a phrase word for word, are no
    coincidence however strange the rest is."""
    found = clues(text, signs, alike, hints, ours=ours)
    whole = sum(weight * clue for weight, clue in zip(WEIGHTS, found, strict=True))
    verbatim = max((one.literal for one in alike), default=0)
    whole += _VERBATIM * max(0, min(verbatim, 4) - 1)
    stated = verbatim >= _A_SENTENCE or any(one.points >= INNERMOST for one in signs)
    return max(whole, _STATED) if stated else whole
