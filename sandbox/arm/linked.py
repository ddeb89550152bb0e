"""Linked access checks: who writes a cluster or a pool needs permissions on the other resources named in its body.

AKS also checks the cluster's own identity: it must be able to write to a custom private DNS zone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sandbox.arm import errors
from sandbox.arm.lists import contains
from sandbox.arm.paths import Place, scope_of
from sandbox.arm.site import Call, Site

Body = dict[str, Any]

CLUSTER = "Microsoft.ContainerService/managedClusters"
POOL = "Microsoft.ContainerService/managedClusters/agentPools"
JOIN_SUBNET = "Microsoft.Network/virtualNetworks/subnets/join/action"


def check_linked(site: Site, call: Call, sent: Body) -> None:
    """403 LinkedAuthorizationFailed for the first missing permission; ARM checks before calling the provider."""
    for action, resource in _demanded(call.place, sent):
        if resource and not site.access.may(call.principal, action, resource):
            raise errors.linked_not_authorized(
                call.principal.client_id,
                call.principal.object_id,
                call.action,
                scope_of(call.place),
                action,
                resource,
            )


def _demanded(place: Place, sent: Body) -> Iterator[tuple[str, str]]:
    properties = _part(sent, "properties")
    if place.kind == POOL:
        yield from _of_pool(properties)
    elif place.kind == CLUSTER:
        for identity in _part(sent, "identity", "userAssignedIdentities"):
            yield "Microsoft.ManagedIdentity/userAssignedIdentities/assign/action", identity
        for pool in properties.get("agentPoolProfiles") or ():
            yield from _of_pool(pool)
        yield from _of_cluster(properties)


def _of_pool(properties: Body) -> Iterator[tuple[str, str]]:
    yield JOIN_SUBNET, properties.get("vnetSubnetID", "")
    yield JOIN_SUBNET, properties.get("podSubnetID", "")
    yield "Microsoft.Compute/proximityPlacementGroups/write", properties.get("proximityPlacementGroupID", "")


def _of_cluster(properties: Body) -> Iterator[tuple[str, str]]:
    yield "Microsoft.Compute/diskEncryptionSets/read", properties.get("diskEncryptionSetID", "")
    yield JOIN_SUBNET, _part(properties, "apiServerAccessProfile").get("subnetId", "")
    balancer = _part(properties, "networkProfile", "loadBalancerProfile")
    for address in _part(balancer, "outboundIPs").get("publicIPs") or ():
        yield "Microsoft.Network/publicIPAddresses/join/action", address["id"]
    for prefix in _part(balancer, "outboundIPPrefixes").get("publicIPPrefixes") or ():
        yield "Microsoft.Network/publicIPPrefixes/join/action", prefix["id"]
    if balancer.get("backendPoolType") == "nodeIP":
        for pool in properties.get("agentPoolProfiles") or ():
            yield (
                "Microsoft.Network/virtualNetworks/joinLoadBalancer/action",
                pool.get("vnetSubnetID", "").partition("/subnets/")[0],
            )
    gateway = _addon(properties, "ingressapplicationgateway")
    for verb in ("read", "write"):
        yield f"Microsoft.Network/applicationGateways/{verb}", gateway.get("applicationGatewayId", "")
    yield JOIN_SUBNET, gateway.get("subnetId", "")
    insights = _addon(properties, "omsagent")
    if insights.get("useAADAuth", "").lower() != "true":
        yield from _of_workspace(insights.get("logAnalyticsWorkspaceResourceID", ""))


def _of_workspace(workspace: str) -> Iterator[tuple[str, str]]:
    if not workspace:
        return
    yield "Microsoft.OperationalInsights/workspaces/sharedkeys/read", workspace
    yield "Microsoft.OperationalInsights/workspaces/read", workspace
    group, name = "/".join(workspace.split("/")[:5]), workspace.rsplit("/", 1)[-1]
    for verb in ("read", "write"):
        yield (
            f"Microsoft.OperationsManagement/solutions/{verb}",
            f"{group}/providers/Microsoft.OperationsManagement/solutions/ContainerInsights({name})",
        )


def check_own_identity(site: Site, place: Place, stored: Body | None, sent: Body) -> None:
    """The cluster's identity needs a role on the private DNS zone, no matter who sends the request."""
    zone = _part(sent, "properties", "apiServerAccessProfile").get("privateDNSZone", "")
    if place.kind != CLUSTER or stored is None or not zone.startswith("/"):
        return
    identity = _part(stored, "identity")
    own = {identity.get("principalId"), *(user.get("principalId") for user in _users(identity))}
    if not any(_grants(key, body, zone, own) for key, body in site.world.resources.items()):
        raise errors.aks(
            400,
            "CustomPrivateDNSZoneMissingPermissionError",
            "Service principal or user-assigned identity must be given permission to read and write to custom private "
            f"dns zone {zone}. Check access result not allowed for action Microsoft.Network/privateDnsZones/write.",
        )


def _grants(key: str, body: Body, zone: str, principals: set[Any]) -> bool:
    if "/microsoft.authorization/roleassignments/" not in key:
        return False
    properties = body["properties"]
    return properties["principalId"] in principals and contains(properties["scope"], zone)


def _users(identity: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list((identity.get("userAssignedIdentities") or {}).values())


def _addon(properties: Body, name: str) -> Body:
    for key, addon in _part(properties, "addonProfiles").items():
        if key.lower() == name and addon.get("enabled"):
            return addon.get("config") or {}
    return {}


def _part(body: Body, *path: str) -> Body:
    for name in path:
        body = body.get(name) or {}
    return body
