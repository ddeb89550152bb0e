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
    for item in subnet_ids(pools):
        yield Place(item, f"the subnet {last_name(item)}", "no node or pod can join it")
    for item in outbound_ids(cluster):
        yield Place(item, f"the outbound address {last_name(item)}", "the load balancer cannot be changed")
    if cluster.private_zone.startswith("/"):
        zone = last_name(cluster.private_zone)
        yield Place(cluster.private_zone, f"the private DNS zone {zone}", "the API server's record cannot be renewed")
    if writes_routes(cluster) and isinstance(subnets, PoolSubnets):
        for item in dict.fromkeys(subnet.route_table for subnet in subnets.subnets if subnet.route_table):
            yield Place(item, f"the route table {last_name(item)}", "no new node gets a route to its pods")


def subnet_ids(pools: AgentPools) -> tuple[str, ...]:
    """The subnets of nodes and of pods that people brought themselves."""
    named = {item.lower(): item for pool in pools.pools for item in (pool.subnet, pool.pod_subnet) if item}
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
    for item in named:
        known.setdefault(text(item, "id").lower(), text(item, "id"))
    return tuple(entry for entry in known.values() if entry and not within(cluster.node_group_id, entry))


def brought(cluster: ManagedCluster, pools: AgentPools) -> tuple[str, ...]:
    """What people brought to the cluster and the cluster itself names."""
    zone = (cluster.private_zone,) if cluster.private_zone.startswith("/") else ()
    return (*subnet_ids(pools), *outbound_ids(cluster), *zone)


def writes_routes(cluster: ManagedCluster) -> bool:
    """With kubenet a route to every node's pods is kept in the route table of the nodes' subnet."""
    return text(cluster.network, "networkPlugin").lower() == "kubenet"
