"""The managed cluster as AKS returns it."""

from __future__ import annotations

from tests.worlds.ids import LOCATION, NEXT_VERSION, TENANT, VERSION, Body, Ids, guid
from tests.worlds.network import access_profile, profile

UPGRADES = ("upgrade", "slow-upgrade", "pool-upgrade")
_WHILE = {"upgrade": "Upgrading", "slow-upgrade": "Upgrading", "creating-pool": "Updating"}
"""The cluster's state during an operation; pool operations mostly leave it Succeeded."""


def cluster_body(ids: Ids) -> Body:
    """The cluster; the sandbox's World fills in its agentPoolProfiles."""
    shape = ids.shape
    version = NEXT_VERSION if shape.operation in UPGRADES else VERSION
    state = _WHILE.get(shape.operation, "Succeeded")
    if shape.operation == "creating-pool" and ids.seed % 2:
        state = "Succeeded"
    properties: Body = {
        "provisioningState": state,
        "powerState": {"code": "Stopped" if shape.stopped else "Running"},
        "kubernetesVersion": version.rpartition(".")[0] if ids.seed % 3 == 0 else version,
        "currentKubernetesVersion": version,
        "dnsPrefix": ids.name,
        "agentPoolProfiles": [],
        "servicePrincipalProfile": {"clientId": guid(ids.seed, "sp") if _by_principal(ids) else "msi"},
        "nodeResourceGroup": ids.node_group,
        "enableRBAC": True,
        "networkProfile": profile(ids),
        **access_profile(ids),
        **({} if _by_principal(ids) else {"identityProfile": _kubelet(ids)}),
        "addonProfiles": _addons(ids),
        "disableLocalAccounts": shape.auth == "azure-rbac",
        **({} if shape.auth == "local" else {"aadProfile": _entra(ids)}),
        "securityProfile": {},
        "storageProfile": {"diskCSIDriver": {"enabled": True}, "fileCSIDriver": {"enabled": True}},
        "autoUpgradeProfile": {"nodeOSUpgradeChannel": "NodeImage"},
        "nodeProvisioningProfile": {"mode": "Auto" if shape.auto >= 0 else "Manual"},
        "bootstrapProfile": _bootstrap(ids),
        "hostedSystemProfile": {"enabled": shape.hosted},
        "azureMonitorProfile": {"metrics": {"enabled": shape.sku == "Automatic"}},
    }
    if shape.sku == "Automatic":
        properties["nodeResourceGroupProfile"] = {"restrictionLevel": "ReadOnly"}
    if "unknown-fields" in shape.oddities:
        properties |= {"somethingNewProfile": {"enabled": True, "list": [1, None]}, "status": None}
    return {
        "id": ids.cluster,
        "name": ids.name,
        "type": "Microsoft.ContainerService/ManagedClusters",
        "location": LOCATION,
        "properties": properties,
        **({} if _by_principal(ids) else {"identity": _identity(ids)}),
        "sku": {"name": shape.sku, "tier": "Standard"},
        "eTag": guid(ids.seed, "etag"),
    }


def _by_principal(ids: Ids) -> bool:
    return "service-principal" in ids.shape.oddities


def _identity(ids: Ids) -> Body:
    if "user-identity" not in ids.shape.oddities:
        return {"type": "SystemAssigned", "principalId": ids.principal, "tenantId": TENANT}
    who = {"principalId": ids.principal, "clientId": guid(ids.seed, "client")}
    return {"type": "UserAssigned", "userAssignedIdentities": {ids.own_identity: who}}


def _kubelet(ids: Ids) -> Body:
    who = {"clientId": guid(ids.seed, "kubelet client"), "objectId": ids.kubelet_principal}
    return {"kubeletidentity": {"resourceId": ids.kubelet_identity, **who}}


def _entra(ids: Ids) -> Body:
    return {"managed": True, "enableAzureRBAC": ids.shape.auth == "azure-rbac", "tenantID": TENANT}


def _addons(ids: Ids) -> Body:
    """Container insights as set up today: with the cluster's identity, without the legacy solution."""
    addons: Body = {"azurepolicy": {"enabled": False}}
    if "monitoring-with-identity" in ids.shape.guards:
        settings = {"logAnalyticsWorkspaceResourceID": workspace_id(ids), "useAADAuth": "true"}
        addons["omsagent"] = {"enabled": True, "config": settings}
    if "virtual-node" in ids.shape.inside:
        addons["aciConnectorLinux"] = {"enabled": True, "config": {"SubnetName": "virtual-nodes"}}
    return addons


def workspace_id(ids: Ids) -> str:
    """The workspace id; Container insights has it in lower case in some places."""
    return f"{ids.group_id}/providers/microsoft.operationalinsights/workspaces/logs-{ids.seed}"


def _bootstrap(ids: Ids) -> Body:
    if not ids.shape.isolated:
        return {"artifactSource": "Direct"}
    registry = f"{ids.group_id}/providers/Microsoft.ContainerRegistry/registries/boot{ids.seed}"
    return {"artifactSource": "Cache", "containerRegistryId": registry}
