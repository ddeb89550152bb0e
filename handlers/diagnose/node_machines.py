"""The machine behind a node: whether it is there, and whether it is on."""

from __future__ import annotations

from datetime import timedelta

from handlers.evidence.azure import AgentPool
from handlers.evidence.cluster import Node
from handlers.evidence.compute import Instance, Instances
from handlers.model import Unavailable

JOINING = timedelta(minutes=10)
"""A new node needs a few minutes for its network plugin and images before it is Ready."""
OFF = frozenset({"stopped", "stopping", "deallocated", "deallocating"})


def machine_of(node: Node, instances: Instances | Unavailable) -> Instance | None:
    return instances.by_id.get(node.machine.lower()) if isinstance(instances, Instances) else None


def may_be_off(node: Node, pool: AgentPool | None, machine: Instance | None, seen: Instances | Unavailable) -> bool:
    """Whether it may just have been evicted or switched off, as its pool's machines are, and nobody could look."""
    unseen = machine is None and (isinstance(seen, Unavailable) or not seen.complete)
    switched = node.spot or (pool is not None and (pool.parks_nodes or pool.stopped))
    return unseen and switched and node.ready.status == "Unknown"


def gone_or_off(node: Node, machine: Instance | None, seen: Instances | Unavailable) -> bool:
    if machine is None:
        return isinstance(seen, Instances) and seen.would_show(node.machine)
    return machine.power.lower() in OFF or machine.state.lower() == "deleting"
