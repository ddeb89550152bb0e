"""Why one node does not take one pod: the scheduler's filters, one function each, all of them asked.

The scheduler stops at a node's first obstacle; here every one is told, so that one change is known to be enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from handlers.evidence.quantities import NONE, spoken
from handlers.evidence.scheduling.collect import Scheduling
from handlers.evidence.scheduling.demands import Demand
from handlers.evidence.scheduling.rooms import UNSCHEDULABLE, Room, Taint
from handlers.evidence.workloads.pods import Toleration

CPU, MEMORY, DISK = "cpu", "memory", "ephemeral-storage"
CORDON = Taint(UNSCHEDULABLE, "", "NoSchedule")
STATE_TAINTS = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "node.cilium.io/", "ToBeDeletedByCluster")
"""Taints that Kubernetes, the network and the autoscaler set and take away themselves, for what a node is just now."""
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
"""Only a person sets it, so that the pods of a dead node move at once, and only a person takes it off."""
MEMORY_PRESSURE = "node.kubernetes.io/memory-pressure"
SECONDS = 10
"""Digits of a time in seconds since 1970."""
SETTLES = timedelta(minutes=10)
"""A node that is Ready has lost such a taint by then: its network comes in less, and the kubelet holds a pressure for
five minutes after it has passed. What stays is stuck, and no other question is about it."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """One reason why a node does not take a pod. Equal reasons of several nodes are one row of the table."""

    cause: str
    """As COVERAGE names it: node-selector, taint, cpu …"""
    why: str
    resource: str = ""
    short: Decimal = NONE
    """What is missing of the resource."""
    taint: Taint | None = None
    passing: bool = False
    """Kubernetes took the node out because of its state (not Ready, no disk left), and will put it back itself."""
    for_good: bool = False
    """Of capacity: it asks for more than the empty node has."""


def obstacles(demand: Demand, room: Room, seen: Scheduling) -> Iterator[Obstacle]:
    """Everything on this node that stands in the pod's way, but for what hangs on other nodes (see `topology`)."""
    for look in _FILTERS:
        yield from look(demand, room, seen)


def chosen(demand: Demand, room: Room) -> bool:
    """Whether the pod's own selector and affinity allow this node."""
    return not any(_not_selected(demand, room)) and not any(_not_preferred(demand, room))


def tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    return any(_tolerates(toleration, taint) for toleration in tolerations)


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect not in ("", taint.effect) or (toleration.key and toleration.key != taint.key):
        return False
    if toleration.operator == "Exists":
        return True
    return bool(toleration.key) and toleration.value == taint.value


def _named(demand: Demand, room: Room, _: Scheduling) -> Iterator[Obstacle]:
    yield from _not_selected(demand, room)
    yield from _not_preferred(demand, room)


def _not_selected(demand: Demand, room: Room) -> Iterator[Obstacle]:
    missed = [requirement for requirement in demand.node_selector if not requirement.holds(room.labels)]
    if missed:
        yield Obstacle("node-selector", f"has no label {', '.join(map(str, missed))}")


def _not_preferred(demand: Demand, room: Room) -> Iterator[Obstacle]:
    terms = demand.node_terms
    if terms is not None and not any(term.chooses(room.name, room.labels) for term in terms):
        wanted = " or ".join(str(term) for term in terms) or "a node that no term describes"
        yield Obstacle("node-affinity", f"does not match the node affinity: {wanted}")


def _cordoned(demand: Demand, room: Room, _: Scheduling) -> Iterator[Obstacle]:
    if room.cordoned and not tolerated(CORDON, demand.tolerations):
        yield Obstacle("cordon", "is cordoned")


def _tainted(demand: Demand, room: Room, seen: Scheduling) -> Iterator[Obstacle]:
    for taint in room.taints:
        if not tolerated(taint, demand.tolerations):
            yield _repelled_by(taint, room, seen.taken_at)


def _repelled_by(taint: Taint, room: Room, now: datetime) -> Obstacle:
    if not taint.key.startswith(STATE_TAINTS):
        return Obstacle("taint", f"has taint {taint}, which the pod does not tolerate", taint=taint)
    if taint.key == OUT_OF_SERVICE:
        return Obstacle("node-state", f"has taint {taint}, which somebody set", taint=taint)
    passing = _passes(taint, room, now)
    since = f" since {room.ready_since:%Y-%m-%d %H:%M} UTC" if room.ready_since else ""
    still = "" if passing else f", though it is Ready{since}"
    return Obstacle("node-state", f"has taint {taint} for its state{still}", taint=taint, passing=passing)


def _passes(taint: Taint, room: Room, now: datetime) -> bool:
    """Whether the taint goes by itself, or another question is about it: a node that is not Ready, or lacks memory."""
    if not room.ready or taint.key == MEMORY_PRESSURE:
        return True
    since = room.pressures.get(taint.key) or _set_at(taint) or room.ready_since
    return since is not None and now - since < SETTLES


def _set_at(taint: Taint) -> datetime | None:
    """The cluster autoscaler writes into the taint when it began to take the node away."""
    of_autoscaler = taint.key.startswith("ToBeDeleted") and taint.value.isdigit() and len(taint.value) == SECONDS
    return datetime.fromtimestamp(int(taint.value), UTC) if of_autoscaler else None


def _crowded(demand: Demand, room: Room, seen: Scheduling) -> Iterator[Obstacle]:
    most, there = int(room.allocatable.get("pods", NONE)), seen.count.get(room.name, 0)
    if there + 1 > most:
        yield Obstacle("pods-per-node", f"has {there} of {most} pods", for_good=not most)


def _too_small(demand: Demand, room: Room, seen: Scheduling) -> Iterator[Obstacle]:
    for resource, wanted in sorted(demand.requests.items()):
        free = seen.free(room, resource)
        if wanted > free and wanted > 0:
            yield _lacking(resource, wanted, max(free, NONE), room.allocatable.get(resource, NONE))


def _lacking(resource: str, wanted: Decimal, free: Decimal, whole: Decimal) -> Obstacle:
    cause = resource if resource in (CPU, MEMORY, DISK) else "extended-resource"
    what = {CPU: "CPU", DISK: "ephemeral storage"}.get(resource, resource)
    if not whole:
        none = f"has no {what}, {spoken(resource, wanted)} requested"
        return Obstacle(cause, none, resource, wanted, for_good=True)
    told = f"{what}: {_plain(resource, free)} of {spoken(resource, whole)} free, {_plain(resource, wanted)} requested"
    return Obstacle(cause, told, resource, wanted - free, for_good=wanted > whole)


def _plain(resource: str, amount: Decimal) -> str:
    """The word CPU stands before it already."""
    return (
        spoken(resource, amount).removesuffix("s").removesuffix(" CPU") if resource == CPU else spoken(resource, amount)
    )


def _port_taken(demand: Demand, room: Room, seen: Scheduling) -> Iterator[Obstacle]:
    taken = [mine for mine in demand.ports if any(mine.meets(other) for other in seen.ports.get(room.name, ()))]
    if taken:
        yield Obstacle("host-port", f"has {', '.join(map(str, sorted(set(taken))))} in use by another pod")


def _volume_elsewhere(demand: Demand, room: Room, seen: Scheduling) -> Iterator[Obstacle]:
    for claim in demand.volume_claims:
        volume = seen.volumes.get(f"{demand.namespace}/{claim}")
        if volume is None:
            continue
        wrong = [zone for zone in volume.zones if zone.key in room.labels and not zone.holds(room.labels)]
        reaches = volume.terms is None or any(term.chooses(room.name, room.labels) for term in volume.terms)
        if wrong or not reaches:
            where = " or ".join(map(str, volume.terms or wrong))
            yield Obstacle("volume-zone", f"does not reach the volume of claim {claim}, which needs {where}")


_FILTERS: tuple[Callable[[Demand, Room, Scheduling], Iterator[Obstacle]], ...] = (
    _named,
    _cordoned,
    _tainted,
    _crowded,
    _too_small,
    _port_taken,
    _volume_elsewhere,
)
