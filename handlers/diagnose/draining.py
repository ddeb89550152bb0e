"""Which nodes Azure is trying to empty: cordoned ones of a pool whose upgrade runs or failed, and those it names."""

from __future__ import annotations

from dataclasses import dataclass

from handlers.evidence.azure import AgentPool, AgentPools, ManagedCluster
from handlers.evidence.cluster import Node, Nodes
from handlers.evidence.complaints import Complaint, Complaints
from handlers.evidence.drains import named_nodes, speaks_of_drain
from handlers.version import meets, newest


@dataclass(frozen=True, slots=True)
class Draining:
    """One pool that is being emptied node by node, and what Azure said about that."""

    pool: AgentPool
    nodes: tuple[Node, ...]
    gone: tuple[str, ...]
    """Nodes that Azure named and that do not exist any more."""
    told: tuple[Complaint, ...]


def draining(pools: AgentPools, nodes: Nodes, complaints: Complaints) -> tuple[Draining, ...]:
    """Pools in which something must be drained now. A node that a person has cordoned is none of that."""
    known = {node.name for node in nodes.nodes}
    found = []
    for pool in pools.pools:
        told = _told(pool, nodes, complaints)
        if not (pool.state.lower().startswith(("upgrading", "deleting")) or (pool.failed and told)):
            continue
        named = {name for complaint in told for name in named_nodes(complaint.error)}
        mine = tuple(n for n in nodes.of(pool.name) if n.cordoned or n.quarantined or n.name in named)
        found.append(Draining(pool, mine, tuple(sorted(named - known)), told))
    return tuple(found)


def named_or_cordoned(emptied: tuple[Draining, ...]) -> bool:
    """Whether any node is to be emptied: without one, it does not matter which pods stand where."""
    return any(draining.nodes or draining.gone for draining in emptied)


def asked_version(cluster: ManagedCluster, pool: AgentPool | None, nodes: tuple[Node, ...] = ()) -> str:
    """The version to which the same upgrade goes, if it is run again.

    The control plane may be minor versions ahead of what the pool was asked for. It has the patch, where only a minor
    version was asked for. Where the pool says that it runs what it was asked to, its newest node has that version.
    """
    control_plane = cluster.current_version or cluster.version
    if pool is None:
        return control_plane
    if pool.upgrading:
        return control_plane if meets(control_plane, pool.version) else pool.version
    versions = {node.version for node in nodes if node.version}
    return newest(versions) if len(versions) > 1 else control_plane or pool.version


def _told(pool: AgentPool, nodes: Nodes, complaints: Complaints) -> tuple[Complaint, ...]:
    """What was said of the pool itself, and of the cluster (all pools at once) about one of its nodes."""
    mine = {node.name for node in nodes.of(pool.name)}
    of_pool = _of_drains(complaints, pool.id)
    of_cluster = _of_drains(complaints, pool.id.rsplit("/agentPools/", 1)[0])
    return of_pool or tuple(
        complaint for complaint in of_cluster if not (told := named_nodes(complaint.error)) or told & mine
    )


def _of_drains(complaints: Complaints, subject: str) -> tuple[Complaint, ...]:
    return tuple(complaint for complaint in complaints.about(subject) if speaks_of_drain(complaint.error))
