"""Management groups, subscriptions, their providers and resource groups."""

from __future__ import annotations

from collections.abc import Iterator

from sandbox.blueprint.fleet import Fleet
from sandbox.blueprint.places import group_id
from sandbox.world import Body

REGISTERED = (
    "Microsoft.Authorization",
    "Microsoft.AzureStackHCI",
    "Microsoft.Compute",
    "Microsoft.ConnectedVMwarevSphere",
    "Microsoft.ContainerService",
    "Microsoft.ExtendedLocation",
    "Microsoft.HybridContainerService",
    "Microsoft.Insights",
    "Microsoft.Kubernetes",
    "Microsoft.KubernetesConfiguration",
    "Microsoft.ManagedIdentity",
    "Microsoft.ManagedNetworkFabric",
    "Microsoft.Network",
    "Microsoft.NetworkCloud",
    "Microsoft.OperationalInsights",
    "Microsoft.PolicyInsights",
    "Microsoft.ResourceConnector",
    "Microsoft.ResourceGraph",
    "Microsoft.ResourceHealth",
    "Microsoft.Resources",
    "Microsoft.ScVmm",
    "Microsoft.Storage",
)


def subscription_bodies(fleet: Fleet) -> Iterator[Body]:
    """All bodies above the resource level."""
    for group in sorted({subscription.management_group for subscription in fleet.subscriptions.values()}):
        yield {
            "id": f"/providers/Microsoft.Management/managementGroups/{group}",
            "type": "Microsoft.Management/managementGroups",
            "name": group,
            "properties": {"tenantId": fleet.tenant, "displayName": group},
        }
    for spec in fleet.subscriptions.values():
        yield {
            "id": f"/subscriptions/{spec.id}",
            "authorizationSource": "RoleBased",
            "managedByTenants": [],
            "subscriptionId": spec.id,
            "tenantId": fleet.tenant,
            "displayName": spec.display_name,
            "state": "Enabled",
            "subscriptionPolicies": {
                "locationPlacementId": "Public_2014-09-01",
                "quotaId": "EnterpriseAgreement_2014-09-01",
                "spendingLimit": "Off",
            },
        }
        for namespace in REGISTERED:
            yield {
                "id": f"/subscriptions/{spec.id}/providers/{namespace}",
                "namespace": namespace,
                "registrationState": "Registered",
                "registrationPolicy": "RegistrationRequired",
            }
        for name, location in spec.groups.items():
            yield group_body(spec.id, name, location)


def group_body(subscription: str, name: str, location: str, managed_by: str | None = None) -> Body:
    return {
        "id": group_id(subscription, name),
        "name": name,
        "type": "Microsoft.Resources/resourceGroups",
        "location": location,
        **({"managedBy": managed_by} if managed_by else {}),
        "tags": {},
        "properties": {"provisioningState": "Succeeded"},
    }
