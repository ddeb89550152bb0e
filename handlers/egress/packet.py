"""What a node sends, where to, and what of the network around it is known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, collapse_addresses, ip_network

EVERYTHING = IPv4Network("0.0.0.0/0")
PLATFORM = IPv4Address("168.63.129.16")
"""Azure's own name server and health probe. Neither route tables nor security rules reach it, but for a rule that names
its service tag (Azure: "What is IP address 168.63.129.16?")."""
NOT_PUBLIC = tuple(
    IPv4Network(item)
    for item in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
        *("172.16.0.0/12", "192.168.0.0/16", "224.0.0.0/4", "240.0.0.0/4"),
    )
)
"""Addresses at which no public service answers."""


class Fit(StrEnum):
    """Whether a rule or a route is for a packet. A tag's addresses are not known here, so sometimes nobody can tell."""

    YES = "yes"
    NO = "no"
    MAYBE = "maybe"


@dataclass(frozen=True, slots=True)
class Packet:
    """One connection that a node opens."""

    to: str
    """What people call it: a host name, or an address."""
    port: int
    protocol: str = "TCP"
    address: IPv4Address | None = None
    """None for a public name: its addresses change, and are none that is private."""

    def __str__(self) -> str:
        return f"{self.protocol} {self.port} to {self.to}"


@dataclass(frozen=True, slots=True)
class Around:
    """What is known of the network that a node stands in."""

    subnet: tuple[IPv4Network, ...]
    network: tuple[IPv4Network, ...] = ()
    """The address space of the virtual network and of those peered with it."""
    routed: tuple[IPv4Network, ...] = ()
    """Prefixes of its route table: Azure counts them to the tag VirtualNetwork, too."""
    wide: bool = False
    """Public addresses may count to the tag VirtualNetwork: a route leads to them, or a gateway propagates routes."""
    propagates: bool = False
    """A gateway may propagate routes, which no route table shows."""
    endpoints: bool = False
    """The subnet has service endpoints: routes of their own, which no route table shows."""


def networks(texts: Iterable[str]) -> tuple[IPv4Network, ...]:
    """The IPv4 prefixes among some texts."""
    found = (network(text) for text in texts)
    return tuple(ipv4_network for ipv4_network in found if ipv4_network is not None)


def network(text: str) -> IPv4Network | None:
    """A prefix or an address; None for anything else: IPv6, or the name of a tag."""
    try:
        found = ip_network(text, strict=False)
    except ValueError:
        return None
    return found if isinstance(found, IPv4Network) else None


def is_public(address: IPv4Address) -> bool:
    return address != PLATFORM and not any(address in ipv4_network for ipv4_network in NOT_PUBLIC)


def reaches_public(prefix: IPv4Network) -> bool:
    """Whether a public service may have an address in it."""
    return not any(prefix.subnet_of(ipv4_network) for ipv4_network in NOT_PUBLIC)


def cover_all_public(prefixes: Iterable[IPv4Network]) -> bool:
    """Whether no public address is outside of these."""
    return [*collapse_addresses((*prefixes, *NOT_PUBLIC))] == [EVERYTHING]


def all_of(fits: Iterable[Fit]) -> Fit:
    """All conditions of a rule together."""
    seen = set(fits)
    return Fit.NO if Fit.NO in seen else Fit.MAYBE if Fit.MAYBE in seen else Fit.YES


def any_of(fits: Iterable[Fit]) -> Fit:
    """Any of several places that a rule names."""
    seen = set(fits)
    return Fit.YES if Fit.YES in seen else Fit.MAYBE if Fit.MAYBE in seen else Fit.NO
