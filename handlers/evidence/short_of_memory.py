"""Which nodes are short of memory, by everything that can show it; and what runs on those."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar

from handlers.clients.errors import NotFound
from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.cluster import Condition, Node, Nodes, Pods, workload_of
from handlers.evidence.gather import each
from handlers.evidence.memory_kills import MemoryKill
from handlers.evidence.node_metrics import POD_METRICS, NodeMemoryUse
from handlers.evidence.node_warnings import NodeWarning, NodeWarnings
from handlers.evidence.pod_memory import PodMemory, pod_memory
from handlers.evidence.quantity import MIB, in_bytes
from handlers.evidence.wire import dig, rows, text
from handlers.model import CannotSee, Evidence, NotApplicable, Unavailable

RECENT = timedelta(hours=1)
"""As long as a cluster keeps its events. What is older is history, unless a node went down with it."""
BEFORE_IT_WENT = timedelta(minutes=30)
"""What happened so shortly before a node stopped being Ready belongs to that."""
NEXT_TO_NOTHING = 750 * MIB
"""Where AKS's kubelets began to evict before Kubernetes 1.29; newer ones wait until 100 MiB are left. That more is in
use than pods may have is no trouble by itself: up to a quarter of a machine is reserved, and seldom used."""
MOST_NODES = 5
"""Whose pods are read one by one; the fullest first."""


@dataclass(frozen=True, slots=True)
class ShortNode:
    """A node that is short of memory, or was within the last hour, and what shows it."""

    node: Node
    pressure: Condition | None
    """The kubelet's own condition MemoryPressure, where it holds now."""
    events: tuple[NodeWarning, ...]
    kills: tuple[MemoryKill, ...]
    used: int | None
    """Bytes in use now; None where nobody measures."""

    @property
    def over(self) -> bool:
        """More in use than its pods may have together, and next to nothing left of what the machine has."""
        room, all_of_it = self.node.memory_for_pods, self.node.memory
        if self.used is None or room is None or all_of_it is None:
            return False
        return self.used >= room and all_of_it - self.used < NEXT_TO_NOTHING

    @property
    def began(self) -> datetime | None:
        """Since when, as far as anything of it is dated."""
        known = [event.first for event in self.events] + [kill.at for kill in self.kills]
        known += [self.pressure.since] if self.pressure else []
        return min((at for at in known if at), default=None)

    @property
    def shows(self) -> bool:
        return bool(self.pressure or self.events or self.kills or self.over)


@dataclass(frozen=True, kw_only=True)
class ShortOfMemory(Evidence):
    """The nodes that are short of memory, the worst first. Its gaps are what could have shown others."""

    nodes: tuple[ShortNode, ...]


@dataclass(frozen=True, kw_only=True)
class PodsOnShortNodes(Evidence):
    """The pods on the nodes that are short of memory: what they asked for, may have, and use."""

    by_node: Mapping[str, tuple[PodMemory, ...]]
    measured: bool
    """False where there is no metrics server: then requests are all there is."""


Read = TypeVar("Read", bound=PodsOnShortNodes)


@collector(reads=())
async def short_of_memory(
    cluster: ManagedCluster,
    nodes: Nodes,
    use: NodeMemoryUse | NotApplicable | Unavailable,
    warnings: NodeWarnings | Unavailable,
    pods: Pods | Unavailable,
) -> ShortOfMemory:
    """the nodes that are short of memory"""
    found = short_nodes(cluster.taken_at, nodes, use, _warnings(warnings), _killed(pods))
    parts = (use, warnings, pods)
    # A list of pods that was cut hides last states alone: nodes and their events say by themselves that memory ran out.
    whole = (nodes, use, warnings)
    return ShortOfMemory(
        source=nodes.source,
        taken_at=nodes.taken_at,
        truncated=any(isinstance(item, Evidence) and item.truncated for item in whole),
        gaps=tuple(part for part in parts if isinstance(part, Unavailable)),
        nodes=found,
    )


def short_nodes(
    now: datetime,
    nodes: Nodes,
    use: NodeMemoryUse | NotApplicable | Unavailable,
    warnings: Iterable[NodeWarning],
    kills: Iterable[MemoryKill],
) -> tuple[ShortNode, ...]:
    """The nodes that are short of memory, the worst first."""
    said = _by_node(warning for warning in warnings if warning.memory_ran_out)
    killed = _by_node(kill for kill in kills if kill.of_node)
    used = use.used if isinstance(use, NodeMemoryUse) else {}
    found = [
        short_node
        for node in nodes.nodes
        if not node.virtual
        and (short_node := _short(now, node, said.get(node.name, []), killed.get(node.name, []), used)).shows
    ]
    found.sort(key=lambda node: (node.pressure is None, not node.over, -(node.used or 0), node.node.name))
    return tuple(found)


def _warnings(warnings: NodeWarnings | Unavailable) -> tuple[NodeWarning, ...]:
    return warnings.warnings if isinstance(warnings, NodeWarnings) else ()


def _killed(pods: Pods | Unavailable) -> tuple[MemoryKill, ...]:
    return pods.killed if isinstance(pods, Pods) else ()


class _OnNode(Protocol):
    @property
    def node(self) -> str: ...


On = TypeVar("On", bound=_OnNode)


def _by_node(all_of_them: Iterable[On]) -> dict[str, list[On]]:
    """Once for all nodes: there may be five thousand of them, and as many rows."""
    groups: dict[str, list[On]] = {}
    for on in all_of_them:
        groups.setdefault(on.node, []).append(on)
    return groups


def _short(
    now: datetime, node: Node, said: list[NodeWarning], killed: list[MemoryKill], used: Mapping[str, int]
) -> ShortNode:
    return ShortNode(
        node=node,
        pressure=node.troubles.get("MemoryPressure"),
        events=tuple(warning for warning in said if _counts(now, node, warning.last)),
        kills=tuple(kill for kill in killed if _counts(now, node, kill.at)),
        used=used.get(node.name),
    )


def _counts(now: datetime, node: Node, at: datetime | None) -> bool:
    """Whether it is part of what is wrong now: it has just happened, or the node went down with it."""
    if at is None:
        return False
    if now - at <= RECENT:
        return True
    since = None if node.is_ready else node.ready.since
    return since is not None and since - BEFORE_IT_WENT <= at <= since + BEFORE_IT_WENT


@collector(reads=(), sees=("list pods.metrics.k8s.io",), deadline_s=15)
async def pods_on_short_nodes(short: ShortOfMemory, kube: KubeReader) -> PodsOnShortNodes | NotApplicable:
    """the pods on the nodes that are short of memory"""
    return await read_pods_on(PodsOnShortNodes, pods_on_short_nodes.title, short, kube)


async def read_pods_on(kind: type[Read], title: str, short: ShortOfMemory, kube: KubeReader) -> Read | NotApplicable:
    """The same for a cluster of any kind; `title` is what gaps are called."""
    names = [node.node.name for node in short.nodes[:MOST_NODES]]
    if not names:
        return NotApplicable("no node is short of memory")
    found, gaps = await each(names, lambda name: _pods_on(kube, name))
    used, unmeasured = await _used(kube, {(pod.namespace, pod.name) for pods in found for pod in pods})
    return kind(
        source=f"the pods on {', '.join(names)}",
        taken_at=short.taken_at,
        gaps=tuple(dict.fromkeys(replace(gap, wanted=title) for gap in (*gaps, *unmeasured))),
        by_node={pods[0].node: tuple(pod.using(used) for pod in pods) for pods in found if pods},
        measured=bool(used),
    )


async def _pods_on(kube: KubeReader, node: str) -> tuple[PodMemory, ...]:
    def keep(body: Mapping[str, Any]) -> PodMemory | None:
        here = text(body, "spec", "nodeName") == node
        ended = text(body, "status", "phase") in ("Succeeded", "Failed")
        return pod_memory(body, workload_of(body)) if here and not ended else None

    return (await kube.list("/api/v1/pods", keep, fields=f"spec.nodeName={node}")).items


async def _used(
    kube: KubeReader, wanted: set[tuple[str, str]]
) -> tuple[dict[tuple[str, str], int], tuple[Unavailable, ...]]:
    """What these pods use. The metrics server knows no selector by node: the list goes by, a few rows stay."""

    def add(kept: dict[tuple[str, str], int], body: Mapping[str, Any]) -> None:
        key = (text(body, "metadata", "namespace"), text(body, "metadata", "name"))
        if key in wanted:
            kept[key] = sum(in_bytes(dig(row, "usage", "memory")) or 0 for row in rows(body, "containers"))

    start: dict[tuple[str, str], int] = {}
    try:
        return (await kube.fold(POD_METRICS, start.copy, add)).value, ()
    except NotFound:  # there is no metrics server, which is no gap
        return {}, ()
    except CannotSee as error:
        return {}, (error.unavailable,)
