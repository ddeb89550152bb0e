"""Where in Azure AKS acts for a cluster, and what it must be able to do there: what a lock can stand in the way of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.network import PoolSubnets
from handlers.evidence.wire import rows, text
from handlers.model import NotApplicable, Unavailable
from handlers.resource_id import last_name, within

Subnets = PoolSubnets | Unavailable | NotApplicable


@dataclass(frozen=True, slots=True)
class Place:
    """A group or resource that AKS works on, and what comes to a halt where it may not."""

    id: str
    what: str
    stops: str
    """What a ReadOnly lock stops."""
    deletes: bool = False
    """AKS deletes below it, too: nodes with their disks and network interfaces, parts of load balancers."""

    def held_by(self, scope: str) -> bool:
        """Whether what is put on a scope reaches it: from above, or somewhere below."""
        return within(scope, self.id) or within(self.id, scope)


def places(cluster: ManagedCluster, pools: AgentPools, subnets: Subnets) -> Iterator[Place]:
    """All of them, the one that matters most first.

    Deletes happen in the node resource group alone. What people bring themselves (networks, addresses, a DNS zone) AKS
    joins and writes to, and never deletes, so a CanNotDelete lock there is as harmless as one on the cluster.
    """
    node_group = f"the node resource group {cluster.node_group}"
    yield Place(cluster.node_group_id, node_group, "no node, disk or load balancer rule can be made", deletes=True)
    yield Place(cluster.id, f"the cluster {cluster.name}", "no update, upgrade or scaling is accepted")
    for one in subnet_ids(pools):
        yield Place(one, f"the subnet {last_name(one)}", "no node or pod can join it")
    for one in outbound_ids(cluster):
        yield Place(one, f"the outbound address {last_name(one)}", "the load balancer cannot be changed")
    if cluster.private_zone.startswith("/"):
        zone = last_name(cluster.private_zone)
        yield Place(cluster.private_zone, f"the private DNS zone {zone}", "the API server's record cannot be renewed")
    if writes_routes(cluster) and isinstance(subnets, PoolSubnets):
        for one in dict.fromkeys(subnet.route_table for subnet in subnets.subnets if subnet.route_table):
            yield Place(one, f"the route table {last_name(one)}", "no new node gets a route to its pods")


def subnet_ids(pools: AgentPools) -> tuple[str, ...]:
    """The subnets of nodes and of pods that people brought themselves."""
    named = {one.lower(): one for pool in pools.pools for one in (pool.subnet, pool.pod_subnet) if one}
    return tuple(named.values())


def outbound_ids(cluster: ManagedCluster) -> tuple[str, ...]:
    """The addresses and prefixes that the cluster goes out by and that people brought themselves."""
    balancer = "loadBalancerProfile"
    named = [
        *rows(cluster.network, balancer, "outboundIPs", "publicIPs"),
        *rows(cluster.network, balancer, "outboundIPPrefixes", "publicIPPrefixes"),
        *rows(cluster.network, balancer, "effectiveOutboundIPs"),
    ]
    known: dict[str, str] = {}
    for one in named:
        known.setdefault(text(one, "id").lower(), text(one, "id"))
    return tuple(one for one in known.values() if one and not within(cluster.node_group_id, one))


def brought(cluster: ManagedCluster, pools: AgentPools) -> tuple[str, ...]:
    """What people brought to the cluster and the cluster itself names."""
    zone = (cluster.private_zone,) if cluster.private_zone.startswith("/") else ()
    return (*subnet_ids(pools), *outbound_ids(cluster), *zone)


def writes_routes(cluster: ManagedCluster) -> bool:
    """With kubenet a route to every node's pods is kept in the route table of the nodes' subnet."""
    return text(cluster.network, "networkPlugin").lower() == "kubenet"
