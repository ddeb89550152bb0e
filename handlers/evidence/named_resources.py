"""The resources that a cluster and its pools name by id: what must exist for the next operation to succeed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from handlers.evidence import addons
from handlers.evidence.wire import dig, rows, text
from handlers.resource_id import last_name

WAY_OUT = frozenset({"the load balancer", "an outbound address", "an outbound address prefix"})
"""Without these, nodes reach nothing outside."""

_PARTS = 8
"""Slashes in the id of a resource of a group: a shorter text names none."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A resource, and what it is to the cluster or pool that names it."""

    id: str
    what: str
    by_aks: bool = False
    """AKS makes it and takes it away itself: it may be absent while the cluster is stopped or being changed."""
    referrer: str = ""
    """The id of what names it; empty for the cluster."""

    @property
    def name(self) -> str:
        return last_name(self.id)

    @property
    def group(self) -> str:
        return self.id.split("/")[4]


def named_by_cluster(body: Mapping[str, Any]) -> tuple[Reference, ...]:
    """What a cluster's body names, without workspaces and the API server's private DNS zone: those have checks of
    their own."""
    return _once([*_identities(body), *_outbound(body), *_features(dig(body, "properties"))])


def named_by_pool(properties: Any, pool: str) -> tuple[Reference, ...]:
    """What a node pool's body names."""
    named = (
        ("vnetSubnetID", "the subnet of its nodes"),
        ("podSubnetID", "the subnet of its pods"),
        ("nodePublicIPPrefixID", "the prefix of its nodes' public addresses"),
        ("proximityPlacementGroupID", "the proximity placement group"),
        ("capacityReservationGroupID", "the capacity reservation group"),
        ("hostGroupID", "the dedicated host group"),
    )
    return _once([Reference(text(properties, key), what, referrer=pool) for key, what in named])


def workspaces_of(properties: Any) -> tuple[Reference, ...]:
    """The Log Analytics workspaces that the cluster sends to."""
    insights = addons.settings(properties, "omsagent")
    defender = dig(properties, "securityProfile", "defender")
    on = dig(defender, "securityMonitoring", "enabled") is True
    return _once(
        [
            Reference(insights.get("loganalyticsworkspaceresourceid", ""), "the monitoring add-on"),
            Reference(text(defender, "logAnalyticsWorkspaceResourceId") if on else "", "Microsoft Defender"),
        ]
    )


def _identities(body: Mapping[str, Any]) -> Iterator[Reference]:
    for condition in dig(body, "identity", "userAssignedIdentities") or ():
        yield Reference(condition, "the cluster's identity")
    kubelet = text(body, "properties", "identityProfile", "kubeletidentity", "resourceId")
    yield Reference(kubelet, "the kubelets' identity")


def _outbound(body: Mapping[str, Any]) -> Iterator[Reference]:
    network = dig(body, "properties", "networkProfile")
    balancer, gateway = dig(network, "loadBalancerProfile"), dig(network, "natGatewayProfile")
    for row in rows(balancer, "outboundIPs", "publicIPs"):
        yield Reference(text(row, "id"), "an outbound address")
    for row in rows(balancer, "outboundIPPrefixes", "publicIPPrefixes"):
        yield Reference(text(row, "id"), "an outbound address prefix")
    effective = rows(balancer, "effectiveOutboundIPs")
    for item in (*effective, *rows(gateway, "effectiveOutboundIPs")):
        yield Reference(text(item, "id"), "an outbound address", by_aks=True)
    standard = text(network, "loadBalancerSku").lower() != "basic"
    if text(network, "outboundType").lower() == "loadbalancer" and standard and effective:
        node_group, scope = text(body, "properties", "nodeResourceGroup"), "/".join(text(body, "id").split("/")[:3])
        where = f"{scope}/resourceGroups/{node_group}/providers/Microsoft.Network"
        yield Reference(f"{where}/loadBalancers/kubernetes", "the load balancer", by_aks=True)


def _features(properties: Any) -> Iterator[Reference]:
    access, security = dig(properties, "apiServerAccessProfile"), dig(properties, "securityProfile")
    yield Reference(text(properties, "diskEncryptionSetID"), "the disk encryption set")
    if dig(access, "enableVnetIntegration") is True:
        yield Reference(text(access, "subnetId"), "the subnet of the API server")
    gateway = addons.settings(properties, "ingressapplicationgateway")
    yield Reference(gateway.get("applicationgatewayid", ""), "the application gateway of the ingress add-on")
    routing = dig(properties, "ingressProfile", "webAppRouting")
    zones = dig(routing, "dnsZoneResourceIds") if dig(routing, "enabled") is True else ()
    for zone in zones or ():
        yield Reference(zone, "a DNS zone of application routing")
    if dig(security, "azureKeyVaultKms", "enabled") is True:
        yield Reference(text(security, "azureKeyVaultKms", "keyVaultResourceId"), "the key vault of etcd encryption")
    authority = dig(properties, "serviceMeshProfile", "istio", "certificateAuthority", "plugin")
    yield Reference(text(authority, "keyVaultId"), "the key vault of the service mesh")
    start = dig(properties, "bootstrapProfile")
    if text(start, "artifactSource").lower() == "cache":
        yield Reference(text(start, "containerRegistryId"), "the registry that nodes start from")


def _once(found: list[Reference]) -> tuple[Reference, ...]:
    known: dict[str, Reference] = {}
    for reference in found:
        if reference.id.startswith("/subscriptions/") and reference.id.count("/") >= _PARTS:
            known.setdefault(reference.id.lower(), reference)
    return tuple(known.values())
