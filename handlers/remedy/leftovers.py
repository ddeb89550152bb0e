"""What a fix has left behind in a cluster whose records are lost: found by its annotation, and put back."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from handlers.clients.errors import ArmError
from handlers.remedy.acts.act import KubeHands
from handlers.remedy.acts.budget import path_of, relaxed_from, restoring_patch

BUDGETS = "/apis/policy/v1/poddisruptionbudgets"


@dataclass(frozen=True, slots=True)
class Restored:
    """One budget that was found relaxed. `trouble`: why it could not be put back."""

    name: str
    execution: str
    trouble: str = ""


async def restore_leftovers(kube: KubeHands, running: Collection[str]) -> tuple[Restored, ...]:
    """Put every relaxed budget back whose fix is not among those that run (`running`: their ids)."""
    listed = await kube.get(BUDGETS)
    found = []
    for body in listed["items"]:
        was = relaxed_from(body)
        if was is None or was.execution in running:
            continue
        metadata = body["metadata"]
        name = f"{metadata['namespace']}/PodDisruptionBudget/{metadata['name']}"
        try:
            # With the version that was just read: whoever is faster wins, and the next round sees what they made of it.
            await kube.merge_patch(path_of(metadata["namespace"], metadata["name"]), restoring_patch(body, was))
            found.append(Restored(name, was.execution))
        except ArmError as error:
            found.append(Restored(name, was.execution, error.detail))
    return tuple(found)
