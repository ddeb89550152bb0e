"""The memory of an AKS hybrid cluster's nodes, read inside it: only a kubeconfig of one's own leads there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.cluster import Nodes, read_node, workload_of
from handlers.evidence.memory_kills import MemoryKill, memory_kills
from handlers.evidence.nexus.clusters import HybridCluster
from handlers.evidence.node_metrics import NodeMemoryUse, read_memory_use
from handlers.evidence.short_of_memory import PodsOnShortNodes, ShortOfMemory, read_pods_on, short_nodes
from handlers.model import Evidence, NotApplicable, Target, Unavailable


@dataclass(frozen=True, kw_only=True)
class HybridNodes(Nodes):
    """The nodes of an AKS hybrid cluster."""


@dataclass(frozen=True, kw_only=True)
class HybridMemoryUse(NodeMemoryUse):
    """The working set of each of its nodes in bytes."""


@dataclass(frozen=True, kw_only=True)
class HybridMemoryKills(Evidence):
    """Who was evicted or killed for lack of memory, as far as its pods remember."""

    kills: tuple[MemoryKill, ...]


@dataclass(frozen=True, kw_only=True)
class HybridShortOfMemory(ShortOfMemory):
    """Its nodes that are short of memory, the worst first."""


@dataclass(frozen=True, kw_only=True)
class HybridPodsOnShortNodes(PodsOnShortNodes):
    """The pods on those nodes: what they asked for, may have, and use."""


@collector(reads=(), sees=("list nodes",), deadline_s=15)
async def hybrid_nodes(cluster: HybridCluster, target: Target, kube: KubeReader) -> HybridNodes | NotApplicable:
    """the nodes of the AKS hybrid cluster"""
    if not await kube.has_context():
        wanted = f"to have the memory of its nodes checked, add a context called {target.name} to AKSBOT_KUBECONFIG"
        return NotApplicable(f"Azure hands out no kubeconfig for {cluster.name}; {wanted}")
    listing = await kube.list("/api/v1/nodes", read_node)
    return HybridNodes(
        source=listing.source, taken_at=listing.taken_at, truncated=listing.truncated, nodes=listing.items
    )


@collector(reads=(), sees=("list nodes.metrics.k8s.io",), deadline_s=10)
async def hybrid_memory_use(nodes: HybridNodes, kube: KubeReader) -> HybridMemoryUse | NotApplicable:
    """the memory in use by node of the AKS hybrid cluster"""
    return await read_memory_use(HybridMemoryUse, kube)


@collector(reads=(), sees=("list pods",), deadline_s=25)
async def hybrid_memory_kills(nodes: HybridNodes, kube: KubeReader) -> HybridMemoryKills:
    """the pods of the AKS hybrid cluster that were killed or evicted for lack of memory"""

    def add(kept: list[MemoryKill], body: Mapping[str, Any]) -> None:
        kept.extend(memory_kills(body, lambda: workload_of(body)))

    start: list[MemoryKill] = []
    swept = await kube.fold("/api/v1/pods", start.copy, add)
    return HybridMemoryKills(
        source=swept.source, taken_at=swept.taken_at, truncated=swept.truncated, kills=tuple(swept.value)
    )


@collector(reads=())
async def hybrid_short_of_memory(
    nodes: HybridNodes,
    use: HybridMemoryUse | NotApplicable | Unavailable,
    kills: HybridMemoryKills | Unavailable,
) -> HybridShortOfMemory:
    """the nodes of the AKS hybrid cluster that are short of memory"""
    ended = kills.kills if isinstance(kills, HybridMemoryKills) else ()
    return HybridShortOfMemory(
        source=nodes.source,
        taken_at=nodes.taken_at,
        truncated=any(isinstance(part, Evidence) and part.truncated for part in (nodes, use, kills)),
        gaps=tuple(part for part in (use, kills) if isinstance(part, Unavailable)),
        nodes=short_nodes(nodes.taken_at, nodes, use, (), ended),
    )


@collector(reads=(), sees=("list pods", "list pods.metrics.k8s.io"), deadline_s=15)
async def hybrid_pods_on_short_nodes(
    short: HybridShortOfMemory, kube: KubeReader
) -> HybridPodsOnShortNodes | NotApplicable:
    """the pods on the nodes of the AKS hybrid cluster that are short of memory"""
    return await read_pods_on(HybridPodsOnShortNodes, hybrid_pods_on_short_nodes.title, short, kube)
