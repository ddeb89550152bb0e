"""How much memory the nodes use now, as the metrics server measures it (metrics.k8s.io, what `kubectl top` shows)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from handlers.clients.errors import NotFound, Unreachable
from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.cluster import Nodes
from handlers.evidence.quantity import in_bytes
from handlers.evidence.wire import dig, need_text
from handlers.model import Evidence, NotApplicable, Unavailable

NODE_METRICS = "/apis/metrics.k8s.io/v1beta1/nodes"
POD_METRICS = "/apis/metrics.k8s.io/v1beta1/pods"
POOL = "kubernetes.azure.com/agentpool"
MANY_NODES = 1_000
"""The metrics server has no pages: of more nodes than these, it is asked pool by pool."""


@dataclass(frozen=True, kw_only=True)
class NodeMemoryUse(Evidence):
    """The working set of each node in bytes: what cannot be given back without ending somebody."""

    used: Mapping[str, int]


Use = TypeVar("Use", bound=NodeMemoryUse)


@collector(reads=(), sees=("list nodes.metrics.k8s.io",), deadline_s=10)
async def node_memory_use(
    cluster: ManagedCluster, nodes: Nodes | Unavailable, kube: KubeReader
) -> NodeMemoryUse | NotApplicable:
    """the memory in use by node"""
    if cluster.stopped:
        return NotApplicable(f"{cluster.name} is stopped: nothing runs in it")
    return await read_memory_use(NodeMemoryUse, kube, selectors(nodes))


async def read_memory_use(kind: type[Use], kube: KubeReader, parts: Sequence[str] = ("",)) -> Use | NotApplicable:
    """What the metrics server of any cluster measures. `parts`: label selectors, asked one after the other."""
    try:
        listings = [await kube.list(NODE_METRICS, _used, labels=labels) for labels in parts]
    except NotFound:
        return NotApplicable("this cluster has no metrics server (metrics.k8s.io)")
    except Unreachable as error:
        # Whether run-command brings anything at all, the nodes themselves tell.
        if "run-command does not ask for this" not in error.detail:
            raise
        return NotApplicable("run-command does not ask the metrics server")
    return kind(
        source=listings[0].source if len(parts) == 1 else f"{NODE_METRICS}, by pool",
        taken_at=listings[0].taken_at,
        truncated=any(listing.truncated for listing in listings),
        used={name: amount for listing in listings for name, amount in listing.items if amount is not None},
    )


def selectors(nodes: Nodes | Unavailable, most: int = MANY_NODES) -> tuple[str, ...]:
    """Selectors that together choose every node once, also one that belongs to no pool."""
    if isinstance(nodes, Unavailable) or len(nodes.nodes) <= most:
        return ("",)
    pools = sorted({node.pool for node in nodes.nodes if node.pool})
    return (*(f"{POOL}={pool}" for pool in pools), f"{POOL} notin ({','.join(pools)})") if pools else ("",)


def _used(body: Mapping[str, Any]) -> tuple[str, int | None]:
    return need_text(body, "metadata", "name"), in_bytes(dig(body, "usage", "memory"))
