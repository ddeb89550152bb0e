"""Configuration by a healthy cluster's owners: locks, policies, roles, providers, diagnostic settings."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from tests.worlds.cluster import workspace_id
from tests.worlds.ids import LOCATION, MADE, TENANT, Body, Ids, guid, wire

_ASSIGN = "/providers/Microsoft.Authorization"
_CONTRIBUTOR = "/providers/Microsoft.Authorization/roleDefinitions/4d97b98b-1d4f-4787-a291-c67834d212e7"
_ALWAYS = (
    *("Microsoft.Authorization", "Microsoft.Compute", "Microsoft.ContainerService", "Microsoft.Insights"),
    *("Microsoft.ManagedIdentity", "Microsoft.Network", "Microsoft.PolicyInsights", "Microsoft.Resources"),
    *("Microsoft.Storage", "Microsoft.OperationalInsights", "Microsoft.Monitor", "Microsoft.ContainerRegistry"),
)
_UNNEEDED = (
    "Microsoft.ContainerInstance",
    "Microsoft.OperationsManagement",
    "Microsoft.Security",
    "Microsoft.KeyVault",
)


def governance_bodies(ids: Ids) -> Iterator[Body]:
    guards = ids.shape.guards
    states = dict.fromkeys((*_ALWAYS, *_UNNEEDED), "Registered")
    if "unneeded-providers" in guards:
        states |= dict.fromkeys(_UNNEEDED, "NotRegistered")
    if "provider-registering" in guards:
        states["Microsoft.Storage"] = "Registering"
    if "virtual-node" in ids.shape.inside:
        states["Microsoft.ContainerInstance"] = "Registered"
    for namespace, state in states.items():
        yield _provider(ids, namespace, state)
    if "lock-on-group" in guards:
        yield lock(ids.group_id, "CanNotDelete", "do-not-delete")
    if "lock-elsewhere" in guards:
        yield lock(f"/subscriptions/{ids.subscription}/resourceGroups/rg-archive", "ReadOnly", "archive")
    yield from _policies(ids)
    yield from _roles(ids)
    yield from _named(ids)
    if "diagnostic-setting" in guards:
        yield _diagnostics(ids)
    if "monitoring-with-identity" in guards:
        yield {
            "id": workspace_id(ids),
            "name": f"logs-{ids.seed}",
            "location": LOCATION,
            "properties": {"provisioningState": "Succeeded", "workspaceCapping": {"dailyQuotaGb": -1.0}},
        }
    yield from _denials(ids)
    yield {
        "id": f"{ids.cluster}/providers/Microsoft.ResourceHealth/availabilityStatuses/current",
        "name": "current",
        "type": "Microsoft.ResourceHealth/AvailabilityStatuses",
        "properties": {"availabilityState": "Available", "summary": "There aren't any known Azure platform problems"},
    }


def lock(scope: str, level: str, name: str, ago: timedelta = MADE) -> Body:
    return {
        "id": f"{scope}{_ASSIGN}/locks/{name}",
        "name": name,
        "type": "Microsoft.Authorization/locks",
        "properties": {"level": level, "notes": ""},
        "systemData": {"createdAt": wire(ago), "createdByType": "User"},
    }


def _provider(ids: Ids, namespace: str, state: str) -> Body:
    identity = f"/subscriptions/{ids.subscription}/providers/{namespace}"
    return {"id": identity, "namespace": namespace, "registrationState": state}


def _policies(ids: Ids) -> Iterator[Body]:
    if "policies" in ids.shape.guards:
        yield _assignment("/providers/Microsoft.Management/managementGroups/platform", "allowed-locations", "Default")
        yield _assignment(f"/subscriptions/{ids.subscription}", "deny-public-ip", "DoNotEnforce")
    if "exempted-policy" in ids.shape.guards:
        assigned = _assignment(f"/subscriptions/{ids.subscription}", "require-tags", "Default")
        yield assigned
        exemption = f"{ids.node_group_id}{_ASSIGN}/policyExemptions/aks"
        properties = {"policyAssignmentId": assigned["id"], "exemptionCategory": "Waiver"}
        yield {
            "id": exemption,
            "name": "aks",
            "type": "Microsoft.Authorization/policyExemptions",
            "properties": properties,
        }


def _assignment(scope: str, name: str, mode: str) -> Body:
    return {
        "id": f"{scope}{_ASSIGN}/policyAssignments/{name}",
        "name": name,
        "type": "Microsoft.Authorization/policyAssignments",
        "properties": {
            "displayName": name.replace("-", " "),
            "scope": scope,
            "enforcementMode": mode,
            "policyDefinitionId": f"{_ASSIGN}/policyDefinitions/{guid(name)}",
        },
    }


def _roles(ids: Ids) -> Iterator[Body]:
    """Role assignments: AKS makes its identity Contributor on the node resource group; owners grant it the network."""
    theirs = ids.shape.own_subnet or (ids.shape.private and ids.shape.zone == "own")
    for scope in (ids.node_group_id, *([ids.network_group] if theirs else [])):
        name = guid(ids.seed, scope)
        yield {
            "id": f"{scope}{_ASSIGN}/roleAssignments/{name}",
            "name": name,
            "type": "Microsoft.Authorization/roleAssignments",
            "properties": {
                "principalId": ids.principal,
                "principalType": "ServicePrincipal",
                "roleDefinitionId": _CONTRIBUTOR,
                "scope": scope,
            },
        }


def _named(ids: Ids) -> Iterator[Body]:
    """Resources referred to by the cluster: its identities, and the registry used by isolated nodes."""
    registry = f"{ids.group_id}/providers/Microsoft.ContainerRegistry/registries/boot{ids.seed}"
    for one in (ids.kubelet_identity, ids.own_identity, *([registry] if ids.shape.isolated else [])):
        yield {"id": one, "name": one.rsplit("/", 1)[-1], "location": LOCATION, "properties": {}}


def _diagnostics(ids: Ids) -> Body:
    logs = [{"category": "kube-audit-admin", "enabled": True}, {"category": "guard", "enabled": False}]
    return {
        "id": f"{ids.cluster}/providers/Microsoft.Insights/diagnosticSettings/to-logs",
        "name": "to-logs",
        "location": None,
        "tags": None,
        "properties": {"logs": logs, "metrics": [], "workspaceId": workspace_id(ids)},
    }


def _denials(ids: Ids) -> Iterator[Body]:
    """The node resource group lockdown, and an unrelated deny assignment."""
    if ids.shape.sku == "Automatic":
        yield _denial(ids, ids.node_group_id, "aks-lockdown")
    if "denials-elsewhere" in ids.shape.guards:
        yield _denial(ids, f"/subscriptions/{ids.subscription}/resourceGroups/rg-archive", "stack")


def _denial(ids: Ids, scope: str, name: str) -> Body:
    assignment = guid(ids.seed, name)
    return {
        "id": f"{scope}{_ASSIGN}/denyAssignments/{assignment}",
        "name": assignment,
        "type": "Microsoft.Authorization/denyAssignments",
        "properties": {
            "denyAssignmentName": name,
            "scope": scope,
            "doNotApplyToChildScopes": False,
            "permissions": [{"actions": ["*/write", "*/delete"], "notActions": []}],
            "principals": [{"id": "00000000-0000-0000-0000-000000000000", "type": "SystemDefined"}],
            "excludePrincipals": [{"id": guid("the AKS provider"), "type": "ServicePrincipal"}],
            "isSystemProtected": True,
        },
    }


def subscription_bodies(ids: Ids) -> Iterator[Body]:
    """The subscriptions and their resource groups."""
    for one in dict.fromkeys((ids.subscription, ids.hub)):
        yield {
            "id": f"/subscriptions/{one}",
            "subscriptionId": one,
            "tenantId": TENANT,
            "displayName": "platform",
            "state": "Enabled",
        }
        if one != ids.subscription:
            yield {"id": f"/subscriptions/{one}/providers/Microsoft.Network", "registrationState": "Registered"}
    archive = f"/subscriptions/{ids.subscription}/resourceGroups/rg-archive"
    for group in dict.fromkeys((ids.group_id, ids.node_group_id, ids.network_group, archive)):
        managed = {"managedBy": ids.cluster} if group == ids.node_group_id else {}
        yield {"id": group, "name": group.rsplit("/", 1)[-1], "location": LOCATION, "properties": {}, **managed}
