"""What a cluster or pool names elsewhere, and what Azure asks of whoever sends it again: the linked permissions.

Azure asks for them on every PUT of the body, also when nothing about them is new: azure-cli issue 22232, where a change
of the authorized ranges was refused for the workspace's keys, and azure-aks-docs issue 62, where an upgrade needed
solutions/write. The list is that of the AKS page on service permissions, "identity creating and operating the cluster".
A private DNS zone is asked of the cluster's own identity instead (CustomPrivateDNSZoneMissingPermissionError).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from handlers.evidence import addons
from handlers.evidence.wire import dig, rows, text

JOIN = "Microsoft.Network/virtualNetworks/subnets/join/action"
JOIN_BALANCER = "Microsoft.Network/virtualNetworks/joinLoadBalancer/action"
JOIN_ADDRESS = "Microsoft.Network/publicIPAddresses/join/action"
JOIN_PREFIX = "Microsoft.Network/publicIPPrefixes/join/action"
READ_DISK_KEY = "Microsoft.Compute/diskEncryptionSets/read"
WRITE_PLACEMENT = "Microsoft.Compute/proximityPlacementGroups/write"
READ_GATEWAY = "Microsoft.Network/applicationGateways/read"
WRITE_GATEWAY = "Microsoft.Network/applicationGateways/write"
READ_WORKSPACE = "Microsoft.OperationalInsights/workspaces/read"
READ_KEYS = "Microsoft.OperationalInsights/workspaces/sharedkeys/read"
READ_SOLUTION = "Microsoft.OperationsManagement/solutions/read"
WRITE_SOLUTION = "Microsoft.OperationsManagement/solutions/write"


@dataclass(frozen=True, slots=True)
class Linked:
    """An action that Azure asks for on the side, on a resource that a body names."""

    action: str
    resource: str


def linked_of_cluster(properties: Any) -> tuple[Linked, ...]:
    """Those of the cluster itself. Its pools have their own."""
    return tuple(link for link in dict.fromkeys(_of_cluster(properties)) if link.resource.startswith("/"))


def linked_of_pool(properties: Any) -> tuple[Linked, ...]:
    """Those of a node pool."""
    named = (
        Linked(JOIN, text(properties, "vnetSubnetID")),
        Linked(JOIN, text(properties, "podSubnetID")),
        Linked(WRITE_PLACEMENT, text(properties, "proximityPlacementGroupID")),
    )
    return tuple(link for link in dict.fromkeys(named) if link.resource.startswith("/"))


def _of_cluster(properties: Any) -> Iterator[Linked]:
    yield Linked(READ_DISK_KEY, text(properties, "diskEncryptionSetID"))
    yield Linked(JOIN, text(properties, "apiServerAccessProfile", "subnetId"))
    balancer = dig(properties, "networkProfile", "loadBalancerProfile")
    for address in rows(balancer, "outboundIPs", "publicIPs"):
        yield Linked(JOIN_ADDRESS, text(address, "id"))
    for prefix in rows(balancer, "outboundIPPrefixes", "publicIPPrefixes"):
        yield Linked(JOIN_PREFIX, text(prefix, "id"))
    if text(balancer, "backendPoolType").lower() == "nodeip":
        for pool in rows(properties, "agentPoolProfiles"):
            yield Linked(JOIN_BALANCER, text(pool, "vnetSubnetID").partition("/subnets/")[0])
    gateway = addons.settings(properties, "ingressapplicationgateway")
    yield Linked(READ_GATEWAY, gateway.get("applicationgatewayid", ""))
    yield Linked(WRITE_GATEWAY, gateway.get("applicationgatewayid", ""))
    yield Linked(JOIN, gateway.get("subnetid", ""))
    yield from _of_insights(addons.settings(properties, "omsagent"))


def _of_insights(config: Mapping[str, str]) -> Iterator[Linked]:
    """Container insights with the workspace's keys. With a managed identity it needs neither these nor a solution."""
    workspace = config.get("loganalyticsworkspaceresourceid", "")
    if not workspace or addons.uses_managed_identity(config):
        return
    name = workspace.rsplit("/", 1)[-1]
    solution = f"{_group_of(workspace)}/providers/Microsoft.OperationsManagement/solutions/ContainerInsights({name})"
    yield Linked(READ_KEYS, workspace)
    yield Linked(READ_WORKSPACE, workspace)
    yield Linked(READ_SOLUTION, solution)
    yield Linked(WRITE_SOLUTION, solution)


def _group_of(resource: str) -> str:
    return "/".join(resource.split("/")[:5])
