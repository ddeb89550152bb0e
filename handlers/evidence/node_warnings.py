"""Warning events about nodes. A cluster keeps its events for an hour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.wire import moment, number, text
from handlers.model import Evidence, NotApplicable

EVENTS = "/api/v1/events"
OF_NODES = "type=Warning,involvedObject.kind=Node"
MOST = 5000
LONGEST = 400


@dataclass(frozen=True, slots=True)
class NodeWarning:
    """One warning about a node, however often it was repeated."""

    node: str
    reason: str
    message: str
    first: datetime | None
    last: datetime | None
    count: int

    @property
    def memory_ran_out(self) -> bool:
        """The kernel or the kubelet says that the whole node had no memory left.

        `OOMKilling` of the node problem detector is also said of a container at its own limit ("Memory cgroup out of
        memory"), and often without the words that would tell: only what speaks of the node counts.
        """
        said = self.message.lower()
        if self.reason == "SystemOOM":
            return True
        if self.reason == "OOMKilling":
            return said.startswith("out of memory")
        return self.reason == "EvictionThresholdMet" and "memory" in said

    @property
    def disk_ran_out(self) -> bool:
        said = self.message.lower()
        if self.reason == "EvictionThresholdMet":
            return "ephemeral-storage" in said or "inodes" in said
        return self.reason in ("FreeDiskSpaceFailed", "ImageGCFailed", "InvalidDiskCapacity")


@dataclass(frozen=True, kw_only=True)
class NodeWarnings(Evidence):
    """The warnings of the last hour about nodes, the latest first."""

    warnings: tuple[NodeWarning, ...]

    def of(self, node: str) -> tuple[NodeWarning, ...]:
        return tuple(warning for warning in self.warnings if warning.node == node)


@collector(reads=(), sees=("list events",), deadline_s=10)
async def node_warnings(cluster: ManagedCluster, kube: KubeReader) -> NodeWarnings | NotApplicable:
    """the events about nodes"""
    if cluster.stopped:
        return NotApplicable(f"{cluster.name} is stopped: it has no nodes")
    listing = await kube.list(EVENTS, _read, fields=OF_NODES, most=MOST)
    latest = sorted(listing.items, key=lambda warning: warning.last.timestamp() if warning.last else 0.0, reverse=True)
    return NodeWarnings(
        source=listing.source, taken_at=listing.taken_at, truncated=listing.truncated, warnings=tuple(latest)
    )


def _read(body: Mapping[str, Any]) -> NodeWarning | None:
    """An event from its wire body; the newer form keeps its times under `eventTime` and `series`."""
    node = text(body, "involvedObject", "name")
    if not node or text(body, "involvedObject", "kind") != "Node":
        return None
    first = moment(text(body, "firstTimestamp")) or moment(text(body, "eventTime"))
    last = moment(text(body, "lastTimestamp")) or moment(text(body, "series", "lastObservedTime"))
    return NodeWarning(
        node=node,
        reason=text(body, "reason"),
        message=text(body, "message")[:LONGEST],
        first=first or last,
        last=last or first,
        count=number(body, "count") or number(body, "series", "count") or 1,
    )
