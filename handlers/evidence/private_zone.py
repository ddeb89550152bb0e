"""The private DNS zone that holds a private cluster's name: its links, its record, and what the record points to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handlers.clients.arm.reader import ArmReader
from handlers.clients.errors import NotFound
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.gather import each
from handlers.evidence.network import NETWORK_API
from handlers.evidence.wire import dig, need_text, rows, text, whole
from handlers.model import Evidence, NotApplicable
from handlers.resource_id import last_name

ZONES_API = "2020-06-01"
_LINKS, _RECORD, _INTERFACES = "links", "record", "interfaces"


@dataclass(frozen=True, slots=True)
class ZoneLink:
    """A virtual network whose machines resolve the zone's names."""

    network: str
    completed: bool


@dataclass(frozen=True, kw_only=True)
class PrivateZone(Evidence):
    """The zone of the API server's private name."""

    id: str
    exists: bool
    links: tuple[ZoneLink, ...] | None
    """None where they were not seen."""
    record: tuple[str, ...] | None
    """The addresses of the API server's name; none where there is no record, None where it was not seen."""
    endpoint: tuple[str, ...]
    """The addresses of the API server's private endpoint, as far as they were seen."""

    @property
    def name(self) -> str:
        return last_name(self.id)

    def linked_to(self, network: str) -> bool:
        return any(link.completed and link.network.lower() == network.lower() for link in self.links or ())


@collector(
    reads=(
        "Microsoft.Network/privateDnsZones/virtualNetworkLinks/read",
        "Microsoft.Network/privateDnsZones/A/read",
        "Microsoft.Network/networkInterfaces/read",
    )
)
async def private_zone(cluster: ManagedCluster, arm: ArmReader) -> PrivateZone | NotApplicable:
    """the private DNS zone"""
    zone = zone_of(cluster)
    if not zone:
        return NotApplicable(f"{cluster.name} has no private DNS zone")
    label = cluster.private_fqdn.partition(".")[0]
    asked = [_LINKS, _RECORD] + ([] if cluster.vnet_integrated else [_INTERFACES])

    async def ask(what: str) -> tuple[str, object]:
        if what == _LINKS:
            return what, await _links(arm, f"{zone}/virtualNetworkLinks")
        if what == _RECORD:
            return what, await _record(arm, f"{zone}/A/{label}")
        path = f"{cluster.node_group_id}/providers/Microsoft.Network/networkInterfaces"
        listing = await arm.list(path, NETWORK_API)
        return what, endpoint_addresses(whole(listing.items))

    told, gaps = await each(asked, ask)
    seen: dict[str, Any] = dict(told)
    return PrivateZone(
        source=zone,
        taken_at=cluster.taken_at,
        gaps=gaps,
        id=zone,
        exists=seen.get(_LINKS, ()) is not None,
        links=seen.get(_LINKS),
        record=seen.get(_RECORD),
        endpoint=seen.get(_INTERFACES, ()),
    )


def zone_of(cluster: ManagedCluster) -> str:
    """The id of its zone: the one that people brought, or the one that AKS made in the node resource group."""
    if not cluster.private or cluster.private_zone.lower() == "none":
        return ""
    if cluster.private_zone.startswith("/"):
        return cluster.private_zone
    name = cluster.private_fqdn.partition(".")[2]
    return f"{cluster.node_group_id}/providers/Microsoft.Network/privateDnsZones/{name}" if name else ""


async def _links(arm: ArmReader, path: str) -> tuple[ZoneLink, ...] | None:
    """None where there is no such zone."""
    try:
        listing = await arm.list(path, ZONES_API)
    except NotFound:
        return None
    return tuple(map(read_link, whole(listing.items)))


async def _record(arm: ArmReader, path: str) -> tuple[str, ...]:
    try:
        answer = await arm.get(path, ZONES_API)
    except NotFound:
        return ()
    return tuple(text(row, "ipv4Address") for row in rows(answer.body, "properties", "aRecords"))


def read_link(body: Mapping[str, Any]) -> ZoneLink:
    """A virtual network link from its wire body."""
    state = text(body, "properties", "virtualNetworkLinkState").lower()
    return ZoneLink(need_text(body, "properties", "virtualNetwork", "id"), state == "completed")


def endpoint_addresses(interfaces: list[Mapping[str, Any]]) -> tuple[str, ...]:
    """The addresses of the interfaces that AKS made for its private endpoint, which it calls kube-apiserver."""
    ours = [
        interface
        for interface in interfaces
        if last_name(text(interface, "properties", "privateEndpoint", "id")) == "kube-apiserver"
    ]
    held = [dig(row, "properties") for item in ours for row in rows(item, "properties", "ipConfigurations")]
    return tuple(text(item, "privateIPAddress") for item in held if text(item, "privateIPAddress"))
