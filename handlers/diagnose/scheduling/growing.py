"""Which node pools would give a waiting pod its node if they had one more."""

from __future__ import annotations

from handlers.diagnose.scheduling.verdict import CAPACITY, Answer, Verdict
from handlers.evidence.quantities import NONE
from handlers.evidence.scheduling.demands import Demand
from handlers.evidence.scheduling.rooms import Room

OF_ONE_NODE = CAPACITY | {"cordon", "node-state", "host-port", "anti-affinity"}
"""What keeps a pod off the nodes there are, and not off a new one like them."""


def pools_that_would_take(verdict: Verdict) -> frozenset[str]:
    """The pools, in lower case, of which one more node is enough. One without a node shows nothing of its nodes."""
    return frozenset(
        answer.room.pool.lower()
        for answer in verdict.answers
        if _is_only_full(answer) and _is_large_enough(answer.room, verdict.demand)
    )


def _is_only_full(answer: Answer) -> bool:
    hard = [obstacle for obstacle in answer.obstacles if not obstacle.passing]
    return all(obstacle.cause in OF_ONE_NODE for obstacle in hard)


def _is_large_enough(room: Room, demand: Demand) -> bool:
    return all(wanted <= room.allocatable.get(resource, NONE) for resource, wanted in demand.requests.items())
