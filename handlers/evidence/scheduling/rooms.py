"""What the nodes offer to a pod that waits, and what already runs on them, as far as the waiting pods care."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from sys import intern
from typing import Any

from handlers.evidence.quantities import Amounts, added
from handlers.evidence.scheduling.demands import (
    Demand,
    HostPort,
    NodeTerm,
    PodTerm,
    host_ports,
    pod_terms,
    read_node_terms,
    requests,
)
from handlers.evidence.selectors import Labels, Requirement, Selector
from handlers.evidence.wire import dig, moment, need_text, rows, text
from handlers.evidence.workloads.containers import resources

UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
_PRESSURES = {
    "MemoryPressure": "node.kubernetes.io/memory-pressure",
    "DiskPressure": "node.kubernetes.io/disk-pressure",
    "PIDPressure": "node.kubernetes.io/pid-pressure",
    "NetworkUnavailable": "node.kubernetes.io/network-unavailable",
}
"""Conditions of a node, and the taint that Kubernetes sets while they hold."""
ZONE_LABELS = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")
"""Labels of a volume that the scheduler compares with those of the node."""
_SEVERAL = "__"
"""How such a label holds several zones."""


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint that keeps pods away: NoSchedule or NoExecute."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        return f"{self.key}{f'={self.value}' if self.value else ''}:{self.effect}"


@dataclass(frozen=True, slots=True)
class Room:
    """One node, as the scheduler sees it."""

    name: str
    pool: str
    labels: Labels
    taints: tuple[Taint, ...]
    cordoned: bool
    allocatable: Amounts
    ready: bool = True
    ready_since: datetime | None = None
    """Since when it is Ready, where it is."""
    pressures: Mapping[str, datetime | None] = field(default_factory=dict)
    """Since when it is short of something, by the taint that this sets."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A pod on a node that some waiting pod wants to be near to, away from, or spread with."""

    namespace: str
    name: str
    node: str
    labels: Labels
    away: tuple[PodTerm, ...]
    """Whom it keeps away itself."""
    leaving: bool = False
    """Being deleted."""


@dataclass(frozen=True, slots=True)
class Volume:
    """A claim of a waiting pod, and where its volume can be reached from."""

    claim: str
    """`namespace/name`."""
    name: str
    """Of the volume; empty while the claim is not bound."""
    terms: tuple[NodeTerm, ...] | None
    zones: tuple[Requirement, ...]


@dataclass
class Occupancy:
    """What is kept of the pods that have a node, while their pages go by."""

    chosen: tuple[tuple[str, Selector], ...]
    """The selectors of the waiting pods, each with the one namespace that it is about, or none."""
    used: dict[str, dict[str, Decimal]] = field(default_factory=dict)
    count: dict[str, int] = field(default_factory=dict)
    ports: dict[str, list[HostPort]] = field(default_factory=dict)
    neighbours: list[Neighbour] = field(default_factory=list)

    def add(self, body: Mapping[str, Any]) -> None:
        spec = body.get("spec") or {}
        node = intern(text(spec, "nodeName"))
        if not node or text(body, "status", "phase") in ("Succeeded", "Failed"):
            return
        self.used[node] = added(self.used.get(node, {}), requests(spec))
        self.count[node] = self.count.get(node, 0) + 1
        self.ports.setdefault(node, []).extend(host_ports(spec))
        self._meet(body, node, spec)

    def _meet(self, body: Mapping[str, Any], node: str, spec: Mapping[str, Any]) -> None:
        metadata = body.get("metadata") or {}
        namespace, labels = text(metadata, "namespace"), dict(dig(metadata, "labels") or {})
        away = tuple(pod_terms(spec, "podAntiAffinity", namespace, labels))
        if away or any(selector.matches(labels) for where, selector in self.chosen if where in ("", namespace)):
            leaving = dig(metadata, "deletionTimestamp") is not None
            self.neighbours.append(Neighbour(intern(namespace), text(metadata, "name"), node, labels, away, leaving))


def selectors_of(waiting: Iterable[Demand]) -> tuple[tuple[str, Selector], ...]:
    """The selectors by which waiting pods look at others; a namespace selector may mean any namespace."""
    found: dict[tuple[str, Selector], None] = {}
    for demand in waiting:
        for term in (*demand.near, *demand.away):
            one = len(term.namespaces) == 1 and term.namespace_selector.absent
            found[term.namespaces[0] if one else "", term.selector] = None
        found |= {(demand.namespace, spread.selector): None for spread in demand.spreads}
    return tuple(found)


def read_room(body: Mapping[str, Any]) -> Room:
    """A node from its wire body."""
    holding = [row for row in rows(body, "status", "conditions") if text(row, "status") == "True"]
    since = {text(row, "type"): moment(text(row, "lastTransitionTime")) for row in holding}
    labels = dict(dig(body, "metadata", "labels") or {})
    return Room(
        name=intern(need_text(body, "metadata", "name")),
        pool=labels.get("agentpool", "") or labels.get("kubernetes.azure.com/agentpool", ""),
        labels=labels,
        taints=tuple(_taints(body)),
        cordoned=dig(body, "spec", "unschedulable") is True,
        allocatable=resources(dig(body, "status", "allocatable")),
        ready="Ready" in since,
        ready_since=since.get("Ready"),
        pressures={taint: since[kind] for kind, taint in _PRESSURES.items() if kind in since},
    )


def _taints(body: Mapping[str, Any]) -> Iterator[Taint]:
    """A cordon is told by itself, and a taint that only advises keeps nobody away."""
    for row in rows(body, "spec", "taints"):
        taint = Taint(text(row, "key"), text(row, "value"), text(row, "effect"))
        if taint.effect in ("NoSchedule", "NoExecute") and taint.key != UNSCHEDULABLE:
            yield taint


def read_claim(body: Mapping[str, Any]) -> tuple[str, str]:
    """A claim (`namespace/name`) and the volume that it is bound to, if any."""
    namespace, name = need_text(body, "metadata", "namespace"), need_text(body, "metadata", "name")
    bound = text(body, "status", "phase") == "Bound"
    return f"{namespace}/{name}", text(body, "spec", "volumeName") if bound else ""


def read_volume(body: Mapping[str, Any]) -> Volume:
    """A volume from its wire body; which claim it belongs to stands in it."""
    claimed = dig(body, "spec", "claimRef")
    required = dig(body, "spec", "nodeAffinity", "required")
    labels = dig(body, "metadata", "labels") or {}
    zones = [Requirement(key, "In", tuple(labels[key].split(_SEVERAL))) for key in ZONE_LABELS if key in labels]
    return Volume(
        claim=f"{text(claimed, 'namespace')}/{text(claimed, 'name')}",
        name=need_text(body, "metadata", "name"),
        terms=None if required is None else read_node_terms(required),
        zones=tuple(zones),
    )
