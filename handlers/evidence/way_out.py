"""What nodes' packets meet on their way out: security groups, route tables, NAT gateways; and what nodes must reach."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from handlers.clients.arm.reader import ArmReader
from handlers.egress.exits import NatGateway
from handlers.egress.needed import PUBLISHED, published
from handlers.egress.packet import EVERYTHING, Packet, network
from handlers.egress.routes import Hop, Route, RouteTable
from handlers.egress.rules import Rule, SecurityGroup
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.compute import ScaleSets
from handlers.evidence.gather import each
from handlers.evidence.network import NETWORK_API
from handlers.evidence.node_networks import NodeNetworks, NodeSubnet
from handlers.evidence.wire import dig, need_number, need_text, number, rows, text, texts, whole
from handlers.model import CannotSee, Evidence, NotApplicable, Unavailable, Why
from handlers.resource_id import last_name

ENDPOINTS_API = "2024-09-01"
_ENDPOINTS = "outboundNetworkDependenciesEndpoints"
_NOT_TCP = frozenset({53, 123, 1194})
"""Ports that nodes reach by UDP, where the list does not name a protocol: names, time, the old tunnel."""


@dataclass(frozen=True, kw_only=True)
class PacketFilters(Evidence):
    """The security groups, route tables and NAT gateways of the nodes' subnets and interfaces, by lower-case id."""

    groups: Mapping[str, SecurityGroup]
    tables: Mapping[str, RouteTable]
    gateways: Mapping[str, NatGateway]

    def lacks(self, subnet: NodeSubnet) -> str:
        """The id of something that the subnet names and that was not seen."""
        named = (
            (subnet.security_group, self.groups),
            (subnet.route_table, self.tables),
            (subnet.nat_gateway, self.gateways),
        )
        return next((item for item, seen in named if item and item.lower() not in seen), "")

    def goes_elsewhere(self, subnet: NodeSubnet) -> bool:
        """Whether its default route leads past its NAT gateway, such as to an appliance."""
        table = self.tables.get(subnet.route_table.lower())
        default = (
            next((route for route in table.routes if network(route.prefix) == EVERYTHING), None) if table else None
        )
        return default is not None and default.hop is not Hop.INTERNET

    def nat_subnets(self, networks: NodeNetworks) -> tuple[list[NodeSubnet], tuple[Unavailable, ...]]:
        """The subnets whose nodes leave through a NAT gateway, and the route tables that could not tell."""
        behind = [subnet for subnet in networks.subnets if subnet.nat_gateway]
        unseen = [name for subnet in behind if (name := subnet.route_table) and name.lower() not in self.tables]
        detail = "a subnet with a NAT gateway names it, and it was not seen"
        gaps = tuple(Unavailable(last_name(name), Why.ABSENT, detail) for name in dict.fromkeys(unseen))
        known = [subnet for subnet in behind if subnet.route_table not in unseen]
        return [subnet for subnet in known if not self.goes_elsewhere(subnet)], gaps


@dataclass(frozen=True, kw_only=True)
class RequiredEndpoints(Evidence):
    """What nodes of this cluster must reach by TCP, as Azure lists it, or as its documentation does."""

    packets: tuple[Packet, ...]
    published: bool
    """Azure did not list it for this cluster: the documentation's list stands in its place."""

    @property
    def from_where(self) -> str:
        return PUBLISHED if self.published else "Azure's list for this cluster"


@collector(
    reads=(
        "Microsoft.Network/networkSecurityGroups/read",
        "Microsoft.Network/routeTables/read",
        "Microsoft.Network/natGateways/read",
    )
)
async def packet_filters(
    cluster: ManagedCluster, networks: NodeNetworks, sets: ScaleSets | Unavailable, arm: ArmReader
) -> PacketFilters:
    """the security groups and routes of the nodes"""
    of_sets = (
        [group for scale_set in sets.sets for group in scale_set.security_groups] if isinstance(sets, ScaleSets) else []
    )
    named = [
        item
        for subnet in networks.subnets
        for item in (subnet.security_group, subnet.route_table, subnet.nat_gateway)
        if item
    ]
    wanted = {item.lower(): item for item in (*named, *of_sets)}
    answers, gaps = await each([*wanted.values()], lambda name: arm.get(name, NETWORK_API))
    found = {need_text(answer.body, "id").lower(): answer.body for answer in answers}
    return PacketFilters(
        source=", ".join(answer.source for answer in answers) or networks.source,
        taken_at=min((answer.taken_at for answer in answers), default=networks.taken_at),
        gaps=(*gaps, *([sets] if isinstance(sets, Unavailable) else [])),
        truncated=isinstance(sets, ScaleSets) and sets.truncated,
        groups={key: read_group(body) for key, body in found.items() if "/networksecuritygroups/" in key},
        tables={key: read_table(body) for key, body in found.items() if "/routetables/" in key},
        gateways={key: read_gateway(body) for key, body in found.items() if "/natgateways/" in key},
    )


@collector(reads=("Microsoft.ContainerService/managedClusters/outboundNetworkDependenciesEndpoints/read",))
async def required_endpoints(cluster: ManagedCluster, arm: ArmReader) -> RequiredEndpoints | NotApplicable:
    """the list of what nodes must reach"""
    try:
        listing = await arm.list(f"{cluster.id}/{_ENDPOINTS}", ENDPOINTS_API)
    except CannotSee as error:
        known = published(arm.access.endpoint.removeprefix("https://").rstrip("/"))
        unseen = (error.unavailable,)
        return RequiredEndpoints(
            source=PUBLISHED, taken_at=cluster.taken_at, gaps=unseen, packets=known, published=True
        )
    packets = tuple(dict.fromkeys(endpoint for row in whole(listing.items) for endpoint in read_endpoints(row)))
    return RequiredEndpoints(
        source=listing.source,
        taken_at=listing.taken_at,
        truncated=listing.truncated,
        packets=packets or published(arm.access.endpoint.removeprefix("https://").rstrip("/")),
        published=not packets,
    )


def read_endpoints(category: Mapping[str, Any]) -> Iterator[Packet]:
    """What nodes must reach of one category by TCP. What is optional stops no node."""
    if "optional" in text(category, "category").lower():
        return
    for row in rows(category, "endpoints"):
        for detail in rows(row, "endpointDetails"):
            port, protocol = number(detail, "port"), text(detail, "protocol").lower()
            if not port or protocol == "udp" or (not protocol and port in _NOT_TCP):
                continue
            address = network(text(detail, "ipAddress"))
            host = text(row, "domainName") or text(detail, "ipAddress")
            if host:
                yield Packet(host, port, address=address.network_address if address else None)


def read_group(body: Mapping[str, Any]) -> SecurityGroup:
    """A network security group from its wire body: its outbound rules."""
    listed = rows(body, "properties", "securityRules")
    outbound = [item for item in listed if text(item, "properties", "direction").lower() == "outbound"]
    return SecurityGroup(need_text(body, "id"), need_text(body, "name"), tuple(map(read_rule, outbound)))


def read_rule(body: Mapping[str, Any]) -> Rule:
    """One rule. Azure keeps one place in the singular and several in the plural."""
    properties = dig(body, "properties")
    groups = [*rows(properties, "sourceApplicationSecurityGroups")]
    return Rule(
        name=need_text(body, "name"),
        priority=need_number(properties, "priority"),
        allows=need_text(properties, "access").lower() == "allow",
        protocol=need_text(properties, "protocol"),
        sources=_both(properties, "sourceAddressPrefix", "sourceAddressPrefixes"),
        source_ports=_both(properties, "sourcePortRange", "sourcePortRanges"),
        targets=_both(properties, "destinationAddressPrefix", "destinationAddressPrefixes"),
        ports=_both(properties, "destinationPortRange", "destinationPortRanges"),
        of_groups=bool(groups),
        id=text(body, "id"),
    )


def _both(properties: Any, name: str, many: str) -> tuple[str, ...]:
    single = text(properties, name)
    return (*((single,) if single else ()), *texts(properties, many))


def read_table(body: Mapping[str, Any]) -> RouteTable:
    """A route table from its wire body."""
    return RouteTable(
        id=need_text(body, "id"),
        name=need_text(body, "name"),
        routes=tuple(map(_route, rows(body, "properties", "routes"))),
        propagates=dig(body, "properties", "disableBgpRoutePropagation") is not True,
    )


def _route(body: Mapping[str, Any]) -> Route:
    kind = need_text(body, "properties", "nextHopType").lower()
    if kind not in {hop.value for hop in Hop}:
        detail = f"route {text(body, 'name')} leads to {kind}"
        raise CannotSee(Unavailable("a route table", Why.FAILED, detail))
    return Route(
        name=need_text(body, "name"),
        prefix=need_text(body, "properties", "addressPrefix"),
        hop=Hop(kind),
        address=text(body, "properties", "nextHopIpAddress"),
        id=text(body, "id"),
    )


def read_gateway(body: Mapping[str, Any]) -> NatGateway:
    """A NAT gateway: an address or a prefix of addresses is enough."""
    held: Iterable[Any] = (
        *rows(body, "properties", "publicIpAddresses"),
        *rows(body, "properties", "publicIpPrefixes"),
    )
    return NatGateway(need_text(body, "id"), need_text(body, "name"), len([*held]))
