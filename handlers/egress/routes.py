"""Route tables: where the longest prefix that holds an address leads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network

from handlers.egress.packet import (
    EVERYTHING,
    PLATFORM,
    Around,
    Packet,
    cover_all_public,
    network,
    reaches_public,
)


class Hop(StrEnum):
    """Where a route leads. The values are Azure's, in lower case."""

    INTERNET = "internet"
    APPLIANCE = "virtualappliance"
    GATEWAY = "virtualnetworkgateway"
    NOWHERE = "none"
    LOCAL = "vnetlocal"
    UNSEEN = "unseen"
    """A route that no table shows."""


@dataclass(frozen=True, slots=True)
class Route:
    """One route."""

    name: str
    prefix: str
    """An IPv4 prefix, or the name of a service tag."""
    hop: Hop
    address: str = ""
    """Of the appliance."""
    id: str = ""
    own: bool = True
    """Somebody made it. Azure's own routes stand in no table."""


@dataclass(frozen=True, slots=True)
class RouteTable:
    """A route table."""

    id: str
    name: str
    routes: tuple[Route, ...]
    propagates: bool = True
    """Routes that a gateway learns hold, too."""


SYSTEM_DEFAULT = Route("the default route", "0.0.0.0/0", Hop.INTERNET, own=False)
PROPAGATED = Route("a route that a gateway propagates", "", Hop.UNSEEN, own=False)
SERVICE_ENDPOINT = Route("a service endpoint of the subnet", "", Hop.UNSEEN, own=False)
LOCAL = Route("the virtual network", "", Hop.LOCAL, own=False)
UNREACHED = Route("Azure's route for private addresses", "", Hop.NOWHERE, own=False)


def hops(routes: Sequence[Route], packet: Packet, around: Around) -> tuple[Route, ...]:
    """The routes that a packet may take: one where that can be told, several where it cannot."""
    if packet.address is None:
        known = _to_public(routes)
        unseen = (PROPAGATED,) * around.propagates + (SERVICE_ENDPOINT,) * around.endpoints
    else:
        known = (_to_address(routes, packet.address, around),)
        exact = network(known[0].prefix) if known[0].own else None
        fixed = known[0] is LOCAL or (exact is not None and exact.prefixlen == 32)
        unseen = () if fixed else (PROPAGATED,) * around.propagates
    return *known, *unseen


def _to_public(routes: Sequence[Route]) -> tuple[Route, ...]:
    """A public name may have an address in any public prefix; the default route takes what no other does."""
    ranged = [(route, prefix) for route in routes if (prefix := network(route.prefix)) is not None]
    default = next((route for route, prefix in ranged if prefix == EVERYTHING), SYSTEM_DEFAULT)
    longer = [(route, prefix) for route, prefix in ranged if prefix != EVERYTHING and reaches_public(prefix)]
    tagged = [route for route in routes if network(route.prefix) is None and ":" not in route.prefix]
    left = () if cover_all_public(prefix for _, prefix in longer) else (default,)
    return *left, *(route for route, _ in longer), *tagged


def _to_address(routes: Sequence[Route], address: IPv4Address, around: Around) -> Route:
    """The longest prefix wins; of two alike, the one that somebody made."""
    if address == PLATFORM:
        return LOCAL
    system: list[tuple[Route, IPv4Network]] = [(LOCAL, ipv4_network) for ipv4_network in around.network]
    system += [(UNREACHED, ipv4_network) for ipv4_network in _PRIVATE]
    own = [(route, prefix) for route in routes if (prefix := network(route.prefix)) is not None]
    fitting = [(prefix.prefixlen, route.own, route) for route, prefix in (*system, *own) if address in prefix]
    best = max(fitting, key=lambda item: item[:2], default=None)
    return best[2] if best else SYSTEM_DEFAULT


_PRIVATE = tuple(IPv4Network(item) for item in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"))
"""For these Azure has a route to nowhere, until a network, a peering or a gateway brings a better one. Which of these
there are, nobody can be sure of from here."""
