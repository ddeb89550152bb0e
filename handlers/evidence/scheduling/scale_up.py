"""What the cluster autoscaler said of the pods that wait: whether it makes a node for them, or why not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.azure import AgentPools
from handlers.evidence.scheduling.collect import Scheduling
from handlers.evidence.wire import moment, text
from handlers.model import Evidence, NotApplicable

EVENTS = "/api/v1/events"
TRIGGERED, NOT_TRIGGERED = "TriggeredScaleUp", "NotTriggerScaleUp"


@dataclass(frozen=True, slots=True)
class Said:
    """The latest word about one pod."""

    pod: str
    """`namespace/name`."""
    reason: str
    message: str
    at: datetime

    @property
    def scales(self) -> bool:
        return self.reason == TRIGGERED


@dataclass(frozen=True, kw_only=True)
class ScaleUps(Evidence):
    """What the cluster autoscaler said of the pods that wait."""

    said: Mapping[str, Said]


@collector(reads=(), sees=("list events",), deadline_s=15)
async def scale_ups(pools: AgentPools, waits: Scheduling, kube: KubeReader) -> ScaleUps | NotApplicable:
    """what the cluster autoscaler says of the pods that wait"""
    if not waits.waiting:
        return NotApplicable("no pod waits for a node")
    if not any(pool.autoscaled for pool in pools.pools):
        return NotApplicable("no node pool is scaled by the cluster autoscaler")
    found = [await kube.list(EVENTS, read_said, fields=f"reason={item}") for item in (TRIGGERED, NOT_TRIGGERED)]
    latest: dict[str, Said] = {}
    for said in sorted((message for listing in found for message in listing.items), key=lambda message: message.at):
        latest[said.pod] = said
    return ScaleUps(
        source="; ".join(listing.source for listing in found),
        taken_at=found[0].taken_at,
        truncated=any(listing.truncated for listing in found),
        said=latest,
    )


def read_said(body: Mapping[str, Any]) -> Said | None:
    """One event of the autoscaler about a pod."""
    at = moment(text(body, "lastTimestamp") or text(body, "eventTime") or text(body, "metadata", "creationTimestamp"))
    if (
        at is None
        or text(body, "involvedObject", "kind") != "Pod"
        or text(body, "reason") not in (TRIGGERED, NOT_TRIGGERED)
    ):
        return None
    pod = f"{text(body, 'involvedObject', 'namespace')}/{text(body, 'involvedObject', 'name')}"
    return Said(pod, text(body, "reason"), text(body, "message"), at)
