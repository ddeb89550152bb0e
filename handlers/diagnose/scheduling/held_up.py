"""Which waiting workloads a node would take if it were not for its state: that they wait follows from it."""

from __future__ import annotations

from collections.abc import Mapping

from handlers.diagnose.scheduling.alike import alike
from handlers.diagnose.scheduling.verdict import judge
from handlers.evidence.scheduling.collect import Scheduling


def held_up(waits: Scheduling) -> Mapping[str, tuple[str, ...]]:
    """By node, the workloads (`namespace/Deployment/name`) that wait and lack nothing but that it works."""
    held: dict[str, dict[str, None]] = {}
    if any(room.taints for room in waits.rooms):
        for group in alike(waits.waiting, waits):
            verdict = judge(group[0], waits)
            for answer in () if verdict.fits else verdict.answers:
                if answer.passing:
                    held.setdefault(answer.room.name, {}).update((demand.owner_id, None) for demand in group)
    return {node: tuple(owners) for node, owners in held.items()}
