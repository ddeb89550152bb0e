"""Accuracy and latency of triage, on the tuning set and on the held-out set.

The corpus lies beside the project (`AKSBOT_CORPUS`, or ../shared/corpus/dev.jsonl); without it there are no figures.
Its even lines were used for tuning; the odd ones are for scoring only.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from bot.triage.clusters import FleetNames
from bot.triage.model.labelled import OUR_NAMES
from bot.triage.recognise import Recogniser
from runbooks.library import Library
from tests.bench.figure import Figure
from tests.triage.hostile import HOSTILE

FLEET = FleetNames(OUR_NAMES)
_BESIDE = Path(__file__).parents[3] / "shared" / "corpus" / "dev.jsonl"


@dataclass(frozen=True, slots=True)
class Score:
    """The results for a set of messages."""

    problems: int
    first: int
    first_two: int
    naming: int
    cluster: int
    others: int
    answered: int

    def share(self, of: int, whole: int) -> float:
        return of / whole if whole else 1.0


def figures(halves: Sequence[str] = ("even", "odd")) -> Iterator[Figure]:
    recogniser = Recogniser(Library.load())
    worst_s, name = max((_longest_s(recogniser, text), name) for name, text in HOSTILE.items())
    yield Figure("triage-hostile", worst_s * 1000, "ms", 50, f"the slowest hostile message: {name}")
    file = Path(os.environ.get("AKSBOT_CORPUS", _BESIDE))
    if not file.is_file():
        sys.stderr.write(f"triage: no corpus at {file}, so nothing is scored\n")
        return
    lines = file.read_bytes().splitlines()
    for half in halves:
        rows = [orjson.loads(line) for number, line in enumerate(lines, 1) if number % 2 == (half == "odd")]
        yield from _of(half, rows, recogniser)


def _of(half: str, rows: Sequence[dict[str, Any]], recogniser: Recogniser) -> Iterator[Figure]:
    score = scored(rows, recogniser)
    first = 1 - score.share(score.first, score.problems)
    yield Figure(f"triage-{half}-first-wrong", first, "share", 0.12, f"{score.first} of {score.problems} right")
    two = 1 - score.share(score.first_two, score.problems)
    yield Figure(f"triage-{half}-first-two-wrong", two, "share", 0.06, f"{score.first_two} of {score.problems} right")
    cluster = 1 - score.share(score.cluster, score.naming)
    yield Figure(f"triage-{half}-cluster-wrong", cluster, "share", 0.02, f"{score.cluster} of {score.naming} right")
    told = f"of {score.others} that are none of our business"
    yield Figure(f"triage-{half}-false-alarms", score.answered, "messages", 1, told)
    took = statistics.median(_took_s(recogniser, row["text"]) for row in rows)
    yield Figure(f"triage-{half}-median", took * 1000, "ms", 2, f"{len(rows)} messages")


def scored(rows: Sequence[dict[str, Any]], recogniser: Recogniser) -> Score:
    problems = first = first_two = naming = cluster = others = answered = 0
    for row in rows:
        found = recogniser.recognise(row["text"], FLEET)
        right = {row["label"], *row["also"]}
        said = found.codes or ("none",)
        if row["label"] != "none":
            problems += 1
            first += said[0] in right
            first_two += any(code in right for code in said[:2])
        elif not row["also"]:
            others += 1
            answered += bool(found.codes)
        if row["cluster"]:
            naming += 1
            cluster += found.cluster == row["cluster"]
    return Score(problems, first, first_two, naming, cluster, others, answered)


def _took_s(recogniser: Recogniser, text: str) -> float:
    began = time.perf_counter()
    recogniser.recognise(text, FLEET)
    return time.perf_counter() - began


def _longest_s(recogniser: Recogniser, text: str) -> float:
    """The best of three runs, to exclude other load on the machine."""
    return min(_took_s(recogniser, text) for _ in range(3))


if __name__ == "__main__":
    for figure in figures(sys.argv[1:] or ("even", "odd")):
        print(f"{figure.name:34} {figure.value:8.3f} ≤ {figure.bar:g} {figure.unit:9} {figure.detail}")
