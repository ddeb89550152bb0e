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
from handlers.evidence.node_networks import NodeNetworks
from handlers.evidence.wire import dig, rows, text
from handlers.model import Evidence, NotApplicable, Unavailable

LOAD_BALANCER = "loadbalancer"
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
    direct: bool = False
    """API server VNet integration: nodes go to its private address, which the ranges do not touch."""

    @property
    def implicit(self) -> bool:
        """Whether AKS lets these in by itself: it does for its standard load balancer alone."""
        return self.kind == LOAD_BALANCER

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
    arm: ArmReader,
) -> NodeEgress | NotApplicable:
    """the public addresses that nodes leave from"""
    if cluster.private or not cluster.authorized_ranges:
        return NotApplicable(f"{cluster.name} has no authorized IP ranges")
    kind = profile.outbound_type.lower()
    named = [text(row, "id") for row in rows(cluster.network, _THROUGH.get(kind, ""), "effectiveOutboundIPs")]
    gaps: tuple[Unavailable, ...] = ()
    if kind == "userassignednatgateway":
        named, gaps = await _of_gateways(networks, arm)
    answers, unseen = await each(named, lambda name: arm.get(name, NETWORK_API)) if named else ([], ())
    return NodeEgress(
        source=", ".join(answer.source for answer in answers) or cluster.source,
        taken_at=cluster.taken_at,
        gaps=(*gaps, *unseen),
        kind=kind,
        direct=cluster.vnet_integrated,
        addresses=tuple(filter(None, (_address(answer.body) for answer in answers))),
    )


async def _of_gateways(
    networks: NodeNetworks | Unavailable | NotApplicable, arm: ArmReader
) -> tuple[list[str], tuple[Unavailable, ...]]:
    """The ids of the addresses and prefixes of the NAT gateways of the nodes' subnets."""
    if not isinstance(networks, NodeNetworks):
        return [], (networks,) if isinstance(networks, Unavailable) else ()
    gateways = list(dict.fromkeys(subnet.nat_gateway for subnet in networks.subnets if subnet.nat_gateway))
    if not gateways:
        return [], networks.gaps
    answers, gaps = await each(gateways, lambda name: arm.get(name, NETWORK_API))
    held = [
        text(row, "id")
        for answer in answers
        for key in ("publicIpAddresses", "publicIpPrefixes")
        for row in rows(answer.body, "properties", key)
    ]
    return held, (*networks.gaps, *gaps)


def _address(body: Mapping[str, Any]) -> str:
    properties = dig(body, "properties")
    return text(properties, "ipPrefix") or text(properties, "ipAddress")
