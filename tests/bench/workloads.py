"""Recorded faults of workloads: wrong roots, false clear verdicts, and the slowest diagnosis."""

from __future__ import annotations

import asyncio
from time import perf_counter

from tests.bench.figure import Figure
from tests.cloud_opsbench.recording import Score, load, names
from tests.cloud_opsbench.serving import diagnosed

WRONG, FALSE_CLEAR, SLOWEST_S = 0.10, 0.02, 1.0


def figures() -> list[Figure]:
    """Empty if the recordings are absent: they are not part of this repository."""
    return asyncio.run(_figures()) if names() else []


async def _figures() -> list[Figure]:
    timed = [await _timed(name) for name in names() if load(name).asked_for]
    scores = [score for score, _ in timed]
    wrong, clear = sum(not one.right for one in scores), sum(one.false_clear for one in scores)
    beside = sum(len(one.beside) for one in scores)
    told = f"{wrong} of {len(scores)} recordings, {beside} findings beside the root"
    return [
        Figure("workloads: wrong roots", wrong / len(scores), "of all", WRONG, told),
        Figure("workloads: false clears", clear / len(scores), "of all", FALSE_CLEAR, f"{clear} of {len(scores)}"),
        Figure("workloads: slowest check", max(took for _, took in timed), "s", SLOWEST_S, "in one process"),
    ]


async def _timed(name: str) -> tuple[Score, float]:
    recorded = load(name)
    began = perf_counter()
    return await diagnosed(recorded), perf_counter() - began
