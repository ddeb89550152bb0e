"""The pods that no node was found for, and the nodes as the scheduler sees them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.cluster import Pods
from handlers.evidence.quantities import NONE, Amounts
from handlers.evidence.scheduling.demands import Demand, HostPort, read_demand
from handlers.evidence.scheduling.rooms import (
    Neighbour,
    Occupancy,
    Room,
    Volume,
    read_claim,
    read_room,
    read_volume,
    selectors_of,
)
from handlers.evidence.selectors import Labels
from handlers.evidence.wire import dig, text
from handlers.model import Evidence, NotApplicable, Unavailable

LIVE = "status.phase!=Succeeded,status.phase!=Failed"
WAITING = "status.phase=Pending"
UNSCHEDULABLE = "Unschedulable"
MOST_WAITING = 500
"""A deployment of thousands that does not fit asks thousands of times for the same."""


@dataclass(frozen=True, kw_only=True)
class Scheduling(Evidence):
    """The pods that wait for a node, and what the scheduler looks at to place them."""

    waiting: tuple[Demand, ...] = ()
    rooms: tuple[Room, ...] = ()
    used: Mapping[str, Amounts] = field(default_factory=dict)
    count: Mapping[str, int] = field(default_factory=dict)
    ports: Mapping[str, tuple[HostPort, ...]] = field(default_factory=dict)
    neighbours: tuple[Neighbour, ...] = ()
    namespaces: Mapping[str, Labels] = field(default_factory=dict)
    volumes: Mapping[str, Volume] = field(default_factory=dict)
    """By claim (`namespace/name`). One that is not there is not known."""

    def free(self, room: Room, resource: str) -> Decimal:
        return room.allocatable.get(resource, NONE) - self.used.get(room.name, {}).get(resource, NONE)


@collector(
    reads=(),
    sees=("list pods", "list nodes"),
    deadline_s=25,
)
async def scheduling(pods: Pods, kube: KubeReader) -> Scheduling:
    """the pods that wait for a node"""
    if not any(pod.trouble == UNSCHEDULABLE for pod in pods.pods):
        return Scheduling(source=pods.source, taken_at=pods.taken_at, truncated=pods.truncated, gaps=pods.gaps)
    found = await kube.list("/api/v1/pods", _read_waiting, fields=WAITING, most=MOST_WAITING)
    rooms = await kube.list("/api/v1/nodes", read_room)
    chosen = selectors_of(found.items)
    swept = await kube.fold("/api/v1/pods", lambda: Occupancy(chosen), Occupancy.add, fields=LIVE)
    return Scheduling(
        source=found.source,
        taken_at=found.taken_at,
        truncated=rooms.truncated or swept.truncated,
        waiting=found.items,
        rooms=rooms.items,
        used=swept.value.used,
        count=swept.value.count,
        ports={node: tuple(ports) for node, ports in swept.value.ports.items()},
        neighbours=tuple(swept.value.neighbours),
    )


@dataclass(frozen=True, kw_only=True)
class Surroundings(Evidence):
    """What only some of the waiting pods ask about: the labels of namespaces, and where volumes can be reached from."""

    namespaces: Mapping[str, Labels] = field(default_factory=dict)
    volumes: Mapping[str, Volume] = field(default_factory=dict)


@collector(reads=(), sees=("list namespaces", "list persistentvolumeclaims", "list persistentvolumes"), deadline_s=15)
async def surroundings(waits: Scheduling, kube: KubeReader) -> Surroundings | NotApplicable:
    """the namespaces and volumes of the pods that wait for a node"""
    if not waits.waiting:
        return NotApplicable("no pod waits for a node")
    seen = await _with_volumes(await _with_namespaces(waits, kube), kube)
    return Surroundings(source=waits.source, taken_at=waits.taken_at, namespaces=seen.namespaces, volumes=seen.volumes)


def with_surroundings(waits: Scheduling, around: Surroundings | Unavailable | NotApplicable) -> Scheduling:
    """Both together; what could not be seen of the surroundings is a gap."""
    if isinstance(around, Surroundings):
        return replace(waits, namespaces=around.namespaces, volumes=around.volumes)
    return replace(waits, gaps=(*waits.gaps, around)) if isinstance(around, Unavailable) else waits


def _read_waiting(body: Mapping[str, Any]) -> Demand | None:
    if text(body, "spec", "nodeName") or dig(body, "metadata", "deletionTimestamp") is not None:
        return None
    demand = read_demand(body)
    return demand if demand.said and not demand.gated else None


async def _with_namespaces(seen: Scheduling, kube: KubeReader) -> Scheduling:
    """Namespaces have labels that only a namespace selector asks about."""
    terms = [term for demand in seen.waiting for term in (*demand.near, *demand.away)]
    terms += [term for pod in seen.neighbours for term in pod.away]
    if not any(term.namespace_selector.requirements for term in terms):
        return seen
    listing = await kube.list("/api/v1/namespaces", _read_namespace)
    return replace(seen, namespaces=dict(listing.items))


async def _with_volumes(seen: Scheduling, kube: KubeReader) -> Scheduling:
    """Where the volumes of the waiting pods can be reached from."""
    wanted = {f"{demand.namespace}/{claim}" for demand in seen.waiting for claim in demand.volume_claims}
    if not wanted:
        return seen
    claims = await kube.list("/api/v1/persistentvolumeclaims", read_claim)
    volumes = await kube.list("/api/v1/persistentvolumes", read_volume)
    return replace(seen, volumes=_bound(wanted, claims.items, volumes.items))


def _bound(wanted: Iterable[str], claims: Iterable[tuple[str, str]], volumes: Iterable[Volume]) -> dict[str, Volume]:
    bound = dict(claims)
    by_claim = {volume.claim: volume for volume in volumes if bound.get(volume.claim) == volume.name}
    unbound = {claim: Volume(claim, "", None, ()) for claim in wanted if bound.get(claim) == ""}
    return unbound | {claim: by_claim[claim] for claim in wanted if claim in by_claim}


def _read_namespace(body: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    return text(body, "metadata", "name"), dict(dig(body, "metadata", "labels") or {})


def waited_since(demand: Demand) -> datetime | None:
    """Since when a pod waits."""
    return demand.since or demand.created
