"""Nodes whose pods get no address: how many addresses they have, and how many pods hold one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from typing import Any

from handlers.clients.errors import NotFound
from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.azure import NetworkProfile
from handlers.evidence.cluster import Pods
from handlers.evidence.gather import each
from handlers.evidence.pod_ranges import KUBENET, read_pod_range
from handlers.evidence.pod_sandboxes import SandboxFailure, by_node, sandbox_failures
from handlers.evidence.wire import dig, number, rows, text
from handlers.evidence.workloads.warnings import WarningEvents
from handlers.model import CannotSee, Evidence, NotApplicable, Unavailable

CONFIGS = "/apis/acn.azure.com/v1alpha/namespaces/kube-system/nodenetworkconfigs"
MOST_NODES = 5
KEPT = 2
"""Of a node's range: its own address and that of the gateway."""


@dataclass(frozen=True, slots=True)
class NodeNetworkConfig:
    """What azure-cns asked for and got for one node."""

    requested: int
    assigned: int
    releasing: int
    most: int


@dataclass(frozen=True, slots=True)
class AddressUse:
    """One node on which pods wait for an address."""

    node: str
    waiting: tuple[SandboxFailure, ...]
    live: int
    """Pods that hold an address: they have not ended, and do not use the node's own."""
    ended: int
    """Completed, failed or evicted, and not cleared away yet."""
    range: str
    config: NodeNetworkConfig | None

    @property
    def size(self) -> int:
        """Addresses that its pods may have; 0 where nobody says."""
        if self.config and self.config.assigned:
            return self.config.assigned
        return IPv4Network(self.range).num_addresses - KEPT if self.range else 0


@dataclass(frozen=True, kw_only=True)
class PodAddresses(Evidence):
    """The nodes on which pods wait for an address, those with the most first."""

    nodes: tuple[AddressUse, ...]
    left_out: int = 0


@dataclass
class _Count:
    live: int = 0
    ended: int = 0

    def add(self, body: Mapping[str, Any]) -> None:
        if text(body, "status", "phase") in ("Succeeded", "Failed"):
            self.ended += 1
        elif dig(body, "spec", "hostNetwork") is not True and text(body, "status", "podIP"):
            self.live += 1


@dataclass
class _Seen:
    gaps: list[Unavailable] = field(default_factory=list)


@collector(
    reads=(), sees=("list pods", "list nodes", "list nodenetworkconfigs.acn.azure.com in kube-system"), deadline_s=15
)
async def pod_addresses(
    pods: Pods, warnings: WarningEvents, network: NetworkProfile, kube: KubeReader
) -> PodAddresses | NotApplicable:
    """the addresses of nodes whose pods get none"""
    failing = by_node([failure for failure in sandbox_failures(pods, warnings) if failure.lacks_address])
    if not failing:
        if pods.complete and warnings.complete:
            return NotApplicable("no pod waits for an address")
        return PodAddresses(source=pods.source, taken_at=pods.taken_at, truncated=True, nodes=())
    seen = _Seen()

    async def use(item: tuple[str, list[SandboxFailure]]) -> AddressUse:
        return await _use(kube, network, item[0], item[1], seen)

    nodes, gaps = await each([*failing.items()][:MOST_NODES], use)
    return PodAddresses(
        source=f"{pods.source}; {warnings.source}",
        taken_at=pods.taken_at,
        gaps=(*gaps, *dict.fromkeys(seen.gaps)),
        nodes=tuple(nodes),
        left_out=max(0, len(failing) - MOST_NODES),
    )


async def _use(
    kube: KubeReader, network: NetworkProfile, node: str, waiting: list[SandboxFailure], seen: _Seen
) -> AddressUse:
    fields = f"spec.nodeName={node}"
    counted = await kube.fold("/api/v1/pods", _Count, lambda count, body: _on(node, count, body), fields=fields)
    listed = await kube.list("/api/v1/nodes", read_pod_range, fields=f"metadata.name={node}")
    known = next((one.range for one in listed.items if one.node == node), "")
    config = None if network.plugin.lower() == KUBENET else await _config(kube, node, seen)
    return AddressUse(node, tuple(waiting), counted.value.live, counted.value.ended, known, config)


def _on(node: str, count: _Count, body: Mapping[str, Any]) -> None:
    if text(body, "spec", "nodeName") == node:
        count.add(body)


async def _config(kube: KubeReader, node: str, seen: _Seen) -> NodeNetworkConfig | None:
    """None where the cluster's network keeps none; one that may not be read is a gap."""
    try:
        listed = await kube.list(CONFIGS, _read_named, fields=f"metadata.name={node}")
    except NotFound:
        return None
    except CannotSee as error:
        seen.gaps.append(error.unavailable)
        return None
    return next((config for name, config in listed.items if name == node), None)


def _read_named(body: Mapping[str, Any]) -> tuple[str, NodeNetworkConfig]:
    return text(body, "metadata", "name"), read_config(body)


def read_config(body: Mapping[str, Any]) -> NodeNetworkConfig:
    """A NodeNetworkConfig from its wire body. An overlay's holds a range and no single addresses."""
    containers = rows(body, "status", "networkContainers")
    listed = sum(len(rows(container, "ipAssignments")) for container in containers)
    releasing = dig(body, "spec", "ipsNotInUse") or ()
    return NodeNetworkConfig(
        requested=number(body, "spec", "requestedIPCount"),
        assigned=listed or number(body, "status", "assignedIPCount"),
        releasing=len(releasing),
        most=number(body, "status", "scaler", "maxIPCount"),
    )
