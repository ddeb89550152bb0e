"""Pools that have fewer machines than they were asked for: somebody deleted them in Compute, or their scale set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from handlers.evidence.azure import AgentPool, AgentPools, ManagedCluster
from handlers.evidence.cluster import Nodes
from handlers.evidence.compute import Instances


@dataclass(frozen=True, slots=True)
class ShortPool:
    """A pool at rest that lacks machines."""

    pool: AgentPool
    machines: int
    nodes: int

    @property
    def missing(self) -> int:
        return self.pool.count - max(self.machines, self.nodes)


def short_pools(cluster: ManagedCluster, pools: AgentPools, nodes: Nodes, instances: Instances) -> Iterator[ShortPool]:
    """Every pool whose count is a person's and is not met. A node counts too: its machine may have lost its tags.

    An autoscaler sets its own counts, and Azure takes spot machines back without a word to AKS.
    """
    if cluster.busy or cluster.stopped:
        return
    for pool in pools.pools:
        if pool.busy or pool.failed or pool.stopped or pool.autoscaled or pool.spot:
            continue
        short = ShortPool(pool, len(instances.of(pool)), len(nodes.of(pool.name)))
        if short.missing > 0:
            yield short
