"""Failed writes of machines outside scale sets: whom they are about.

Such a machine often does not exist, so it is known by its name alone: `aks-<pool>-<digits>-vms<n>` in a pool of type
VirtualMachines, `aks-<NodePool>-<five letters or digits>` where Karpenter makes it.
"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.evidence.azure import AgentPool, AgentPools, ManagedCluster
from handlers.evidence.monitor import ActivityLog, Event
from handlers.evidence.pool_sizes import SCALE_SETS
from handlers.model import Unavailable
from handlers.resource_id import within
from runbooks.linear import compile_linear

WRITE = "microsoft.compute/virtualmachines/write"
_NAME = compile_linear(r"/virtualmachines/(?P<stem>aks-[a-z0-9.-]+)-(?P<last>[a-z0-9]+)$", ignore_case=True)


def refused_machines(
    cluster: ManagedCluster, pools: AgentPools, log: ActivityLog | Unavailable
) -> Iterator[tuple[str, Event]]:
    """The last one of every pool and NodePool, and whom it is about; none where a machine came afterwards."""
    seen: set[str] = set()
    for event in log.events if isinstance(log, ActivityLog) else ():
        name = _NAME.search(event.resource)
        if event.operation.lower() != WRITE or name is None or not within(cluster.node_group_id, event.resource):
            continue
        stem = name["stem"].lower()
        if stem in seen or not (event.failed or event.succeeded):
            continue
        seen.add(stem)
        about = _about(cluster, _pool(stem, pools), event.resource)
        if event.failed and about:
            yield about, event


def _pool(stem: str, pools: AgentPools) -> AgentPool | None:
    lone = (pool for pool in pools.pools if pool.type.lower() != SCALE_SETS)
    return next((pool for pool in lone if stem.startswith(f"aks-{pool.name}-".lower())), None)


def _about(cluster: ManagedCluster, pool: AgentPool | None, machine: str) -> str:
    """A machine of node auto-provisioning stands for itself: neither the cluster nor a pool failed because of it."""
    if pool:
        return pool.id
    return machine if cluster.makes_own_nodes else ""
