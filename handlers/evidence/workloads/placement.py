"""What the scheduler looks at: every node's labels, taints and room, and what already stands on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from sys import intern
from typing import Any

from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.wire import dig, need_text, rows, text
from handlers.evidence.workloads.containers import read_containers, resources
from handlers.evidence.workloads.pods import WorkloadPods, requests_of
from handlers.evidence.workloads.quantity import added
from handlers.model import Evidence, NotApplicable


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint of a node."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True, slots=True)
class NodePlace:
    """One node, as the scheduler sees it."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    cordoned: bool
    ready: bool
    allocatable: Mapping[str, Decimal]


@dataclass(frozen=True, slots=True)
class Placed:
    """A pod that stands on a node, as far as another pod's rules may ask about it."""

    namespace: str
    name: str
    labels: Mapping[str, str]
    node: str
    anti_affinity: Mapping[str, Any]
    host_ports: tuple[tuple[str, int], ...]
    """(protocol, port)."""
    claims: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class NodePlaces(Evidence):
    """Every node, as the scheduler sees it. Only asked for while a pod waits for one."""

    nodes: tuple[NodePlace, ...]


@dataclass(frozen=True, kw_only=True)
class Placements(Evidence):
    """What stands on the nodes. Only asked for while a pod waits for one."""

    requested: Mapping[str, Mapping[str, Decimal]]
    """By node: what its pods ask for, together."""
    counts: Mapping[str, int]
    """By node: how many pods."""
    placed: tuple[Placed, ...]
    """Pods of the namespaces that are looked into, and every pod with anti-affinity or a host port."""


@dataclass
class _Standing:
    namespaces: frozenset[str]
    requested: dict[str, dict[str, Decimal]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    placed: list[Placed] = field(default_factory=list)

    def add(self, body: Mapping[str, Any]) -> None:
        node, spec = text(body, "spec", "nodeName"), body.get("spec") or {}
        if not node or text(body, "status", "phase") in ("Succeeded", "Failed"):
            return
        node = intern(node)
        containers = read_containers(spec)
        self.requested[node] = added(self.requested.get(node, {}), requests_of(spec, containers))
        self.counts[node] = self.counts.get(node, 0) + 1
        pod = _placed(body, node)
        if pod.namespace in self.namespaces or pod.anti_affinity or pod.host_ports:
            self.placed.append(pod)


@collector(reads=(), sees=("list nodes",), deadline_s=15)
async def node_places(pods: WorkloadPods, kube: KubeReader) -> NodePlaces | NotApplicable:
    """the nodes as the scheduler sees them"""
    if not any(pod.unscheduled for pod in pods.pods):
        return NotApplicable("no pod waits for a node")
    listing = await kube.list("/api/v1/nodes", read_node_place)
    return NodePlaces(
        source=listing.source, taken_at=listing.taken_at, truncated=listing.truncated, nodes=listing.items
    )


@collector(reads=(), sees=("list pods",), deadline_s=25)
async def placements(pods: WorkloadPods, kube: KubeReader) -> Placements | NotApplicable:
    """the pods that stand on the nodes"""
    if not any(pod.unscheduled for pod in pods.pods):
        return NotApplicable("no pod waits for a node")
    namespaces = frozenset(pod.namespace for pod in pods.pods if pod.unscheduled)
    folded = await kube.fold("/api/v1/pods", lambda: _Standing(namespaces), _Standing.add, fields="spec.nodeName!=")
    return Placements(
        source=folded.source,
        taken_at=folded.taken_at,
        truncated=folded.truncated,
        requested=folded.value.requested,
        counts=folded.value.counts,
        placed=tuple(folded.value.placed),
    )


def read_node_place(body: Mapping[str, Any]) -> NodePlace:
    """A node from its wire body."""
    ready = (row for row in rows(body, "status", "conditions") if text(row, "type") == "Ready")
    return NodePlace(
        name=need_text(body, "metadata", "name"),
        labels=dict(dig(body, "metadata", "labels") or {}),
        taints=tuple(Taint(text(row, "key"), text(row, "value"), text(row, "effect")) for row in _taints(body)),
        cordoned=dig(body, "spec", "unschedulable") is True,
        ready=any(text(row, "status") == "True" for row in ready),
        allocatable=resources(dig(body, "status", "allocatable")),
    )


def _taints(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return rows(body, "spec", "taints")


def _placed(body: Mapping[str, Any], node: str) -> Placed:
    spec = body.get("spec") or {}
    ports = [port for one in rows(spec, "containers") for port in rows(one, "ports") if port.get("hostPort")]
    return Placed(
        namespace=intern(text(body, "metadata", "namespace")),
        name=text(body, "metadata", "name"),
        labels=dict(dig(body, "metadata", "labels") or {}),
        node=node,
        anti_affinity=dict(dig(spec, "affinity", "podAntiAffinity") or {}),
        host_ports=tuple((text(port, "protocol") or "TCP", int(port["hostPort"])) for port in ports),
        claims=tuple(
            claim for row in rows(spec, "volumes") if (claim := text(row, "persistentVolumeClaim", "claimName"))
        ),
    )
