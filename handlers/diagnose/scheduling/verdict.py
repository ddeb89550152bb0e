"""One waiting pod against every node: a table of nodes and reasons, and the node that needs the smallest change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from handlers.diagnose.scheduling.obstacles import Obstacle, obstacles
from handlers.diagnose.scheduling.topology import Topology, topology_of
from handlers.evidence.quantities import NONE
from handlers.evidence.scheduling.collect import Scheduling
from handlers.evidence.scheduling.demands import Demand
from handlers.evidence.scheduling.rooms import Room
from handlers.evidence.selectors import Requirement

CAPACITY = frozenset({"cpu", "memory", "ephemeral-storage", "extended-resource", "pods-per-node"})
EFFORT = {
    "cordon": 2,
    "node-state": 5,
    "host-port": 6,
    "topology-spread": 6,
    "anti-affinity": 6,
    "pod-affinity": 6,
    "volume-limit": 8,
    "volume-zone": 8,
    "taint": 12,
    "node-selector": 40,
    "node-affinity": 40,
}
"""How much it takes to remove an obstacle. Room is made more easily than a taint is taken off that somebody set to
reserve the node, and nodes that the pod's own selector rules out are the last to be asked why. A node that is not
Ready lies between: it comes back, but room on another helps at once. No other sum is 5."""
OF_CAPACITY = 4
NAMED = 3
"""Names of nodes are long."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A node, and all that keeps the pod off it."""

    room: Room
    obstacles: tuple[Obstacle, ...]

    @property
    def passing(self) -> bool:
        """Nothing but the node's present state keeps the pod off it."""
        return bool(self.lasting) and all(obstacle.passing for obstacle in self.lasting)

    @property
    def lasting(self) -> tuple[Obstacle, ...]:
        """The obstacles that count. A dead node is full of pods that are made anew elsewhere: back, it has room, and
        those of its pods that are being deleted are gone."""
        if not any(obstacle.passing and obstacle.cause == "node-state" for obstacle in self.obstacles):
            return self.obstacles
        return tuple(item for item in self.obstacles if item.cause == "node-state" or _stays(item))

    @property
    def effort(self) -> int:
        kinds = {obstacle.cause for obstacle in self.lasting}
        return (OF_CAPACITY if kinds & CAPACITY else 0) + sum(EFFORT[kind] for kind in kinds - CAPACITY)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What every node says to one pod."""

    demand: Demand
    answers: tuple[Answer, ...]
    fits: tuple[Room, ...]
    nearest: tuple[Answer, ...]
    """The nodes that would take it with the least change; those that lack less come first."""

    @property
    def cause(self) -> str:
        """What keeps it off the nearest nodes: of several obstacles the hardest, of capacity the scarcest."""
        if not self.nearest:
            return ""
        lasting = self.nearest[0].lasting
        # What passes by itself is the cause only where nothing else is.
        told = [obstacle for obstacle in lasting if not obstacle.passing] or lasting
        return (
            max(told, key=lambda obstacle: (_weight(obstacle), _relative(obstacle, self.demand))).cause if told else ""
        )

    @property
    def waits_for(self) -> Answer | None:
        """A nearest node whose present state alone keeps the pod off it."""
        return None if self.fits else next((answer for answer in self.nearest if answer.passing), None)


def judge(demand: Demand, seen: Scheduling, counted: Topology | None = None) -> Verdict:
    """Ask every node about one pod."""
    others = counted or topology_of(demand, seen)
    rooms = _in_question(demand, seen.rooms)
    answers = tuple(Answer(room, (*obstacles(demand, room, seen), *others.obstacles(room))) for room in rooms)
    fits = tuple(answer.room for answer in answers if not answer.obstacles)
    return Verdict(demand, answers, fits, _nearest(answers))


def _nearest(answers: tuple[Answer, ...]) -> tuple[Answer, ...]:
    efforts = [answer.effort for answer in answers]
    least = min(efforts, default=0)
    least_changed = (answer for answer, effort in zip(answers, efforts, strict=True) if effort == least)
    return tuple(sorted(least_changed, key=_lack))


def together(verdicts: Sequence[Verdict]) -> Verdict:
    """Pods of one workload that have the same cause, as one: each pod of a daemon set is for another node."""
    sets = {id(verdict.answers): verdict.answers for verdict in verdicts}
    answers: dict[str, Answer] = {}
    for each in sets.values():
        for answer in each:
            answers.setdefault(answer.room.name, answer)
    first = verdicts[0]
    if len(answers) == len(first.answers):
        return first
    return replace(first, answers=tuple(answers.values()), nearest=_nearest(tuple(answers.values())))


def _in_question(demand: Demand, rooms: Sequence[Room]) -> Sequence[Room]:
    """A daemon set's pod is for one node, which its affinity names: the others are not asked."""
    fields = [term.fields for term in demand.node_terms or ()]
    if not fields or not all(fields):
        return rooms
    if all(field.operator == "In" for term in fields for field in term):
        names = {name for term in fields for name in set.intersection(*(set(field.values) for field in term))}
        return [room for room in rooms if room.name in names]
    return [room for room in rooms if any(_holds(term, room) for term in fields)]


def _holds(fields: tuple[Requirement, ...], room: Room) -> bool:
    return all(field.holds({"metadata.name": room.name}) for field in fields)


def table(verdict: Verdict) -> Iterator[str]:
    """The table, grouped: how many nodes, and what keeps the pod off them; nearest first."""
    groups: dict[tuple[int, tuple[str, ...]], list[Answer]] = {}
    for answer in verdict.answers:
        kinds = tuple(dict.fromkeys(obstacle.cause for obstacle in answer.obstacles))
        groups.setdefault((answer.effort, kinds), []).append(answer)
    for _, answers in sorted(groups.items(), key=lambda group: group[0]):
        yield _row(sorted(answers, key=_lack))


def _row(answers: list[Answer]) -> str:
    """What a group of nodes has in common; where they differ, what the one that lacks least says."""
    first = answers[0]
    why = "; ".join(obstacle.why for obstacle in first.obstacles)
    if len(answers) == 1:
        return f"1 node: {first.room.name}: {why}"
    same = all(
        [obstacle.why for obstacle in answer.obstacles] == [obstacle.why for obstacle in first.obstacles]
        for answer in answers
    )
    return f"{_names(answers)}: {why}" if same else f"{_names(answers)}; nearest {first.room.name}: {why}"


def _names(answers: list[Answer]) -> str:
    """The nodes of a row by name; of many, their pools."""
    pools = sorted({answer.room.pool for answer in answers})
    if len(answers) <= NAMED or not all(pools):
        return f"{len(answers)} nodes: {', '.join(answer.room.name for answer in answers[:NAMED])}"
    return f"{len(answers)} nodes of pool{'s' if len(pools) > 1 else ''} {', '.join(pools)}"


def _lack(answer: Answer) -> tuple[Decimal, str]:
    return sum((obstacle.short for obstacle in answer.lasting), NONE), answer.room.name


def _stays(obstacle: Obstacle) -> bool:
    return obstacle.for_good if obstacle.cause in CAPACITY else not obstacle.passing


def _weight(obstacle: Obstacle) -> int:
    return EFFORT.get(obstacle.cause, OF_CAPACITY)


def _relative(obstacle: Obstacle, demand: Demand) -> Decimal:
    return obstacle.short / (demand.requests.get(obstacle.resource, NONE) or 1)
