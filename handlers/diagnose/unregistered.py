"""Machines that run and whose node is not in the cluster: it was deleted there, or never joined."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from handlers.diagnose.node_machines import JOINING, OFF
from handlers.evidence.azure import AgentPool, AgentPools, ManagedCluster
from handlers.evidence.cluster import Nodes
from handlers.evidence.compute import Instance, Instances
from handlers.model import Unavailable, Why

RUNNING = "running"


@dataclass(frozen=True, slots=True)
class Unregistered:
    """A machine that should be a node and is none. `excuse`: why that is as it should be, if it is."""

    machine: Instance
    pool: AgentPool | None
    excuse: str = ""

    @property
    def name(self) -> str:
        """What its node would be called."""
        return self.machine.computer or self.machine.name


def unregistered(
    cluster: ManagedCluster, pools: AgentPools, nodes: Nodes, instances: Instances
) -> Iterator[Unregistered | Unavailable]:
    """Every machine without a node; what keeps us from saying whether one should have it is open."""
    ids = {node.machine.lower() for node in nodes.nodes}
    names = {node.name.lower() for node in nodes.nodes}
    # A node that tells no machine, or another one, may be that of a machine that tells no name.
    strangers = [node.name for node in nodes.nodes if node.machine.lower() not in instances.by_id]
    by_name = {pool.name.lower(): pool for pool in pools.pools}
    for machine in instances.machines:
        pool = by_name.get(machine.pool.lower())
        ours = pool is not None or bool(machine.provisioned_for)  # others' machines may stand in the group
        if not ours or machine.id.lower() in ids or machine.computer.lower() in names:
            continue
        missing = Unregistered(machine, pool, _excuse(cluster, pool, machine))
        if not missing.excuse and not machine.computer and strangers:
            detail = f"it tells no computer name, and node {strangers[0]} no machine that is known"
            yield Unavailable(f"the node of machine {machine.name}", Why.ABSENT, detail)
        elif missing.excuse or machine.power.lower() == RUNNING:
            yield missing
        else:
            detail = f"it is no node, and its instance view tells {machine.power or 'no power state'}"
            yield Unavailable(f"whether machine {machine.name} runs", Why.ABSENT, detail)


def _excuse(cluster: ManagedCluster, pool: AgentPool | None, machine: Instance) -> str:
    if cluster.coming_or_going:
        return f"waits: cluster {cluster.name} is {cluster.state}"
    if machine.busy:
        return f"is {machine.state} at this moment"
    if machine.created and cluster.taken_at - machine.created < JOINING:
        return "has just been created"
    if machine.power.lower() in OFF:
        return f"is {machine.power}"
    if machine.failed:
        return "is Failed, which is a finding of its own"
    if pool and (pool.busy or pool.stopped):
        return f"is on its way: pool {pool.name} is {'stopped' if pool.stopped else pool.state}"
    return ""
