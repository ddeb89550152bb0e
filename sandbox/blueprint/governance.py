"""Role assignments, locks, policies and diagnostic settings."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from sandbox.blueprint.clock import wire
from sandbox.blueprint.fleet import LockSpec, PolicySpec
from sandbox.blueprint.mint import Mint
from sandbox.blueprint.places import Places
from sandbox.world import Body

NETWORK_CONTRIBUTOR = "4d97b98b-1d4f-4787-a291-c67834d212e7"
CONTRIBUTOR = "b24988ac-6180-42a0-ab88-20f7382dd24c"
MANAGED_IDENTITY_OPERATOR = "f1a07417-d97a-45cb-824c-7a7467783830"
READER = "acdd72a7-3385-48ef-bd42-f606fba81ae7"
CONTROL_PLANE_LOGS = (
    "kube-apiserver",
    "kube-audit-admin",
    "kube-controller-manager",
    "kube-scheduler",
    "cluster-autoscaler",
    "guard",
)
_LOGS_OFF = ("kube-audit", "csi-azuredisk-controller", "csi-azurefile-controller", "csi-snapshot-controller")


def cluster_roles(places: Places, route_table: str | None, created: datetime) -> Iterator[Body]:
    """The role assignments that a cluster's identities need, granted by AKS or the owners."""

    def grant(principal: str, role: str, scope: str) -> Body:
        return role_assignment(places.mint, principal, role, scope, created)

    yield grant(places.principal, CONTRIBUTOR, places.node_group)
    if places.spec.network.vnet:
        yield grant(places.principal, NETWORK_CONTRIBUTOR, places.node_subnet)
    if places.pod_subnet:
        yield grant(places.principal, NETWORK_CONTRIBUTOR, places.pod_subnet)
    if places.own_identity:
        yield grant(places.principal, MANAGED_IDENTITY_OPERATOR, places.kubelet_identity)
    if route_table and places.spec.network.vnet:
        yield grant(places.principal, NETWORK_CONTRIBUTOR, route_table)
    yield grant(places.kubelet_principal, READER, places.node_group)


def role_assignment(mint: Mint, principal: str, role: str, scope: str, created: datetime) -> Body:
    name = mint.guid("role", principal, role, scope.lower())
    subscription = "/".join(scope.split("/")[:3])
    return {
        "properties": {
            "roleDefinitionId": f"{subscription}/providers/Microsoft.Authorization/roleDefinitions/{role}",
            "principalId": principal,
            "principalType": "ServicePrincipal",
            "scope": scope,
            "condition": None,
            "conditionVersion": None,
            "createdOn": wire(created),
            "updatedOn": wire(created),
            "createdBy": mint.guid("deployer"),
            "updatedBy": mint.guid("deployer"),
            "delegatedManagedIdentityResourceId": None,
            "description": None,
        },
        "id": f"{scope}/providers/Microsoft.Authorization/roleAssignments/{name}",
        "type": "Microsoft.Authorization/roleAssignments",
        "name": name,
    }


def lock_body(name: str, spec: LockSpec, mint: Mint, created: datetime) -> Body:
    properties = {"level": spec.level, **({"notes": spec.notes} if spec.notes else {})}
    by = {"createdBy": mint.guid("deployer"), "createdByType": "Application", "createdAt": wire(created)}
    return {
        "properties": properties,
        "systemData": {**by, **{key.replace("created", "lastModified"): value for key, value in by.items()}},
        "id": f"{spec.scope}/providers/Microsoft.Authorization/locks/{name}",
        "type": "Microsoft.Authorization/locks",
        "name": name,
    }


def policy_bodies(name: str, spec: PolicySpec, mint: Mint, created: datetime) -> Iterator[Body]:
    """A built-in policy, its assignment, and an exemption for each exempt scope."""
    definition = f"/providers/Microsoft.Authorization/policyDefinitions/{spec.definition}"
    yield {
        "properties": {
            "displayName": spec.display_name,
            "policyType": "BuiltIn",
            "mode": "Indexed",
            "version": "1.0.0",
            "parameters": {key: {"type": "String"} for key in spec.parameters},
        },
        "id": definition,
        "type": "Microsoft.Authorization/policyDefinitions",
        "name": spec.definition,
    }
    assignment = f"{spec.scope}/providers/Microsoft.Authorization/policyAssignments/{name}"
    yield {
        "properties": {
            "displayName": spec.display_name,
            "policyDefinitionId": definition,
            "scope": spec.scope,
            "notScopes": [],
            "parameters": {key: {"value": value} for key, value in spec.parameters.items()},
            "metadata": {
                "createdBy": mint.guid("deployer"),
                "createdOn": wire(created),
                "updatedBy": None,
                "updatedOn": None,
            },
            "enforcementMode": "Default",
            "nonComplianceMessages": [],
        },
        "id": assignment,
        "type": "Microsoft.Authorization/policyAssignments",
        "name": name,
    }
    for scope in spec.exempt:
        exemption = f"{name}-waiver"
        yield {
            "properties": {
                "policyAssignmentId": assignment,
                "policyDefinitionReferenceIds": [],
                "exemptionCategory": "Waiver",
                "displayName": f"Not for {scope.rsplit('/', 1)[-1]}",
            },
            "id": f"{scope}/providers/Microsoft.Authorization/policyExemptions/{exemption}",
            "type": "Microsoft.Authorization/policyExemptions",
            "name": exemption,
        }


def workspace_body(places: Places, workspace: str, created: datetime) -> Body:
    """The Log Analytics workspace that control-plane logs go to."""
    mint = places.mint
    return {
        "properties": {
            "customerId": mint.guid(workspace),
            "provisioningState": "Succeeded",
            "sku": {"name": "PerGB2018", "lastSkuUpdate": wire(created)},
            "retentionInDays": 90,
            "features": {"legacy": 0, "searchVersion": 1, "enableLogAccessUsingOnlyResourcePermissions": True},
            "workspaceCapping": {
                "dailyQuotaGb": -1.0,
                "quotaNextResetTime": wire(created),
                "dataIngestionStatus": "RespectQuota",
            },
            "publicNetworkAccessForIngestion": "Enabled",
            "publicNetworkAccessForQuery": "Enabled",
            "createdDate": wire(created),
            "modifiedDate": wire(created),
        },
        "location": places.spec.location,
        "id": workspace,
        "name": workspace.rsplit("/", 1)[-1],
        "type": "Microsoft.OperationalInsights/workspaces",
        "etag": f'"{mint.guid(workspace, "etag")}"',
    }


def resource_health(places: Places) -> Body:
    """The Resource Health status of the control plane; it can be read but appears in no list."""
    return {
        "id": f"{places.id}/providers/Microsoft.ResourceHealth/availabilityStatuses/current",
        "type": "Microsoft.ResourceHealth/AvailabilityStatuses",
        "name": "current",
        "location": places.spec.location,
        "properties": {
            "availabilityState": "Available",
            "title": "Available",
            "summary": "There aren't any known Azure platform problems affecting this Kubernetes service.",
            "reasonType": "",
            "reasonChronicity": "Persistent",
        },
    }


def diagnostic_setting(places: Places, workspace: str) -> Body:
    """The setting that sends the cluster's control-plane logs; Insights returns the ids in lower case."""
    off = {"enabled": False, "days": 0}
    names = [*CONTROL_PLANE_LOGS, *_LOGS_OFF]
    return {
        "id": f"{places.id.lower()}/providers/microsoft.insights/diagnosticSettings/control-plane-logs",
        "type": "Microsoft.Insights/diagnosticSettings",
        "name": "control-plane-logs",
        "location": None,
        "kind": None,
        "tags": None,
        "properties": {
            "storageAccountId": None,
            "serviceBusRuleId": None,
            "workspaceId": workspace,
            "eventHubAuthorizationRuleId": None,
            "eventHubName": None,
            "metrics": [{"category": "AllMetrics", "enabled": False, "retentionPolicy": off}],
            "logs": [
                {
                    "category": name,
                    "categoryGroup": None,
                    "enabled": name in CONTROL_PLANE_LOGS,
                    "retentionPolicy": off,
                }
                for name in names
            ],
            "logAnalyticsDestinationType": "Dedicated",
        },
        "identity": None,
    }
