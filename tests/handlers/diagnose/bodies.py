"""Ids and wire bodies of the healthy cluster of `wire.py`, for that module and for tests that change one of them."""

from __future__ import annotations

import copy
from datetime import UTC, datetime, timedelta
from typing import Any

Body = dict[str, Any]
NOW = datetime(2026, 11, 18, 3, 7, tzinfo=UTC)
SUB = "5a1c0000-0000-4000-8000-000000000001"
GROUP, NODE_GROUP = "rg-one", "MC_rg-one_one_westeurope"
GROUP_ID = f"/subscriptions/{SUB}/resourceGroups/{GROUP}"
NODE_GROUP_ID = f"/subscriptions/{SUB}/resourceGroups/{NODE_GROUP}"
CLUSTER = f"/subscriptions/{SUB}/resourcegroups/{GROUP}/providers/Microsoft.ContainerService/managedClusters/one"
VNET = f"{GROUP_ID}/providers/Microsoft.Network/virtualNetworks/vnet"
SUBNET = f"{VNET}/subnets/nodes"
NETWORKS = f"{NODE_GROUP_ID}/providers/Microsoft.Network"
NSG = f"{NETWORKS}/networkSecurityGroups/aks-agentpool-12345678-nsg"
MANAGED_VNET = f"{NETWORKS}/virtualNetworks/aks-vnet-12345678"
AUTOSCALER = "/api/v1/namespaces/kube-system/configmaps/cluster-autoscaler-status"
LOCATION = f"/subscriptions/{SUB}/providers/Microsoft.Compute/locations/westeurope"
LOCKS = "/providers/Microsoft.Authorization/locks"
PROVIDERS = (
    "Microsoft.ContainerService",
    "Microsoft.Compute",
    "Microsoft.Network",
    "Microsoft.Storage",
    "Microsoft.ManagedIdentity",
    "Microsoft.OperationalInsights",
    "Microsoft.OperationsManagement",
    "Microsoft.Insights",
    "Microsoft.KeyVault",
)


def pool_id(name: str) -> str:
    return f"{CLUSTER}/agentPools/{name}"


def scale_set_id(pool: str) -> str:
    return f"{NODE_GROUP_ID}/providers/Microsoft.Compute/virtualMachineScaleSets/aks-{pool}-12345678-vmss"


def resource(resource_id: str, properties: Body, **more: Any) -> Body:
    return {"id": resource_id, "name": resource_id.rsplit("/", 1)[-1], "properties": copy.deepcopy(properties), **more}


def subscription(subscription_id: str, state: str, name: str = "platform") -> Body:
    """A subscription as Azure Resource Manager returns it."""
    return {
        "id": f"/subscriptions/{subscription_id}",
        "subscriptionId": subscription_id,
        "displayName": name,
        "state": state,
        "subscriptionPolicies": {"quotaId": "PayAsYouGo_2014-09-01", "spendingLimit": "Off"},
    }


def rows(items: Any) -> Body:
    return {"value": list(items)}


def endpoint(category: str, host: str, port: int = 443, protocol: str = "Https") -> Body:
    """One required outbound endpoint of nodes."""
    return {
        "category": category,
        "endpoints": [{"domainName": host, "endpointDetails": [{"port": port, "protocol": protocol}]}],
    }


def rule(name: str, priority: int, access: str, to: str = "Internet", ports: str = "*", **more: Any) -> Body:
    """An outbound rule of a security group."""
    properties = {
        "priority": priority,
        "access": access,
        "direction": "Outbound",
        "protocol": "*",
        "sourceAddressPrefix": "*",
        "sourcePortRange": "*",
        "destinationAddressPrefix": to,
        "destinationPortRange": ports,
    }
    return resource(f"{NSG}/securityRules/{name}", properties | more)


def machine(pool: str, number: int) -> Body:
    running = {"statuses": [{"code": "ProvisioningState/succeeded"}, {"code": "PowerState/running"}]}
    body = resource(f"{scale_set_id(pool)}/virtualMachines/{number}", {"provisioningState": "Succeeded"})
    body["properties"] |= {"latestModelApplied": True, "instanceView": running}
    return body | {"instanceId": str(number)}


def lone_machine(name: str, state: str = "Succeeded", power: str = "running", **more: Any) -> Body:
    """A VM in the node resource group outside any scale set."""
    statuses = [{"code": f"ProvisioningState/{state.lower()}"}, {"code": f"PowerState/{power}"}]
    properties = {"provisioningState": state, "hardwareProfile": {"vmSize": more.pop("size", "Standard_D4s_v5")}}
    properties |= {"osProfile": {"computerName": name}, "instanceView": {"statuses": statuses}}
    return resource(f"{NODE_GROUP_ID}/providers/Microsoft.Compute/virtualMachines/{name}", properties, **more)


def of_nap(name: str, node_pool: str = "default", **more: Any) -> Body:
    """A VM of node auto-provisioning: Karpenter's tags and no AKS node pool."""
    tags = {"karpenter.azure.com_cluster": "one", "karpenter.sh_nodepool": node_pool, "compute.aks.billing": "linux"}
    return lone_machine(name, tags=tags, **more)


def usage(name: str, used: int, limit: int) -> Body:
    return {"name": {"value": name, "localizedValue": f"{name} vCPUs"}, "currentValue": used, "limit": limit}


def sku(name: str, family: str, cores: int) -> Body:
    where = [{"location": "westeurope", "zones": ["1", "2", "3"]}]
    capabilities = [{"name": "vCPUs", "value": str(cores)}]
    return {
        "resourceType": "virtualMachines",
        "name": name,
        "family": family,
        "locationInfo": where,
        "capabilities": capabilities,
    }


def event(resource_id: str, status: str, ago: timedelta, message: str = "", correlation: str = "c0ffee") -> Body:
    properties = {"statusMessage": message} if message else {}
    at = (NOW - ago).strftime("%Y-%m-%dT%H:%M:%S.0000000Z")
    return {
        "eventDataId": f"{status}-{at}-{resource_id[-20:]}",
        "eventTimestamp": at,
        "operationName": {"value": "Microsoft.ContainerService/managedClusters/write"},
        "status": {"value": status},
        "subStatus": {"value": ""},
        "resourceId": resource_id,
        "correlationId": correlation,
        "properties": properties,
    }


def at(ago: timedelta) -> str:
    return (NOW - ago).strftime("%Y-%m-%dT%H:%M:%SZ")
