"""A handmade subscription: one cluster with two pools, related resources and a few unrelated ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sandbox.world import Principal, World

Body = dict[str, Any]

TENANT = "5b1c2a30-0000-4000-8000-00000000aaaa"
SUB = "11111111-2222-4333-8444-555555555555"
OTHER_SUB = "99999999-2222-4333-8444-555555555555"
SUBSCRIPTION = f"/subscriptions/{SUB}"
GROUP = f"{SUBSCRIPTION}/resourceGroups/rg-prod"
NODE_GROUP = f"{SUBSCRIPTION}/resourceGroups/MC_rg-prod_prod-weu_westeurope"
CLUSTER = f"{SUBSCRIPTION}/resourcegroups/rg-prod/providers/Microsoft.ContainerService/managedClusters/prod-weu"
POOL = f"{CLUSTER}/agentPools/apps"
SCALE_SET = f"{NODE_GROUP}/providers/Microsoft.Compute/virtualMachineScaleSets/aks-apps-12345678-vmss"
VNET = f"{GROUP}/providers/Microsoft.Network/virtualNetworks/vnet-prod"
SUBNET = f"{VNET}/subnets/nodes"
USAGES = f"{SUBSCRIPTION}/providers/Microsoft.Compute/locations/westeurope/usages"
SKUS = f"{SUBSCRIPTION}/providers/Microsoft.Compute/skus"
NEXUS = f"{GROUP}/providers/Microsoft.NetworkCloud/kubernetesClusters/edge-nexus-01"
CONNECTED = f"{GROUP}/providers/Microsoft.Kubernetes/connectedClusters/edge-nexus-01"

NETWORK_CONTRIBUTOR = (
    f"{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions/4d97b98b-1d4f-4787-a291-c67834d212e7"
)

AKS_VERSION = "2026-08-01"
COMPUTE_VERSION = "2024-11-01"
NETWORK_VERSION = "2024-05-01"
RESOURCES_VERSION = "2022-09-01"

READER = Principal(
    "reader",
    "aaaaaaaa-0000-4000-8000-000000000001",
    "aaaaaaaa-0000-4000-8000-0000000000b1",
    "reader-s3cret",
    ("*/read", "Microsoft.PolicyInsights/policyStates/queryResults/action", "Microsoft.ResourceGraph/resources/read"),
)
WRITER = Principal(
    "writer",
    "aaaaaaaa-0000-4000-8000-000000000002",
    "aaaaaaaa-0000-4000-8000-0000000000b2",
    "writer-s3cret",
    ("*",),
    ("Microsoft.Authorization/*/delete",),
)
NOBODY = Principal(
    "nobody", "aaaaaaaa-0000-4000-8000-000000000003", "aaaaaaaa-0000-4000-8000-0000000000b3", "nobody-s3cret", ()
)


def pool(name: str, count: int = 2) -> Body:
    return {
        "id": f"{CLUSTER}/agentPools/{name}",
        "name": name,
        "type": "Microsoft.ContainerService/managedClusters/agentPools",
        "properties": {
            "eTag": f"{name}-etag-1",
            "count": count,
            "vmSize": "Standard_D4s_v5",
            "type": "VirtualMachineScaleSets",
            "provisioningState": "Succeeded",
            "powerState": {"code": "Running"},
            "orchestratorVersion": "1.33",
            "currentOrchestratorVersion": "1.33.6",
            "mode": "User",
            "vnetSubnetID": SUBNET,
        },
    }


def cluster() -> Body:
    profiles = [{"name": one["name"], **one["properties"]} for one in (pool("system"), pool("apps"))]
    return {
        "id": CLUSTER,
        "location": "westeurope",
        "name": "prod-weu",
        "type": "Microsoft.ContainerService/ManagedClusters",
        "eTag": "cluster-etag-1",
        "tags": {"team": "platform"},
        "properties": {
            "provisioningState": "Succeeded",
            "powerState": {"code": "Running"},
            "kubernetesVersion": "1.33",
            "currentKubernetesVersion": "1.33.6",
            "dnsPrefix": "prod-weu",
            "fqdn": "prod-weu-abc.hcp.westeurope.azmk8s.io",
            "nodeResourceGroup": "MC_rg-prod_prod-weu_westeurope",
            "agentPoolProfiles": profiles,
        },
        "sku": {"name": "Base", "tier": "Standard"},
    }


def instance(number: int, *, state: str = "succeeded") -> Body:
    return {
        "name": f"aks-apps-12345678-vmss_{number}",
        "id": f"{SCALE_SET}/virtualMachines/{number}",
        "type": "Microsoft.Compute/virtualMachineScaleSets/virtualMachines",
        "location": "westeurope",
        "instanceId": str(number),
        "properties": {
            "latestModelApplied": True,
            "provisioningState": state.capitalize(),
            "instanceView": {
                "statuses": [
                    {"code": f"ProvisioningState/{state}", "level": "Info", "displayStatus": "Provisioning"},
                    {"code": "PowerState/running", "level": "Info", "displayStatus": "VM running"},
                ],
                "extensions": [
                    {"name": "vmssCSE", "statuses": [{"code": "ProvisioningState/succeeded", "level": "Info"}]}
                ],
            },
        },
    }


def group(path: str) -> Body:
    return {
        "id": path,
        "name": path.rsplit("/", 1)[1],
        "type": "Microsoft.Resources/resourceGroups",
        "location": "westeurope",
        "properties": {"provisioningState": "Succeeded"},
    }


def subscription(identity: str, name: str, state: str = "Enabled") -> Body:
    return {
        "id": f"/subscriptions/{identity}",
        "authorizationSource": "RoleBased",
        "subscriptionId": identity,
        "tenantId": TENANT,
        "displayName": name,
        "state": state,
        "subscriptionPolicies": {
            "locationPlacementId": "Public_2014-09-01",
            "quotaId": "EnterpriseAgreement_2014-09-01",
            "spendingLimit": "Off",
        },
    }


def subnet(addresses: int = 6) -> Body:
    return {
        "name": "nodes",
        "id": SUBNET,
        "etag": 'W/"subnet-etag-1"',
        "type": "Microsoft.Network/virtualNetworks/subnets",
        "properties": {
            "provisioningState": "Succeeded",
            "addressPrefix": "10.1.0.0/24",
            "ipConfigurations": [
                {"id": f"{SCALE_SET}/virtualMachines/0/networkInterfaces/n/ipConfigurations/ip{n}"}
                for n in range(addresses)
            ],
        },
    }


def lock(scope: str, level: str = "CanNotDelete", name: str = "hold") -> Body:
    return {
        "properties": {"level": level, "notes": "do not touch"},
        "id": f"{scope}/providers/Microsoft.Authorization/locks/{name}",
        "type": "Microsoft.Authorization/locks",
        "name": name,
    }


def role_assignment(scope: str, principal: str, name: str) -> Body:
    return {
        "properties": {
            "roleDefinitionId": NETWORK_CONTRIBUTOR,
            "principalId": principal,
            "principalType": "ServicePrincipal",
            "scope": scope,
        },
        "id": f"{scope}/providers/Microsoft.Authorization/roleAssignments/{name}",
        "type": "Microsoft.Authorization/roleAssignments",
        "name": name,
    }


def policy_assignment(scope: str, name: str) -> Body:
    return {
        "properties": {
            "displayName": name,
            "policyDefinitionId": "/providers/Microsoft.Authorization/policyDefinitions/d1",
            "scope": scope,
            "notScopes": [],
            "enforcementMode": "Default",
        },
        "id": f"{scope}/providers/Microsoft.Authorization/policyAssignments/{name}",
        "type": "Microsoft.Authorization/policyAssignments",
        "name": name,
    }


def event(minutes_ago: float, number: int = 0, *, resource: str = POOL, group_name: str = "rg-prod") -> Body:
    when = (datetime.now(UTC) - timedelta(minutes=minutes_ago)).strftime("%Y-%m-%dT%H:%M:%S.%f") + "1Z"
    identity = f"00000000-0000-4000-8000-{number:012d}"
    return {
        "authorization": {"action": "Microsoft.ContainerService/managedClusters/agentPools/write", "scope": resource},
        "caller": "aaaaaaaa-0000-4000-8000-0000000000b2",
        "channels": "Operation",
        "claims": {"name": "somebody"},
        "correlationId": f"11111111-0000-4000-8000-{number:012d}",
        "eventDataId": identity,
        "eventName": {"value": "EndRequest", "localizedValue": "End request"},
        "category": {"value": "Administrative", "localizedValue": "Administrative"},
        "eventTimestamp": when,
        "id": f"{resource}/events/{identity}/ticks/1",
        "level": "Error",
        "resourceGroupName": group_name,
        "resourceProviderName": {"value": "Microsoft.ContainerService", "localizedValue": "Microsoft.ContainerService"},
        "resourceId": resource,
        "resourceType": {"value": "Microsoft.ContainerService/managedClusters/agentPools", "localizedValue": ""},
        "operationName": {"value": "Microsoft.ContainerService/managedClusters/agentPools/write", "localizedValue": ""},
        "properties": {"statusCode": "BadRequest", "statusMessage": "{}"},
        "status": {"value": "Failed", "localizedValue": "Failed"},
        "subStatus": {"value": "", "localizedValue": ""},
        "submissionTimestamp": when,
        "subscriptionId": SUB,
        "tenantId": TENANT,
    }


def usage(name: str, used: int, limit: int) -> Body:
    return {"limit": limit, "unit": "Count", "currentValue": used, "name": {"value": name, "localizedValue": name}}


def sku(name: str, location: str) -> Body:
    return {
        "resourceType": "virtualMachines",
        "name": name,
        "family": "standardDSv5Family",
        "locations": [location],
        "restrictions": [],
    }


def small_world() -> World:
    """One readable subscription and another one."""
    world = World(TENANT, principals=[READER, WRITER, NOBODY])
    bodies = [
        subscription(SUB, "Production"),
        subscription(OTHER_SUB, "Elsewhere"),
        group(GROUP),
        group(NODE_GROUP),
        cluster(),
        pool("system"),
        pool("apps"),
        {
            "name": SCALE_SET.rsplit("/", 1)[1],
            "id": SCALE_SET,
            "type": "Microsoft.Compute/virtualMachineScaleSets",
            "location": "westeurope",
            "sku": {"name": "Standard_D4s_v5", "capacity": 2},
            "tags": {"aks-managed-poolName": "apps"},
            "properties": {"provisioningState": "Succeeded", "orchestrationMode": "Uniform"},
        },
        instance(0),
        instance(1),
        {
            "name": "vnet-prod",
            "id": VNET,
            "etag": 'W/"vnet-etag-1"',
            "type": "Microsoft.Network/virtualNetworks",
            "location": "westeurope",
            "properties": {"provisioningState": "Succeeded", "addressSpace": {"addressPrefixes": ["10.1.0.0/16"]}},
        },
        subnet(),
        {
            "id": NEXUS,
            "name": "edge-nexus-01",
            "type": "microsoft.networkcloud/kubernetesclusters",
            "location": "eastus",
            "etag": '"nexus-etag-1"',
            "properties": {"provisioningState": "Succeeded", "detailedStatus": "Available"},
        },
        {
            "id": CONNECTED,
            "name": "edge-nexus-01",
            "type": "microsoft.kubernetes/connectedclusters",
            "location": "eastus",
            "properties": {"provisioningState": "Succeeded", "connectivityStatus": "Connected"},
        },
    ]
    for body in bodies:
        world.put(body)
    world.tables[USAGES.lower()] = [usage("cores", 90, 100), usage("standardDSv5Family", 48, 50)]
    world.tables[SKUS.lower()] = [sku("Standard_D4s_v5", "westeurope"), sku("Standard_D8s_v5", "eastus2")]
    return world
