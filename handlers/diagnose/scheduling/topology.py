"""Where a pod may stand because of others: affinity, anti-affinity and topology spread, counted over all nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from handlers.diagnose.scheduling.obstacles import CORDON, Obstacle, chosen, tolerated
from handlers.evidence.scheduling.collect import Scheduling
from handlers.evidence.scheduling.demands import Demand, PodTerm, Spread
from handlers.evidence.scheduling.rooms import Neighbour, Room
from handlers.evidence.selectors import Labels


@dataclass(frozen=True, slots=True)
class Topology:
    """What holds for one waiting pod on every node: made once, asked per node."""

    demand: Demand
    near: tuple[tuple[PodTerm, frozenset[str]], ...]
    """Each affinity term with the values of its label where pods are that meet all of them."""
    first: bool
    """No such pod is anywhere, and this one would meet the terms itself: it may begin wherever it likes."""
    away: tuple[tuple[PodTerm, Mapping[str, bool]], ...]
    """Each anti-affinity term with the values that are taken, and whether all that take it are being deleted."""
    kept_off: tuple[tuple[str, str, Neighbour], ...]
    """(label, value, pod): pods that run and keep this one away themselves."""
    spreads: tuple[tuple[Spread, Mapping[str, int], int], ...]
    """Each spread with the pods of every value, and the fewest."""

    def obstacles(self, room: Room) -> Iterator[Obstacle]:
        yield from self._not_near(room)
        yield from self._not_away(room)
        yield from self._uneven(room)

    def _not_near(self, room: Room) -> Iterator[Obstacle]:
        for term, values in self.near:
            here = room.labels.get(term.topology)
            if here is None or (here not in values and not self.first):
                yield Obstacle("pod-affinity", f"has no pod with {term.selector} in its {_short(term.topology)}")

    def _not_away(self, room: Room) -> Iterator[Obstacle]:
        for term, taken in self.away:
            leaving = taken.get(room.labels.get(term.topology, ""))
            if leaving is not None:
                there = f"has a pod with {term.selector} in its {_short(term.topology)}"
                yield Obstacle("anti-affinity", there, passing=leaving and not room.ready)
        for label, value, pod in self.kept_off:
            if room.labels.get(label) == value:
                who = f"{pod.namespace}/{pod.name}"
                there = f"has pod {who}, which keeps this one away by its own anti-affinity"
                yield Obstacle("anti-affinity", there, passing=pod.leaving and not room.ready)

    def _uneven(self, room: Room) -> Iterator[Obstacle]:
        for spread, counts, fewest in self.spreads:
            here = room.labels.get(spread.topology)
            if here is None:
                yield Obstacle("topology-spread", f"has no label {spread.topology} to spread over")
            elif (
                after := counts.get(here, 0) + spread.selector.matches(self.demand.labels)
            ) - fewest > spread.max_skew:
                yield Obstacle("topology-spread", _skewed(spread, after, fewest))


def topology_of(demand: Demand, seen: Scheduling) -> Topology:
    """Count the pods that this one looks at, and those that look at it."""
    rooms = {room.name: room for room in seen.rooms}
    near = _near(demand, seen, rooms)
    return Topology(
        demand,
        near,
        not any(values for _, values in near) and meets_itself(demand, seen),
        tuple((term, _where(term, seen, rooms)) for term in demand.away),
        tuple(_repelled(demand, seen, rooms)),
        tuple(_spread(spread, demand, seen, rooms) for spread in demand.spreads),
    )


def _near(demand: Demand, seen: Scheduling, rooms: Mapping[str, Room]) -> tuple[tuple[PodTerm, frozenset[str]], ...]:
    """The scheduler counts a pod only if it meets all terms at once. Without the labels of namespaces none can be
    judged: then nothing is said of them."""
    if any(term.unseen(seen.namespaces) for term in demand.near):
        return ()
    meant = [pod for pod in seen.neighbours if demand.near and _meets_all(demand.near, pod.namespace, pod.labels, seen)]
    values = ((term, (_value(rooms, pod, term.topology) for pod in meant)) for term in demand.near)
    return tuple((term, frozenset(value for value in there if value is not None)) for term, there in values)


def _meets_all(terms: tuple[PodTerm, ...], namespace: str, labels: Labels, seen: Scheduling) -> bool:
    return all(term.chooses(namespace, labels, seen.namespaces) for term in terms)


def _where(term: PodTerm, seen: Scheduling, rooms: Mapping[str, Room]) -> dict[str, bool]:
    """The values of the term's label where pods are that it means, and whether all of those are being deleted."""
    found: dict[str, bool] = {}
    for pod in seen.neighbours:
        value = _value(rooms, pod, term.topology)
        if value is not None and term.chooses(pod.namespace, pod.labels, seen.namespaces):
            found[value] = found.get(value, True) and pod.leaving
    return found


def _repelled(demand: Demand, seen: Scheduling, rooms: Mapping[str, Room]) -> Iterator[tuple[str, str, Neighbour]]:
    for pod in seen.neighbours:
        for term in pod.away:
            value = _value(rooms, pod, term.topology)
            mine = {(pod_term.selector, pod_term.topology) for pod_term in demand.away}
            if (term.selector, term.topology) in mine and pod.namespace == demand.namespace:
                continue  # the same rule from the other side: told once
            if value is not None and term.chooses(demand.namespace, demand.labels, seen.namespaces):
                yield term.topology, value, pod


def _spread(
    spread: Spread, demand: Demand, seen: Scheduling, rooms: Mapping[str, Room]
) -> tuple[Spread, Mapping[str, int], int]:
    over = [room for room in rooms.values() if _counts(room, spread, demand)]
    counts = Counter({room.labels[spread.topology]: 0 for room in over})
    names = {room.name for room in over}
    for pod in seen.neighbours:
        # The scheduler leaves out pods that are being deleted, here and nowhere else.
        if pod.leaving or pod.node not in names or pod.namespace != demand.namespace:
            continue
        if spread.selector.matches(pod.labels):
            counts[rooms[pod.node].labels[spread.topology]] += 1
    fewest = min(counts.values(), default=0) if len(counts) >= spread.min_domains else 0
    return spread, counts, fewest


def _counts(room: Room, spread: Spread, demand: Demand) -> bool:
    """Whether a node is one of those that the pods are spread over."""
    if any(spread.topology not in room.labels for spread in demand.spreads):
        return False
    if spread.honors_affinity and not chosen(demand, room):
        return False
    taints = (*room.taints, CORDON) if room.cordoned else room.taints
    return not spread.honors_taints or all(tolerated(taint, demand.tolerations) for taint in taints)


def _value(rooms: Mapping[str, Room], pod: Neighbour, label: str) -> str | None:
    room = rooms.get(pod.node)
    return room.labels.get(label) if room else None


def meets_itself(demand: Demand, seen: Scheduling) -> bool:
    """The first pod of a group that wants to be together may stand anywhere."""
    return _meets_all(demand.near, demand.namespace, demand.labels, seen)


def _skewed(spread: Spread, after: int, fewest: int) -> str:
    return (
        f"would have {after} pods with {spread.selector} in its {_short(spread.topology)}, where another has {fewest} "
        f"(maxSkew {spread.max_skew})"
    )


def _short(label: str) -> str:
    """`zone` for topology.kubernetes.io/zone, `node` for the host's name."""
    return {"hostname": "node"}.get(label.rsplit("/", 1)[-1], label.rsplit("/", 1)[-1])


def values_of(rooms: Iterable[Room], label: str) -> tuple[str, ...]:
    """The values that a label has on the nodes."""
    return tuple(sorted({room.labels[label] for room in rooms if label in room.labels}))
