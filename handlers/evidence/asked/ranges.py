"""From which public addresses nodes leave, and aksbot itself: authorized IP ranges must let both in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handlers.clients.arm.reader import ArmReader
from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster, NetworkProfile
from handlers.evidence.gather import each
from handlers.evidence.network import NETWORK_API
from handlers.evidence.node_networks import NodeNetworks, NodeSubnet
from handlers.evidence.way_out import PacketFilters
from handlers.evidence.wire import dig, rows, text
from handlers.model import Evidence, NotApplicable, Unavailable

LOAD_BALANCER = "loadbalancer"
USER_NAT = "userassignednatgateway"
_THROUGH = {
    LOAD_BALANCER: "loadBalancerProfile",
    "managednatgateway": "natGatewayProfile",
    "managednatgatewayv2": "natGatewayProfile",
}


@dataclass(frozen=True, kw_only=True)
class NodeEgress(Evidence):
    """The public addresses that nodes leave from. Only asked for where the cluster has authorized IP ranges."""

    kind: str
    """The outbound type, in lower case."""
    addresses: tuple[str, ...]
    """Addresses and prefixes."""
    let_in: tuple[str, ...] = ()
    """Those that AKS lets in by itself: of its standard load balancer alone."""
    let_in_unseen: tuple[Unavailable, ...] = ()
    """Why not all of those are known."""
    through_nat: bool | None = False
    """Whether a subnet of nodes leaves through a NAT gateway of its own; None where that was not seen."""
    direct: bool = False
    """API server VNet integration: nodes go to its private address, which the ranges do not touch."""

    @property
    def implicit(self) -> bool:
        """Whether all nodes leave through the standard load balancer, whose address AKS lets in by itself."""
        return self.kind == LOAD_BALANCER and self.through_nat is False

    @property
    def hidden(self) -> bool:
        """Whether they leave through an appliance whose public address Azure does not name here."""
        return self.kind == "userdefinedrouting"


@dataclass(frozen=True, kw_only=True)
class OwnAddress(Evidence):
    """The public addresses that the bot itself leaves from, as the settings say."""

    addresses: tuple[str, ...]


@collector(reads=())
async def own_address(cluster: ManagedCluster, kube: KubeReader) -> OwnAddress | NotApplicable:
    """the bot's own public address"""
    if not kube.access.own_addresses:
        return NotApplicable("AKSBOT_OWN_ADDRESSES does not say from which address aksbot leaves")
    return OwnAddress(
        source="AKSBOT_OWN_ADDRESSES", taken_at=cluster.taken_at, addresses=tuple(kube.access.own_addresses)
    )


@collector(
    reads=(
        "Microsoft.Network/natGateways/read",
        "Microsoft.Network/publicIPAddresses/read",
        "Microsoft.Network/publicIPPrefixes/read",
    )
)
async def node_egress(
    cluster: ManagedCluster,
    profile: NetworkProfile,
    networks: NodeNetworks | Unavailable | NotApplicable,
    filters: PacketFilters | Unavailable | NotApplicable,
    arm: ArmReader,
) -> NodeEgress | NotApplicable:
    """the public addresses that nodes leave from"""
    if cluster.private or not cluster.authorized_ranges:
        return NotApplicable(f"{cluster.name} has no authorized IP ranges")
    kind = profile.outbound_type.lower()
    named = [text(row, "id") for row in rows(cluster.network, _THROUGH.get(kind, ""), "effectiveOutboundIPs")]
    of_gateways: list[str] = []
    gaps: tuple[Unavailable, ...] = ()
    behind, unseen = _behind_gateways(networks, filters) if kind in (LOAD_BALANCER, USER_NAT) else ([], ())
    if behind or kind == USER_NAT:
        of_gateways, gaps = await _of_gateways(behind, arm)
        gaps = (*unseen, *gaps)
    own, lost = await _addresses(named, arm)
    nat, more = await _addresses(of_gateways, arm)
    all_behind = bool(behind) and isinstance(networks, NodeNetworks) and len(behind) == len(networks.subnets)
    return NodeEgress(
        source=", ".join((*named, *of_gateways)) or cluster.source,
        taken_at=cluster.taken_at,
        gaps=(*gaps, *lost, *more),
        kind=kind,
        direct=cluster.vnet_integrated,
        addresses=nat if all_behind else (*own, *nat),
        let_in=own if kind == LOAD_BALANCER else (),
        let_in_unseen=lost,
        through_nat=True if behind else None if unseen else False,
    )


def _behind_gateways(
    networks: NodeNetworks | Unavailable | NotApplicable, filters: PacketFilters | Unavailable | NotApplicable
) -> tuple[list[NodeSubnet], tuple[Unavailable, ...]]:
    """The subnets whose nodes leave through a NAT gateway, and what kept us from telling."""
    if not isinstance(networks, NodeNetworks):
        return [], (networks,) if isinstance(networks, Unavailable) else ()
    if not any(subnet.nat_gateway for subnet in networks.subnets):
        return [], networks.gaps
    if not isinstance(filters, PacketFilters):
        return [], (*networks.gaps, *((filters,) if isinstance(filters, Unavailable) else ()))
    subnets, gaps = filters.nat_subnets(networks)
    return subnets, (*networks.gaps, *gaps)


async def _of_gateways(subnets: list[NodeSubnet], arm: ArmReader) -> tuple[list[str], tuple[Unavailable, ...]]:
    """The ids of the addresses and prefixes of the NAT gateways of these subnets."""
    gateways = list(dict.fromkeys(subnet.nat_gateway for subnet in subnets))
    if not gateways:
        return [], ()
    answers, gaps = await each(gateways, lambda name: arm.get(name, NETWORK_API))
    held = [
        text(row, "id")
        for answer in answers
        for key in ("publicIpAddresses", "publicIpPrefixes")
        for row in rows(answer.body, "properties", key)
    ]
    return held, gaps


async def _addresses(named: list[str], arm: ArmReader) -> tuple[tuple[str, ...], tuple[Unavailable, ...]]:
    """The addresses behind these ids."""
    answers, gaps = await each(named, lambda name: arm.get(name, NETWORK_API)) if named else ([], ())
    return tuple(filter(None, (_address(answer.body) for answer in answers))), gaps


def _address(body: Mapping[str, Any]) -> str:
    properties = dig(body, "properties")
    return text(properties, "ipPrefix") or text(properties, "ipAddress")
