"""How much memory the nodes use now, as the metrics server measures it (metrics.k8s.io, what `kubectl top` shows)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from handlers.clients.errors import NotFound, Unreachable
from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.quantity import in_bytes
from handlers.evidence.wire import dig, need_text
from handlers.model import Evidence, NotApplicable

NODE_METRICS = "/apis/metrics.k8s.io/v1beta1/nodes"
POD_METRICS = "/apis/metrics.k8s.io/v1beta1/pods"


@dataclass(frozen=True, kw_only=True)
class NodeMemoryUse(Evidence):
    """The working set of each node in bytes: what cannot be given back without ending somebody."""

    used: Mapping[str, int]


Use = TypeVar("Use", bound=NodeMemoryUse)


@collector(reads=(), sees=("list nodes.metrics.k8s.io",), deadline_s=10)
async def node_memory_use(cluster: ManagedCluster, kube: KubeReader) -> NodeMemoryUse | NotApplicable:
    """the memory in use by node"""
    if cluster.stopped:
        return NotApplicable(f"{cluster.name} is stopped: nothing runs in it")
    return await read_memory_use(NodeMemoryUse, kube)


async def read_memory_use(kind: type[Use], kube: KubeReader) -> Use | NotApplicable:
    """What the metrics server of any cluster measures."""
    try:
        listing = await kube.list(NODE_METRICS, _used)
    except NotFound:
        return NotApplicable("this cluster has no metrics server (metrics.k8s.io)")
    except Unreachable as error:
        # Whether run-command brings anything at all, the nodes themselves tell.
        if "run-command does not ask for this" not in error.detail:
            raise
        return NotApplicable("run-command does not ask the metrics server")
    used = {name: amount for name, amount in listing.items if amount is not None}
    return kind(source=listing.source, taken_at=listing.taken_at, truncated=listing.truncated, used=used)


def _used(body: Mapping[str, Any]) -> tuple[str, int | None]:
    return need_text(body, "metadata", "name"), in_bytes(dig(body, "usage", "memory"))
