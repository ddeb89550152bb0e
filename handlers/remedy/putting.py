"""What a PUT of a cluster or pool, as it was read, is made of: steps, permissions, what must not move before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from shlex import quote
from typing import Any

from handlers.evidence.azure import AgentPool, AgentPools, ManagedCluster
from handlers.remedy.plan import Forbidden, Step, Verb
from handlers.remedy.reasons import Act

CLUSTER_WRITE = "Microsoft.ContainerService/managedClusters/write"
POOL_WRITE = "Microsoft.ContainerService/managedClusters/agentPools/write"
JOIN = "Microsoft.Network/virtualNetworks/subnets/join/action"
ASSIGN = "Microsoft.ManagedIdentity/userAssignedIdentities/assign/action"


def pool_acts(pool: AgentPool) -> tuple[Act, ...]:
    """Azure asks who sends a pool whether they may put machines into its subnets, also when that is nothing new."""
    subnets = dict.fromkeys(one for one in (pool.subnet, pool.pod_subnet) if one)
    return Act(POOL_WRITE, pool.id), *(Act(JOIN, one, linked=True) for one in subnets)


def cluster_acts(cluster: ManagedCluster, pools: AgentPools) -> tuple[Act, ...]:
    subnets = dict.fromkeys(one for pool in pools.pools for one in (pool.subnet, pool.pod_subnet) if one)
    joins = (Act(JOIN, one, linked=True) for one in subnets)
    return Act(CLUSTER_WRITE, cluster.id), *joins, *(Act(ASSIGN, one, linked=True) for one in cluster.own_identities)


def put_pool(pool: AgentPool, cluster: ManagedCluster) -> Step:
    return Step(
        verb=Verb.PUT_POOL_AS_READ,
        target=pool.id,
        says=f"Send node pool {pool.name} of {cluster.name} to Azure again as it is",
        request=f"PUT {pool.id}, the body as read, If-Match {pool.etag}",
        command=f"az resource update --ids {quote(pool.id)}",
        arguments={"etag": pool.etag},
    )


def put_cluster(cluster: ManagedCluster, pools: AgentPools, written: Iterable[AgentPool]) -> Step:
    """Pools that an earlier step of the plan writes get new eTags from it, and so may the cluster.

    Then the eTag to send is the one of the executor's own read, and only the other pools' are known beforehand.
    """
    before = {pool.id for pool in written}
    etag = "" if before else cluster.etag
    return Step(
        verb=Verb.PUT_CLUSTER_AS_READ,
        target=cluster.id,
        says=f"Send cluster {cluster.name} to Azure again as it is",
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
    """Without an eTag nothing keeps the PUT from undoing what somebody changes in the same second."""
    for name, tag in tags.items():
        if not tag:
            yield Forbidden(f"Azure gave no eTag for {name}", "reconcile it by hand, while nobody else changes it")


def risks(pools: Iterable[AgentPool]) -> tuple[str, ...]:
    scaled = [pool.name for pool in pools if pool.autoscaled]
    return (
        "it may fail again for the same reason: what is Failed stays Failed",
        "Azure may add nodes that are missing; it replaces none, as far as their versions and images tell",
        *([f"the autoscaler of {', '.join(scaled)} may be at work: its count goes back as read"] if scaled else []),
    )
