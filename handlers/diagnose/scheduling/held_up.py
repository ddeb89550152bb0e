"""Which waiting workloads a node would take if it were not for its state: that they wait follows from it."""

from __future__ import annotations

from collections.abc import Mapping

from handlers.diagnose.scheduling.alike import judge_alike
from handlers.evidence.scheduling.collect import Scheduling


def held_up(waits: Scheduling) -> Mapping[str, tuple[str, ...]]:
    """By node, the workloads (`namespace/Deployment/name`) that wait and lack nothing but that it works."""
    held: dict[str, dict[str, None]] = {}
    if any(room.taints for room in waits.rooms):
        for verdict, group in judge_alike(waits.waiting, waits):
            for answer in () if verdict.fits else verdict.answers:
                if answer.passing:
                    held.setdefault(answer.room.name, {}).update((demand.owner_id, None) for demand in group)
    return {node: tuple(owners) for node, owners in held.items()}
