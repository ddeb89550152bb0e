"""The public addresses that nodes leave from, where the API server takes only listed ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from handlers.clients.arm.reader import ArmReader
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.gather import each
from handlers.evidence.network import NETWORK_API
from handlers.evidence.node_networks import NodeNetworks
from handlers.evidence.way_out import PacketFilters
from handlers.evidence.wire import rows, text
from handlers.model import Evidence, NotApplicable, Unavailable, Why
from handlers.resource_id import last_name, same

NO_RESTRICTION = frozenset({"0.0.0.0/0"})


@dataclass(frozen=True, slots=True)
class EgressAddress:
    """An address, and what holds it."""

    range: str
    of: str
    """`NAT gateway ng-one`."""
    pools: tuple[str, ...] = ()
    """The ids of the pools whose nodes leave from it; none where all do."""


@dataclass(frozen=True, kw_only=True)
class EgressAddresses(Evidence):
    """The addresses of the NAT gateways that nodes leave through. A load balancer's are always let in."""

    addresses: tuple[EgressAddress, ...]


@collector(
    reads=(
        "Microsoft.Network/natGateways/read",
        "Microsoft.Network/publicIPAddresses/read",
    )
)
async def egress_addresses(
    cluster: ManagedCluster,
    networks: NodeNetworks | Unavailable,
    filters: PacketFilters | Unavailable,
    arm: ArmReader,
) -> EgressAddresses | NotApplicable:
    """the addresses that nodes leave from"""
    if cluster.private or not restricted(cluster):
        return NotApplicable(f"the API server of {cluster.name} takes everybody's address")
    if cluster.vnet_integrated:
        return NotApplicable(f"nodes of {cluster.name} go to its API server's private address (VNet integration)")
    named: dict[str, tuple[str, tuple[str, ...]]] = {name: (of, ()) for name, of in _of_profile(cluster)}
    gateways, more = _gateways(networks, filters)

    async def of_gateway(gateway: str) -> tuple[str, Any]:
        return gateway, (await arm.get(gateway, NETWORK_API)).body

    async def read(item: tuple[str, tuple[str, tuple[str, ...]]]) -> EgressAddress:
        return EgressAddress(text((await arm.get(item[0], NETWORK_API)).body, "properties", "ipAddress"), *item[1])

    held, unseen = await each([*gateways], of_gateway) if gateways else ([], ())
    for gateway, body in held:
        of = f"NAT gateway {last_name(gateway)}", gateways[gateway]
        named |= {text(row, "id"): of for row in rows(body, "properties", "publicIpAddresses")}
    addresses, gaps = await each([*named.items()], read) if named else ([], ())
    return EgressAddresses(
        source=", ".join(named) or cluster.source,
        taken_at=cluster.taken_at,
        gaps=(*unseen, *gaps, *more, *_prefixes(held)),
        addresses=tuple(address for address in addresses if address.range),
    )


def _prefixes(held: list[tuple[str, Any]]) -> Iterator[Unavailable]:
    """A gateway may leave from a whole prefix of addresses, which is not looked up."""
    for gateway, body in held:
        for row in rows(body, "properties", "publicIpPrefixes"):
            what = f"the addresses of NAT gateway {last_name(gateway)}"
            yield Unavailable(what, Why.ABSENT, f"its prefix {last_name(text(row, 'id'))} is not read")


def restricted(cluster: ManagedCluster) -> bool:
    """Whether its API server takes only some addresses."""
    return bool(cluster.authorized_ranges) and not NO_RESTRICTION & set(cluster.authorized_ranges)


def _of_profile(cluster: ManagedCluster) -> Iterator[tuple[str, str]]:
    """Those that AKS made for its own NAT gateway."""
    if text(cluster.network, "outboundType").lower() == "managednatgateway":
        for row in rows(cluster.network, "natGatewayProfile", "effectiveOutboundIPs"):
            yield text(row, "id"), "the cluster's NAT gateway"


def _gateways(
    networks: NodeNetworks | Unavailable, filters: PacketFilters | Unavailable
) -> tuple[dict[str, tuple[str, ...]], tuple[Unavailable, ...]]:
    """Those that nodes leave through, each with its pools: they go before a load balancer."""
    if isinstance(networks, Unavailable):
        return {}, (networks,)
    if isinstance(filters, Unavailable):
        return {}, (*networks.gaps, filters)
    subnets, unseen = filters.nat_subnets(networks)
    found: dict[str, tuple[str, ...]] = {}
    for subnet in subnets:
        name = next((known for known in found if same(known, subnet.nat_gateway)), subnet.nat_gateway)
        found[name] = (*found.get(name, ()), *subnet.pools)
    return found, (*networks.gaps, *unseen)
