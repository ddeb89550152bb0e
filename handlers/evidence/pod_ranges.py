"""kubenet: each node's own range of pod addresses, and where its packets come in. A route has to lead there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster, NetworkProfile
from handlers.evidence.wire import moment, need_text, rows, text, texts
from handlers.model import Evidence, NotApplicable

KUBENET = "kubenet"


@dataclass(frozen=True, slots=True)
class PodRange:
    """A node, its range and its address."""

    node: str
    range: str
    """IPv4, such as 10.244.3.0/24; empty where the node has none yet."""
    address: str
    created: datetime | None


@dataclass(frozen=True, kw_only=True)
class PodRanges(Evidence):
    """The nodes' ranges of pod addresses."""

    ranges: tuple[PodRange, ...]


@collector(reads=(), sees=("list nodes",), deadline_s=15)
async def pod_ranges(cluster: ManagedCluster, network: NetworkProfile, kube: KubeReader) -> PodRanges | NotApplicable:
    """the nodes' pod ranges"""
    if network.plugin.lower() != KUBENET or cluster.stopped:
        return NotApplicable(f"{cluster.name} needs no routes for pods: its network is {network.plugin} {network.mode}")
    listing = await kube.list("/api/v1/nodes", read_pod_range)
    return PodRanges(
        source=listing.source, taken_at=listing.taken_at, truncated=listing.truncated, ranges=listing.items
    )


def read_pod_range(body: Mapping[str, Any]) -> PodRange | None:
    """A node's from its wire body; None for a virtual node, which has no network of its own."""
    if text(body, "metadata", "labels", "type") == "virtual-kubelet":
        return None
    ranges = texts(body, "spec", "podCIDRs") or (text(body, "spec", "podCIDR"),)
    addresses = [text(row, "address") for row in rows(body, "status", "addresses") if text(row, "type") == "InternalIP"]
    return PodRange(
        need_text(body, "metadata", "name"),
        next((item for item in ranges if "." in item), ""),
        next((item for item in addresses if "." in item), ""),
        moment(text(body, "metadata", "creationTimestamp")),
    )
