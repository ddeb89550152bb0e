"""The parts of a plan that PUTs a cluster or pool as it was read: steps, permissions, preconditions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from shlex import quote
from typing import Any

from handlers.evidence.azure import AgentPool, AgentPools, ManagedCluster
from handlers.evidence.governance import RoleAssignments
from handlers.evidence.linked import JOIN, JOIN_ADDRESS, JOIN_BALANCER, JOIN_PREFIX, READ_DISK_KEY, READ_WORKSPACE
from handlers.remedy.plan import Forbidden, Step, Verb
from handlers.remedy.reasons import Absent, Act
from handlers.resource_id import last_name

CLUSTER_WRITE = "Microsoft.ContainerService/managedClusters/write"
POOL_WRITE = "Microsoft.ContainerService/managedClusters/agentPools/write"
ASSIGN = "Microsoft.ManagedIdentity/userAssignedIdentities/assign/action"
ASKED_OF_A_POOL = (JOIN, ASSIGN)
ASKED_OF_A_CLUSTER = (*ASKED_OF_A_POOL, JOIN_BALANCER, JOIN_ADDRESS, JOIN_PREFIX, READ_DISK_KEY, READ_WORKSPACE)
"""The linked permissions that the writer's role has by default: joining and looking. What would hand it the keys of a
workspace, or let it change a gateway, a solution or a placement group, is granted where someone wants that."""


def pool_acts(pool: AgentPool) -> tuple[Act, ...]:
    """Azure requires subnets/join from whoever PUTs a pool, even if its subnet does not change."""
    return Act(POOL_WRITE, pool.id), *(Act(link.action, link.resource, linked=True) for link in pool.linked)


def cluster_acts(cluster: ManagedCluster, pools: AgentPools) -> tuple[Act, ...]:
    """The same for every resource that a cluster and its pools link to."""
    named = dict.fromkeys([*cluster.linked, *(link for pool in pools.pools for link in pool.linked)])
    asked = (Act(link.action, link.resource, linked=True) for link in named)
    return (
        Act(CLUSTER_WRITE, cluster.id),
        *asked,
        *(Act(ASSIGN, identity, linked=True) for identity in cluster.own_identities),
    )


def zone_is_written(cluster: ManagedCluster, roles: RoleAssignments | Absent) -> Iterator[Forbidden]:
    """AKS checks whether the cluster's own identity may write to a custom private DNS zone."""
    zone = cluster.private_zone
    if not zone.startswith("/") or not isinstance(roles, RoleAssignments) or not roles.complete:
        return
    if not any(role.covers(zone) for role in roles.roles):
        what = f"no identity of the cluster has a role on the private DNS zone {last_name(zone)}: Azure refuses the PUT"
        yield Forbidden(what, f"grant the cluster's identity Private DNS Zone Contributor on {zone}")


def zone_doubts(cluster: ManagedCluster, roles: RoleAssignments | Absent) -> tuple[str, ...]:
    """The warning if that permission could not be checked."""
    seen = isinstance(roles, RoleAssignments) and roles.complete
    asked = cluster.private_zone.startswith("/") and not seen
    return (f"could not see whether the cluster may write to {last_name(cluster.private_zone)}",) if asked else ()


def put_pool(pool: AgentPool, cluster: ManagedCluster) -> Step:
    return Step(
        verb=Verb.PUT_POOL_AS_READ,
        target=pool.id,
        says=f"Reconcile node pool {pool.name} of {cluster.name} (no configuration change)",
        request=f"PUT {pool.id}, the body as read, If-Match {pool.etag}",
        command=f"az resource update --ids {quote(pool.id)}",
        arguments={"etag": pool.etag},
    )


def put_cluster(cluster: ManagedCluster, pools: AgentPools, written: Iterable[AgentPool]) -> Step:
    """Pools that an earlier step writes get new eTags from it, and so may the cluster.

    Then the executor sends the eTag of its own read, and only the other pools' eTags are known beforehand.
    """
    before = {pool.id for pool in written}
    etag = "" if before else cluster.etag
    return Step(
        verb=Verb.PUT_CLUSTER_AS_READ,
        target=cluster.id,
        says=f"Reconcile cluster {cluster.name} (no configuration change)",
        request=f"PUT {cluster.id}, the body as read, If-Match {etag or 'the eTag read right before'}",
        command=f"az resource update --ids {quote(cluster.id)}",
        arguments={"etag": etag, "pools": {pool.id: pool.etag for pool in pools.pools if pool.id not in before}},
    )


def pool_before(pool: AgentPool) -> Mapping[str, Any]:
    return {
        f"state of pool {pool.name}": pool.state,
        f"version of pool {pool.name}": pool.current_version or pool.version,
        f"node image of pool {pool.name}": pool.node_image,
        f"eTag of pool {pool.name}": pool.etag,
    }


def cluster_before(cluster: ManagedCluster) -> Mapping[str, Any]:
    return {
        f"state of cluster {cluster.name}": cluster.state,
        f"version of cluster {cluster.name}": cluster.current_version or cluster.version,
        f"eTag of cluster {cluster.name}": cluster.etag,
    }


def untagged(tags: Mapping[str, str]) -> Iterator[Forbidden]:
    """Without an eTag, the PUT could undo a concurrent change."""
    for name, tag in tags.items():
        if not tag:
            yield Forbidden(f"Azure gave no eTag for {name}", "reconcile it by hand, while no one else changes it")


def risks(pools: Iterable[AgentPool]) -> tuple[str, ...]:
    scaled = [pool.name for pool in pools if pool.autoscaled]
    return (
        "it may fail again for the same reason: what is Failed stays Failed",
        "Azure may add nodes that are missing; it replaces none, as far as their versions and images tell",
        *([f"the autoscaler of {', '.join(scaled)} may be at work: its count goes back as read"] if scaled else []),
    )
