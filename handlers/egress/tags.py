"""Places that a security rule names: prefixes, addresses, `*`, and service tags by their name."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, summarize_address_range

from handlers.egress.packet import (
    EVERYTHING,
    PLATFORM,
    Around,
    Fit,
    Packet,
    any_of,
    cover_all_public,
    is_public,
    network,
    reaches_public,
)

ANYWHERE = frozenset({"*", "any", "0.0.0.0/0"})
INTERNET, VIRTUAL_NETWORK, PLATFORM_DNS = "internet", "virtualnetwork", "azureplatformdns"
NEVER_A_TARGET = frozenset({"azureloadbalancer", "azureplatformimds", "azureplatformlkm"})
_HOLDS = {
    "microsoftcontainerregistry": (".mcr.microsoft.com",),
    "azureactivedirectory": (".login.microsoftonline.com",),
    "azureresourcemanager": (".management.azure.com",),
    "azurecloud": (".mcr.microsoft.com", ".login.microsoftonline.com", ".management.azure.com", ".azmk8s.io"),
}
"""What Azure's list of service tags says that a tag is for. Only a rule that denies is held to it: to allow such a tag
may not be enough (images come through AzureFrontDoor.FirstParty, too)."""


def target(places: Sequence[str], packet: Packet, around: Around, *, denies: bool) -> Fit:
    """Whether one of these places is where a packet goes."""
    fits = any_of(_is_target(place.lower(), packet, around, denies=denies) for place in places)
    if fits is Fit.MAYBE and packet.address is None and cover_all_public(_prefixes(places)):
        return Fit.YES
    return fits


def source(places: Sequence[str], around: Around) -> Fit:
    """Whether one of these places is where a node stands."""
    return any_of(_is_source(place.lower(), around) for place in places)


def _is_target(place: str, packet: Packet, around: Around, *, denies: bool) -> Fit:
    if packet.address == PLATFORM:
        return Fit.YES if place == PLATFORM_DNS and packet.port == 53 else Fit.NO
    if place in ANYWHERE:
        return Fit.YES
    if place in NEVER_A_TARGET or place == PLATFORM_DNS:
        return Fit.NO
    if place == INTERNET:
        return _outside(packet, around)
    if place == VIRTUAL_NETWORK:
        return _inside(packet, around)
    prefixes = _prefixes([place])
    if prefixes:
        return _in_prefixes(prefixes, packet)
    if ":" in place:  # IPv6: nodes reach all of this by IPv4
        return Fit.NO
    return _in_tag(place, packet, denies=denies)


def _outside(packet: Packet, around: Around) -> Fit:
    if packet.address is None:
        return Fit.YES
    return Fit.YES if is_public(packet.address) else Fit.NO


def _inside(packet: Packet, around: Around) -> Fit:
    if packet.address is not None and _known(packet.address, around):
        return Fit.YES
    return Fit.MAYBE if around.wide else Fit.NO


def _known(address: IPv4Address, around: Around) -> bool:
    return any(address in ipv4_network for ipv4_network in (*around.network, *around.routed))


def _in_prefixes(prefixes: Sequence[IPv4Network], packet: Packet) -> Fit:
    if packet.address is not None:
        return Fit.YES if any(packet.address in prefix for prefix in prefixes) else Fit.NO
    return Fit.MAYBE if any(reaches_public(prefix) for prefix in prefixes) else Fit.NO


def _in_tag(tag: str, packet: Packet, *, denies: bool) -> Fit:
    if packet.address is not None and not is_public(packet.address):
        return Fit.NO
    # `AzureCloud.WestEurope` holds one region; only the API server is known to be in it.
    name, _, region = tag.partition(".")
    host = f".{packet.to.lower().removeprefix('*.')}"
    known = [end for end in _HOLDS.get(name, ()) if not region or end == ".azmk8s.io"]
    here = not region or f".{region}." in host
    return Fit.YES if denies and here and any(host.endswith(end) for end in known) else Fit.MAYBE


def _is_source(place: str, around: Around) -> Fit:
    if place in ANYWHERE or place == VIRTUAL_NETWORK:
        return Fit.YES
    prefixes = _prefixes([place])
    if not prefixes:
        return Fit.NO if place in {INTERNET, "azureloadbalancer"} or ":" in place else Fit.MAYBE
    if around.subnet and all(any(mine.subnet_of(prefix) for prefix in prefixes) for mine in around.subnet):
        return Fit.YES
    overlaps = any(mine.overlaps(prefix) for mine in around.subnet for prefix in prefixes)
    return Fit.MAYBE if overlaps or not around.subnet else Fit.NO


def _prefixes(places: Sequence[str]) -> list[IPv4Network]:
    """IPv4 prefixes, addresses, and ranges from one address to another."""
    found: list[IPv4Network] = []
    for place in places:
        first, dash, last = place.partition("-")
        known = network(place)
        if place.lower() in ANYWHERE:
            found.append(EVERYTHING)
        elif known is not None:
            found.append(known)
        elif dash and network(first) and network(last):
            found += summarize_address_range(IPv4Address(first), IPv4Address(last))
    return found
