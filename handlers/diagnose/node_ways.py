"""The way out of each subnet that nodes stand in, for the questions that hang on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from handlers.egress.exits import NO_OUTBOUND, Outbound, leave
from handlers.egress.packet import Packet
from handlers.egress.rules import Passage, SecurityGroup
from handlers.egress.way import Place, Way, around, way_out
from handlers.evidence.azure import AgentPool, AgentPools, ManagedCluster
from handlers.evidence.complaints import Complaint, Complaints
from handlers.evidence.compute import Instance, Instances, ScaleSets
from handlers.evidence.node_networks import NodeNetworks, NodeSubnet
from handlers.evidence.way_out import PacketFilters
from handlers.evidence.wire import dig, rows, text
from handlers.model import Unavailable, Why
from handlers.resource_id import last_name

PLATFORM_DNS = "168.63.129.16"


@dataclass(frozen=True, slots=True)
class NodeWay:
    """One subnet of nodes: its pools, and what their packets meet."""

    subnet: NodeSubnet
    pools: tuple[AgentPool, ...]
    place: Place
    scale_sets: tuple[str, ...] = ()
    """The names of its pools' scale sets."""

    def of(self, packet: Packet) -> Way:
        return way_out(packet, self.place)

    @property
    def named(self) -> str:
        many = "s" if len(self.pools) > 1 else ""
        return f"pool{many} {', '.join(pool.name for pool in self.pools)} in subnet {self.subnet.name}"

    @property
    def name_servers(self) -> tuple[str, ...]:
        """Custom DNS servers of its network."""
        return tuple(server for server in self.subnet.network.name_servers if server != PLATFORM_DNS)


def node_ways(
    cluster: ManagedCluster, pools: AgentPools, networks: NodeNetworks, filters: PacketFilters, sets: ScaleSets
) -> Iterator[NodeWay | Unavailable]:
    """Each subnet with what is known of its way out, or what of it was not seen."""
    yield from networks.gaps
    yield from filters.gaps
    for subnet in networks.subnets:
        lacks = filters.lacks(subnet)
        if lacks and not filters.gaps:
            yield Unavailable(last_name(lacks), Why.ABSENT, f"subnet {subnet.name} names it, and it was not found")
        if not lacks:
            mine = tuple(pool for pool in pools.pools if pool.id in subnet.pools)
            names = tuple(found.name for pool in mine if (found := sets.of(pool)))
            yield NodeWay(subnet, mine, _place(cluster, mine, subnet, filters, sets), names)


def _place(
    cluster: ManagedCluster,
    pools: tuple[AgentPool, ...],
    subnet: NodeSubnet,
    filters: PacketFilters,
    sets: ScaleSets,
) -> Place:
    table = filters.tables.get(subnet.route_table.lower())
    nat = filters.gateways.get(subnet.nat_gateway.lower())
    return Place(
        around=around(
            subnet.prefixes,
            subnet.network.reach,
            table,
            gateway=subnet.network.learns_routes,
            endpoints=bool(subnet.service_endpoints),
        ),
        groups=tuple(_groups(pools, subnet, filters, sets)),
        table=table,
        exit=leave(_outbound(cluster, pools), subnet.name, subnet.id, nat),
    )


def _groups(
    pools: tuple[AgentPool, ...], subnet: NodeSubnet, filters: PacketFilters, sets: ScaleSets
) -> Iterator[SecurityGroup]:
    """Those of the interfaces stand before that of the subnet."""
    of_sets = [group for pool in pools if (found := sets.of(pool)) for group in found.security_groups]
    named = dict.fromkeys(item.lower() for item in (*of_sets, subnet.security_group) if item)
    yield from (filters.groups[item] for item in named if item in filters.groups)


def outbound_type(cluster: ManagedCluster) -> str:
    """As Azure writes it; clusters that name none leave through a load balancer."""
    return text(cluster.network, "outboundType") or "loadBalancer"


def is_isolated(cluster: ManagedCluster) -> bool:
    """AKS made no way out for it."""
    return outbound_type(cluster).lower() in NO_OUTBOUND


def _outbound(cluster: ManagedCluster, pools: tuple[AgentPool, ...]) -> Outbound:
    kind = outbound_type(cluster).lower()
    profile = {"loadbalancer": "loadBalancerProfile", "managednatgateway": "natGatewayProfile"}.get(kind, "")
    known = isinstance(dig(cluster.network, profile, "effectiveOutboundIPs"), list) and not cluster.busy
    return Outbound(
        kind=kind,
        addresses=len(rows(cluster.network, profile, "effectiveOutboundIPs")) if known else None,
        cluster=cluster.id,
        nodes_have_addresses=any(pool.node_addresses for pool in pools),
        basic=text(cluster.network, "loadBalancerSku").lower() == "basic",
    )


@dataclass(frozen=True, slots=True)
class Symptoms:
    """What Azure or a node's machine says of a way that did not work, for the nodes of one subnet."""

    complaints: tuple[Complaint, ...]
    machines: tuple[Instance, ...]

    def __bool__(self) -> bool:
        return bool(self.complaints or self.machines)

    @property
    def lines(self) -> tuple[str, ...]:
        told = [str(self.complaints[0])] if self.complaints else []
        told += [f"{machine.name}: {machine.extension_errors[0]}" for machine in self.machines[:1] if not told]
        return tuple(told)

    @property
    def subjects(self) -> tuple[str, ...]:
        return tuple(machine.id for machine in self.machines)


def failed_alike(machines: Iterable[Instance], pools: Iterable[AgentPool]) -> tuple[str, ...]:
    """The pools with several of these machines: what they share is told once, about their pool."""
    count = Counter(machine.pool.lower() for machine in machines)
    return tuple(pool.id for pool in pools if count[pool.name.lower()] > 1)


def failures_that_name_nothing(complaints: Complaints, cluster: ManagedCluster, way: NodeWay) -> bool:
    """Whether something has failed here for which Azure names no cause: the way out may be it."""
    subjects = (cluster.id, *(pool.id for pool in way.pools))
    found = [subject for subject in map(complaints.failure, subjects) if subject]
    return any(not failure.named for failure in found)


def machines_of(instances: Instances | Unavailable, way: NodeWay) -> tuple[Instance, ...]:
    """The machines of its pools that have an error of an extension."""
    if isinstance(instances, Unavailable):
        return ()
    return tuple(instance for pool in way.pools for instance in instances.of(pool) if instance.extension_errors)


def worst(ways: list[tuple[Packet, Way]]) -> Passage:
    """The worst that happens to any of them."""
    order = (Passage.DENIED, Passage.BEYOND, Passage.UNKNOWN, Passage.OPEN)
    return min((way.passage for _, way in ways), key=order.index, default=Passage.OPEN)
