"""What the cluster autoscaler makes of the pods that wait: which pools would take them, and which it may scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from handlers.diagnose.quota_demand import pool_of
from handlers.diagnose.scheduling.alike import alike
from handlers.diagnose.scheduling.growing import pools_that_would_take
from handlers.diagnose.scheduling.verdict import judge
from handlers.evidence.autoscaling import AutoscalerStatus, BackedOff
from handlers.evidence.azure import AgentPool, AgentPools, ManagedCluster
from handlers.evidence.compute import ScaleSets
from handlers.evidence.node_groups import NodeGroup
from handlers.evidence.scheduling.collect import Scheduling
from handlers.evidence.scheduling.demands import Demand
from handlers.evidence.scheduling.scale_up import Said, ScaleUps
from handlers.model import NotApplicable, Unavailable

NODE_COMES = timedelta(minutes=15)
"""How long it waits for a node that it asked for (max-node-provision-time)."""


@dataclass(frozen=True, slots=True)
class ClusterAutoscaler:
    """The cluster autoscaler, and the pods that wait for it."""

    cluster: ManagedCluster
    pools: AgentPools
    sets: ScaleSets | Unavailable
    status: AutoscalerStatus
    ups: ScaleUps | Unavailable | NotApplicable
    waiting: tuple[Demand, ...]
    takers: Mapping[str, frozenset[str]]
    """The pools of which one more node is enough, by the owner of the pods."""

    def would_take(self, pool: AgentPool, demand: Demand) -> bool:
        return pool.name.lower() in self.takers[demand.owner_id]

    def said(self, demand: Demand) -> Said | None:
        return self.ups.said.get(f"{demand.namespace}/{demand.name}") if isinstance(self.ups, ScaleUps) else None

    def group_of(self, pool: AgentPool) -> NodeGroup | None:
        return next((group for group in self.status.groups if pool_of(group.name, (pool,), self.sets)), None)

    def backed_off(self, pool: AgentPool) -> BackedOff | None:
        return next((group for group in self.status.backed_off if pool_of(group.group, (pool,), self.sets)), None)

    def is_full(self, pool: AgentPool) -> bool:
        """Whether it may have no more nodes, and has all that were asked for."""
        group = self.group_of(pool)
        if group:
            return 0 < group.most <= group.target and not group.on_their_way
        return 0 < pool.most_nodes <= pool.count

    def stuck(self) -> tuple[Demand, ...]:
        """The pods for which no node is on its way."""
        return tuple(demand for demand in self.waiting if not self._is_served(demand))

    def _is_served(self, demand: Demand) -> bool:
        said = self.said(demand)
        return said is not None and said.scales and self.status.taken_at - said.at < NODE_COMES

    def most(self, pool: AgentPool) -> int:
        """The most nodes that it may have."""
        group = self.group_of(pool)
        return group.most if group else pool.most_nodes

    def waiting_for(self, pool: AgentPool) -> list[Demand]:
        """The pods that wait for this pool. Of one without a node the autoscaler alone knows what would fit it."""
        stuck = self.stuck()
        if pool.count:
            return [demand for demand in stuck if self.would_take(pool, demand)]
        return [demand for demand in stuck if (said := self.said(demand)) and "backoff" in said.message]


def takers_of(waiting: tuple[Demand, ...], waits: Scheduling) -> Mapping[str, frozenset[str]]:
    """Every node is asked once per kind of pod: of thousands of nodes and hundreds of pods the product is too much."""
    firsts = {demand.owner_id: demand for demand in reversed(waiting)}
    takers: dict[str, frozenset[str]] = {}
    for group in alike(firsts.values(), waits):
        pools = pools_that_would_take(judge(group[0], waits))
        takers |= {demand.owner_id: pools for demand in group}
    return takers
