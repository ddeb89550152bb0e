"""Does a node of an AKS hybrid cluster run out of memory because of the pods of Azure Arc?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from handlers.counted import counted
from handlers.diagnose import memory_proof
from handlers.engine.declare import diagnostic
from handlers.evidence.memory_kills import MemoryKill
from handlers.evidence.nexus.clusters import ConnectedCluster, HybridCluster
from handlers.evidence.nexus.memory import (
    HybridMemoryKills,
    HybridMemoryUse,
    HybridNodes,
    HybridPodsOnShortNodes,
    HybridShortOfMemory,
)
from handlers.evidence.pod_memory import OwnerMemory, PodMemory, by_owner
from handlers.evidence.quantity import readable
from handlers.evidence.short_of_memory import MOST_NODES, ShortNode
from handlers.model import Clear, Finding, Judgement, NotApplicable, Severity, Unavailable, Why

CODE = "hybrid-memory-saturation"
ARC = "azure-arc"
LARGE = 25
"""Percent of what pods may have on the node. Arc needs 850 MB in the whole cluster: a tenth of a node."""
HEARTBEAT = timedelta(minutes=5)
"""How often the agents report to Azure: the last report came up to this long before they fell silent."""
MOST_PODS = 5
WORTH_NAMING = 20
"""An owner whose pods have a twentieth of the node or more."""


@dataclass(frozen=True, slots=True)
class ArcPods:
    """The pods of Azure Arc on one node, those with most first, against what all its pods may have."""

    pods: tuple[PodMemory, ...]
    room: int

    @property
    def measured(self) -> bool:
        return all(pod.used is not None for pod in self.pods)

    @property
    def weight(self) -> int:
        """What they use; of those that nobody measured, what they request."""
        return sum(map(_weight, self.pods))

    @property
    def percent(self) -> int:
        return round(100 * self.weight / self.room) if self.room else 0

    @property
    def large(self) -> bool:
        return self.weight * 100 >= LARGE * self.room > 0

    @property
    def small(self) -> bool:
        """Proved: they use little, or their limits keep them from using more."""
        most = [pod.limit if pod.used is None else pod.used for pod in self.pods]
        return self.room > 0 and sum(item or 0 for item in most) * 100 < LARGE * self.room and None not in most

    def says(self) -> str:
        """The arithmetic."""
        verb = "use" if self.measured else "request"
        if not self.pods:
            return "no Arc pod runs there"
        many = counted(len(self.pods), "Arc pod")
        return f"{many} {verb} {readable(self.weight)} of {readable(self.room)} for pods ({self.percent} %)"


@diagnostic(codes=(CODE,), area="nodes")
def hybrid_memory_saturation(
    cluster: HybridCluster,
    arc: ConnectedCluster | NotApplicable | Unavailable,
    nodes: HybridNodes,
    use: HybridMemoryUse | NotApplicable | Unavailable,
    kills: HybridMemoryKills | Unavailable,
    short: HybridShortOfMemory,
    pods: HybridPodsOnShortNodes | NotApplicable,
) -> Iterator[Judgement]:
    """A node of an AKS hybrid cluster runs out of memory, and the pods of Azure Arc have a large share of it."""
    if isinstance(pods, HybridPodsOnShortNodes):
        ended = kills.kills if isinstance(kills, HybridMemoryKills) else ()
        for node in short.nodes[:MOST_NODES]:
            yield _judged(cluster, arc, node, pods, ended)
        yield from _not_seen(short, pods)
    elif short.complete:
        none = use.because if isinstance(use, NotApplicable) else f"the fullest uses {memory_proof.fullest(nodes, use)}"
        yield Clear(f"{counted(len(nodes.nodes), 'node')}, none short of memory now or in the last hour; {none}")


def _judged(
    cluster: HybridCluster,
    arc: ConnectedCluster | NotApplicable | Unavailable,
    short: ShortNode,
    pods: HybridPodsOnShortNodes,
    kills: tuple[MemoryKill, ...],
) -> Judgement:
    there = pods.by_node.get(short.node.name)
    room = short.node.memory_for_pods
    if there is None or room is None:
        return Unavailable(f"the pods on {short.node.name}", Why.FAILED, "they, or the node's size, could not be read")
    agents = ArcPods(_of_arc(there), room)
    if agents.large:
        return _found(cluster, arc, short, agents, there, kills)
    if agents.small:
        return Clear(f"{short.node.name} is short of memory, not because of Azure Arc: {_instead(agents, there)}")
    return next(iter(pods.gaps), None) or Unavailable(
        f"what the Arc pods on {short.node.name} use",
        Why.ABSENT,
        "nobody measures it, and not all of them have a limit",
    )


def _of_arc(pods: tuple[PodMemory, ...]) -> tuple[PodMemory, ...]:
    return tuple(sorted((pod for pod in pods if pod.namespace == ARC), key=lambda pod: (-_weight(pod), pod.name)))


def _weight(pod: PodMemory) -> int:
    return pod.requested if pod.used is None else pod.used


def _instead(agents: ArcPods, there: tuple[PodMemory, ...]) -> str:
    """The arithmetic, and who has most."""
    others = by_owner(pod for pod in there if pod.namespace != ARC)
    return "; ".join([agents.says(), *memory_proof.top(others[:1])])


def _not_seen(short: HybridShortOfMemory, pods: HybridPodsOnShortNodes) -> Iterator[Unavailable]:
    """What could hold another such node."""
    yield from pods.gaps
    if short.truncated:
        yield Unavailable("all nodes and pods", Why.FAILED, f"only a part was read of {short.source}")
    if len(short.nodes) > MOST_NODES:
        what = f"the pods on {counted(len(short.nodes) - MOST_NODES, 'more node')} short of memory"
        yield Unavailable(what, Why.ABSENT, f"only those of the {MOST_NODES} fullest are read")


def _found(
    cluster: HybridCluster,
    arc: ConnectedCluster | NotApplicable | Unavailable,
    short: ShortNode,
    agents: ArcPods,
    there: tuple[PodMemory, ...],
    kills: tuple[MemoryKill, ...],
) -> Finding:
    silenced = isinstance(arc, ConnectedCluster) and _silenced(arc, short, kills)
    return Finding(
        code=CODE,
        subject=short.node.subject,
        severity=Severity.ERROR if agents.measured and short.pressure else Severity.WARNING,
        affects=(cluster.id,) if silenced else (),
        because=tuple(_because(short, agents, there, cluster.taken_at)),
        facts={**cluster.facts(), **_facts(short, agents)},
        began=short.began,
    )


def _silenced(arc: ConnectedCluster, short: ShortNode, kills: tuple[MemoryKill, ...]) -> bool:
    """Whether it is why Azure no longer hears from the cluster: agents were killed there before their last report."""
    if arc.last_seen is None or arc.status.lower() == "connected" or short.began is None:
        return False
    ended = [kill for kill in kills if kill.namespace == ARC and kill.node == short.node.name and kill.of_node]
    until = arc.last_seen + HEARTBEAT
    return short.began <= until and any(kill.at <= until for kill in ended)


def _because(short: ShortNode, agents: ArcPods, there: tuple[PodMemory, ...], now: datetime) -> Iterator[str]:
    yield f"{memory_proof.headline(short, now)}; {agents.says()}"
    if short.pressure or short.kills:
        yield memory_proof.arithmetic(short)
    if not agents.measured:
        yield "what the Arc pods use was not measured: this counts what they request"
    yield from memory_proof.top(_worth_naming(agents.pods, agents.room) or by_owner(agents.pods)[:1])
    yield from memory_proof.killed(short.kills)
    others = _worth_naming((pod for pod in there if pod.namespace != ARC), agents.room)
    yield from (f"beside them: {line}" for line in memory_proof.top(others[:1]))


def _worth_naming(pods: Iterable[PodMemory], room: int) -> list[OwnerMemory]:
    return [owner for owner in by_owner(pods) if owner.weight * WORTH_NAMING >= room][:MOST_PODS]


def _facts(short: ShortNode, agents: ArcPods) -> Mapping[str, object]:
    first = agents.pods[0]
    kind, _, owner = first.owner.partition("/")
    return {
        "node": short.node.name,
        "pressure": short.pressure is not None,
        "measured": agents.measured,
        "arithmetic": memory_proof.arithmetic(short),
        "arc_share": agents.says(),
        "arc_percent": agents.percent,
        "arc_memory": readable(agents.weight),
        "pod": first.name,
        "pod_memory": readable(_weight(first)),
        "owner": owner,
        "owner_kind": kind.lower(),
        "pods": [{"pod": pod.name, "memory": readable(_weight(pod))} for pod in agents.pods[:MOST_PODS]],
        "evicted": sum(kill.kind == "evicted" for kill in short.kills),
        "killed": sum(kill.kind != "evicted" for kill in short.kills),
    }
