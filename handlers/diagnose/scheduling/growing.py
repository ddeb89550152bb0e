"""Which node pools would give a waiting pod its node if they had one more."""

from __future__ import annotations

from handlers.diagnose.scheduling.verdict import CAPACITY, Answer, Verdict
from handlers.evidence.azure import AgentPool
from handlers.evidence.quantities import NONE
from handlers.evidence.scheduling.demands import Demand
from handlers.evidence.scheduling.rooms import Room

OF_ONE_NODE = CAPACITY | {"cordon", "host-port", "anti-affinity"}
"""What keeps a pod off the nodes there are, and not off a new one like them."""


def would_take(pool: AgentPool, verdict: Verdict) -> bool:
    """Whether one more node of this pool is enough. A pool without a node shows nothing of what its nodes are like."""
    answers = [answer for answer in verdict.answers if answer.room.pool.lower() == pool.name.lower()]
    return any(_is_only_full(answer) and _is_large_enough(answer.room, verdict.demand) for answer in answers)


def _is_only_full(answer: Answer) -> bool:
    hard = [obstacle for obstacle in answer.obstacles if not obstacle.passing]
    return all(obstacle.cause in OF_ONE_NODE for obstacle in hard)


def _is_large_enough(room: Room, demand: Demand) -> bool:
    return all(wanted <= room.allocatable.get(resource, NONE) for resource, wanted in demand.requests.items())
