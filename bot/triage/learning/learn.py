"""Train on the messages under `bot/triage/messages` and write `bot/triage/weights.jsonl.xz`: `make learn`.

It uses scikit-learn, which nothing else here needs: `make learn` installs it separately. The same messages give the
same bytes. With `--judge` it first cross-validates: how accurate it is on messages left out of training (a fifth each).
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from bot.triage.learning.judging import table
from bot.triage.model.features import PAIR, phrased, shown, spoken
from bot.triage.model.labelled import NONE, OUR_NAMES, PHRASE, LabelledMessage, training_texts
from bot.triage.model.learned import SCALE, Learned
from bot.triage.model.table import Table
from bot.triage.model.weights import FILE, Weights, packed
from bot.triage.plain_text import plain
from bot.triage.quiet import Quiet
from bot.triage.signs import Signs
from runbooks.library import Library

_STRICTNESS, _LIVE_STRICTNESS = 30.0, 5.0
"""The inverse of what large weights cost, for what a text speaks of and for how it says it. A code's few telling words
may weigh much; of many thousand runs of small words none should."""
_EVEN = 0.5
"""How far rare codes are made up for: 0 not at all, so that they are hardly ever first; 1 as if all were as frequent,
so that they are too often. Half the messages are `none`, and a code has 160 to 1,700 of them."""
_SEEN, _RUN_SEEN = 2, 3
"""A word or a pair that one message alone holds is a coincidence, or somebody's name; of runs, which are more, two."""
_COMMON = 0.3
"""What a word counts for that every message holds: little, as in any search; a rarer one counts for more."""
_LEAST_WEIGHT = 0.25
"""Smaller weights are left out: they are 19 of 20, and the file would be as much larger."""
_FOLDS = 5


@dataclass(frozen=True, slots=True)
class Example:
    """A message as the model sees it."""

    heard: LabelledMessage
    spoken: Mapping[str, float]
    shown: Mapping[str, float]
    phrased: Sequence[str]


def examples(messages: Sequence[LabelledMessage]) -> list[Example]:
    signs, quiet = Signs(Library.load()), Quiet()
    found = []
    for message in messages:
        text = plain(message.text)
        marks = shown(signs.find(text), list(quiet.reasons(text)))
        found.append(Example(message, spoken(text, OUR_NAMES), marks, phrased(text, OUR_NAMES)))
    return found


def model(weights: Weights) -> Learned:
    """A model that is ready for use."""
    features, live = Table(weights.features.items()), Table((run, [weight]) for run, weight in weights.live.items())
    return Learned(weights.codes, weights.bias, features, live, weights.live_bias)


def learned(from_: Sequence[Example]) -> Weights:
    """The weights that fit these examples best."""
    seen = Counter(feature for example in from_ for feature in example.spoken)
    rarity = {name: math.log((len(from_) + 1) / times) + _COMMON for name, times in seen.items() if times >= _SEEN}
    shown_ = {feature: 0.0 for example in from_ for feature in example.shown}
    known = rarity | shown_
    codes, _, features = _fitted(from_, known)
    # Train again without the word pairs that contribute nothing: reading scales a text by the features it knows.
    known = {name: value for name, value in known.items() if len(features[name]) > 1 or not name.startswith(PAIR)}
    codes, bias, features = _fitted(from_, known)
    live, live_bias = _live([example for example in from_ if example.heard.kind != PHRASE])
    return Weights(codes, bias, round(live_bias, 3), features, live)


def _fitted(
    from_: Sequence[Example], known: Mapping[str, float]
) -> tuple[tuple[str, ...], tuple[float, ...], dict[str, list[int]]]:
    """The codes, the bias of each, and for each feature its rarity and its weights."""
    names = sorted(known)
    column = {name: at for at, name in enumerate(names)}
    labels = [example.heard.code for example in from_]
    often = Counter(labels)
    even = {code: (len(labels) / len(often) / times) ** _EVEN for code, times in often.items()}
    model = LogisticRegression(C=_STRICTNESS, max_iter=400, class_weight=even)
    model.fit(_matrix(from_, known, column), labels)
    features: dict[str, list[int]] = {}
    for name in names:
        weights = model.coef_[:, column[name]]
        telling = np.flatnonzero(np.abs(weights) >= _LEAST_WEIGHT).tolist()
        flat = [part for at in telling for part in (at, round(float(weights[at]) * SCALE))]
        features[name] = [round(known[name] * SCALE), *flat]
    return tuple(map(str, model.classes_)), tuple(round(float(bias), 3) for bias in model.intercept_), features


def _live(from_: Sequence[Example]) -> tuple[dict[str, int], float]:
    """Train how messages are worded by people who have a problem, and by those who have none."""
    seen = Counter(run for example in from_ for run in example.phrased)
    names = sorted(run for run, times in seen.items() if times >= _RUN_SEEN)
    column = {name: at for at, name in enumerate(names)}
    rows = [[column[run] for run in example.phrased if run in column] for example in from_]
    values = [1 / math.sqrt(len(row)) for row in rows for _ in row]
    columns, starts = (
        np.asarray([at for row in rows for at in row], "int32"),
        np.cumsum([0, *map(len, rows)], dtype="int32"),
    )
    matrix = csr_matrix((values, columns, starts), shape=(len(rows), len(names)))
    model = LogisticRegression(C=_LIVE_STRICTNESS, max_iter=400, class_weight="balanced")
    model.fit(matrix, [example.heard.code != NONE for example in from_])
    return {name: round(float(model.coef_[0, at]) * SCALE) for name, at in column.items()}, float(model.intercept_[0])


def _matrix(from_: Sequence[Example], rarity: Mapping[str, float], column: Mapping[str, int]) -> Any:
    values, columns, starts = list[float](), list[int](), [0]
    for example in from_:
        weighed = {name: value * rarity[name] for name, value in example.spoken.items() if name in rarity}
        length = math.sqrt(sum(value * value for value in weighed.values())) or 1.0
        for name, value in (*((n, v / length) for n, v in weighed.items()), *example.shown.items()):
            columns.append(column[name])
            values.append(value)
        starts.append(len(columns))
    shape = (len(from_), len(column))
    return csr_matrix((values, np.asarray(columns, "int32"), np.asarray(starts, "int32")), shape=shape)


def judged(all_: Sequence[Example]) -> list[tuple[LabelledMessage, float, list[str]]]:
    """Each message as predicted by a model not trained on it: the odds, and the codes, likeliest first."""
    found = []
    for fold in range(_FOLDS):
        others = model(learned([example for at, example in enumerate(all_) if at % _FOLDS != fold]))
        for held_out in all_[fold::_FOLDS]:
            read = others.read(others.weighed(held_out.spoken), held_out.shown, held_out.phrased)
            found.append((held_out.heard, read.odds, list(read.chances)[:2]))
    return found


def main() -> int:
    known = examples(training_texts(Library.load()))
    if "--judge" in sys.argv[1:]:
        sys.stdout.write(table(judged(known)) + "\n")
    weights = learned(known)
    FILE.write_bytes(packed(weights))
    many = len(weights.features) + len(weights.live)
    sys.stdout.write(f"learned {many} features from {len(known)} messages: {FILE.name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
