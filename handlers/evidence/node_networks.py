"""The virtual networks and subnets that nodes stand in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from handlers.clients.answers import Answer, Listing
from handlers.clients.arm.reader import ArmReader
from handlers.engine.declare import collector
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.gather import each
from handlers.evidence.network import NETWORK_API
from handlers.evidence.wire import dig, need_rows, need_text, rows, text, texts, whole
from handlers.model import Evidence, Unavailable, Why
from handlers.resource_id import last_name, same

MADE_BY_AKS = "aks-subnet"
"""What AKS calls the nodes' subnet in a network that it makes itself."""
_GATEWAYS = frozenset({"gatewaysubnet", "routeserversubnet"})


@dataclass(frozen=True, slots=True)
class Peering:
    """A peering of a virtual network, as far as traffic and name servers hang on it."""

    network: str
    space: tuple[str, ...]
    connected: bool
    remote_gateway: bool
    """It uses the other network's gateway, and gets the routes that this one learns."""


@dataclass(frozen=True, slots=True)
class Network:
    """One virtual network."""

    id: str
    space: tuple[str, ...]
    name_servers: tuple[str, ...]
    """Custom DNS servers; none where Azure's own answers."""
    peerings: tuple[Peering, ...]
    has_gateway: bool

    @property
    def name(self) -> str:
        return last_name(self.id)

    @property
    def learns_routes(self) -> bool:
        """Whether a gateway may propagate routes to it, which no route table shows."""
        return self.has_gateway or any(peering.remote_gateway for peering in self.peerings)

    @property
    def reach(self) -> tuple[str, ...]:
        """Its address space and that of the networks peered with it."""
        return (*self.space, *(prefix for peering in self.peerings if peering.connected for prefix in peering.space))


@dataclass(frozen=True, slots=True)
class NodeSubnet:
    """A subnet that nodes stand in, and what their packets meet there."""

    id: str
    name: str
    prefixes: tuple[str, ...]
    security_group: str
    route_table: str
    nat_gateway: str
    service_endpoints: tuple[str, ...]
    pools: tuple[str, ...]
    """The ids of the node pools whose nodes stand in it."""
    network: Network


@dataclass(frozen=True, kw_only=True)
class NodeNetworks(Evidence):
    """The virtual networks and subnets that nodes stand in."""

    subnets: tuple[NodeSubnet, ...]

    @property
    def networks(self) -> tuple[Network, ...]:
        return tuple({subnet.network.id.lower(): subnet.network for subnet in self.subnets}.values())


@collector(reads=("Microsoft.Network/virtualNetworks/read",))
async def node_networks(cluster: ManagedCluster, pools: AgentPools, arm: ArmReader) -> NodeNetworks:
    """the nodes' virtual networks"""
    in_subnets: dict[str, list[str]] = {}
    for pool in pools.pools:
        in_subnets.setdefault(pool.subnet.lower(), []).append(pool.id)
    paths = {
        pool.subnet.rsplit("/", 2)[0].lower(): pool.subnet.rsplit("/", 2)[0] for pool in pools.pools if pool.subnet
    }
    asked = list(paths.values())
    asked += [f"{cluster.node_group_id}/providers/Microsoft.Network/virtualNetworks"] if "" in in_subnets else []

    async def ask(path: str) -> Answer | Listing:
        is_list = path.lower().endswith("/virtualnetworks")
        return await (arm.list(path, NETWORK_API) if is_list else arm.get(path, NETWORK_API))

    answers, gaps = await each(asked, ask)
    bodies = [
        body for answer in answers for body in (whole(answer.items) if isinstance(answer, Listing) else [answer.body])
    ]
    found = tuple(subnet for body in bodies for subnet in _subnets(body, in_subnets, cluster.node_group_id))
    return NodeNetworks(
        source=", ".join(answer.source for answer in answers),
        taken_at=min((answer.taken_at for answer in answers), default=cluster.taken_at),
        truncated=pools.truncated or any(isinstance(answer, Listing) and answer.truncated for answer in answers),
        gaps=(*gaps, *_missing(in_subnets, found, gaps)),
        subnets=found,
    )


def _missing(
    in_subnets: Mapping[str, list[str]], found: tuple[NodeSubnet, ...], gaps: tuple[Unavailable, ...]
) -> Iterator[Unavailable]:
    """Pools whose subnet is in no network that was seen."""
    seen = {pool for subnet in found for pool in subnet.pools}
    lost = [pool for pools in in_subnets.values() for pool in pools if pool not in seen]
    if lost and not gaps:
        detail = f"no virtual network holds the subnet of pool {last_name(lost[0])}"
        yield Unavailable("the nodes' subnets", Why.ABSENT, detail)


def _subnets(body: Mapping[str, Any], pools: Mapping[str, list[str]], node_group: str) -> Iterator[NodeSubnet]:
    network = read_network(body)
    managed = same(network.id.split("/providers/", 1)[0], node_group)
    for row in need_rows(body, "properties", "subnets"):
        subnet = need_text(row, "id")
        inside = [*pools.get(subnet.lower(), ())]
        inside += pools.get("", ()) if managed and last_name(subnet).lower() == MADE_BY_AKS else ()
        if inside:
            yield read_node_subnet(row, network, tuple(inside))


def read_network(body: Mapping[str, Any]) -> Network:
    """A virtual network from its wire body."""
    subnets = rows(body, "properties", "subnets")
    return Network(
        id=need_text(body, "id"),
        space=texts(body, "properties", "addressSpace", "addressPrefixes"),
        name_servers=texts(body, "properties", "dhcpOptions", "dnsServers"),
        peerings=tuple(map(_peering, rows(body, "properties", "virtualNetworkPeerings"))),
        has_gateway=any(text(subnet, "name").lower() in _GATEWAYS for subnet in subnets),
    )


def read_node_subnet(body: Mapping[str, Any], network: Network, pools: tuple[str, ...]) -> NodeSubnet:
    """A subnet as its network shows it."""
    properties = dig(body, "properties")
    subnet = need_text(body, "id")
    return NodeSubnet(
        id=subnet,
        name=last_name(subnet),
        prefixes=texts(properties, "addressPrefixes") or (need_text(properties, "addressPrefix"),),
        security_group=text(properties, "networkSecurityGroup", "id"),
        route_table=text(properties, "routeTable", "id"),
        nat_gateway=text(properties, "natGateway", "id"),
        service_endpoints=tuple(text(row, "service") for row in rows(properties, "serviceEndpoints")),
        pools=pools,
        network=network,
    )


def _peering(body: Mapping[str, Any]) -> Peering:
    properties = dig(body, "properties")
    space = texts(properties, "remoteVirtualNetworkAddressSpace", "addressPrefixes")
    return Peering(
        network=text(properties, "remoteVirtualNetwork", "id"),
        space=space or texts(properties, "remoteAddressSpace", "addressPrefixes"),
        connected=text(properties, "peeringState").lower() == "connected",
        remote_gateway=dig(properties, "useRemoteGateways") is True,
    )
