"""KEDA's ScaledObjects: which workloads KEDA takes down to 0 by itself, and brings back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.gather import each
from handlers.evidence.wire import dig, need_text, number, text
from handlers.evidence.workloads.owners import DEPLOYMENT, STATEFUL_SET, Owner, Owners
from handlers.evidence.workloads.served import ServedGroups
from handlers.model import Evidence, NotApplicable, Unavailable

GROUP = "keda.sh"
PAUSED = "autoscaling.keda.sh/paused-replicas"
"""Somebody holds the workload at this many replicas; KEDA's triggers do not count meanwhile."""


@dataclass(frozen=True, slots=True)
class ScaledObject:
    """What KEDA scales, and how far down."""

    namespace: str
    name: str
    target: str
    """The subject of the workload: `shop/Deployment/web`."""
    least: int
    """With no event, KEDA leaves so many replicas."""
    paused_at: str
    """As written; empty where it is not paused."""

    @property
    def sleeps(self) -> bool:
        """Whether KEDA itself takes the workload down to 0."""
        return not self.least and not self.paused_at


@dataclass(frozen=True, kw_only=True)
class ScaledObjects(Evidence):
    """The ScaledObjects of the namespaces in which a workload has 0 replicas."""

    objects: tuple[ScaledObject, ...]

    def of(self, owner: Owner) -> ScaledObject | None:
        return next((scaled for scaled in self.objects if scaled.target == owner.subject), None)


@collector(reads=(), sees=("list scaledobjects.keda.sh",), deadline_s=10)
async def scaled_objects(
    owners: Owners, served: ServedGroups | NotApplicable, kube: KubeReader
) -> ScaledObjects | NotApplicable:
    """KEDA's ScaledObjects"""
    asleep = [owner for owner in owners.of_kind(DEPLOYMENT, STATEFUL_SET) if not owner.wanted]
    root = served.root(GROUP, "v1alpha1") if isinstance(served, ServedGroups) else ""
    if not asleep or not root:
        return NotApplicable("KEDA is not installed, or no workload has 0 replicas")
    spaces = list(dict.fromkeys(owner.namespace for owner in asleep))

    async def of(namespace: str) -> tuple[ScaledObject, ...]:
        return (await kube.list(f"{root}/namespaces/{namespace}/scaledobjects", read_scaled_object)).items

    found, gaps = await each(spaces, of)
    return ScaledObjects(
        source=f"kubectl get scaledobjects in {', '.join(spaces)}",
        taken_at=owners.taken_at,
        gaps=tuple(dict.fromkeys(replace(gap, wanted=scaled_objects.title) for gap in gaps)),
        objects=tuple(scaled for objects in found for scaled in objects),
    )


def seen_of(owner: Owner, keda: ScaledObjects | NotApplicable | Unavailable) -> ScaledObject | Unavailable | None:
    """What KEDA does with a workload; Unavailable where that could not be seen."""
    if isinstance(keda, Unavailable):
        return keda
    if isinstance(keda, NotApplicable):
        return None
    return keda.of(owner) or next(iter(keda.gaps), None)


def read_scaled_object(body: Mapping[str, Any]) -> ScaledObject:
    """A ScaledObject from its wire body. KEDA's defaults: a Deployment, and no replica where nothing happens."""
    namespace = need_text(body, "metadata", "namespace")
    target = dig(body, "spec", "scaleTargetRef")
    idle = dig(body, "spec", "idleReplicaCount")
    annotations = dig(body, "metadata", "annotations") or {}
    return ScaledObject(
        namespace=namespace,
        name=need_text(body, "metadata", "name"),
        target=f"{namespace}/{text(target, 'kind') or DEPLOYMENT}/{text(target, 'name')}",
        least=number(body, "spec", "minReplicaCount") if idle is None else int(idle),
        paused_at=str(annotations.get(PAUSED, "")),
    )
