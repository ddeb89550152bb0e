"""GET requests: one resource, a list, and reads that are neither."""

from __future__ import annotations

import ipaddress
import re
from typing import Any

from sandbox.arm import errors
from sandbox.arm.activity import list_events
from sandbox.arm.answers import Answer, Refusal
from sandbox.arm.detectors import KIND as DETECTORS
from sandbox.arm.detectors import list_or_run
from sandbox.arm.front_door import (
    list_groups,
    list_locations,
    list_providers,
    list_subscriptions,
    list_tenants,
    one_provider,
)
from sandbox.arm.instances import instance_view, without_instance_view
from sandbox.arm.lists import check_parent_exists, check_scope_exists, list_resources, list_tracked
from sandbox.arm.metrics import metrics
from sandbox.arm.operations import poll_operation, poll_result
from sandbox.arm.paths import Place
from sandbox.arm.site import Call, Handler, Site

Body = dict[str, Any]


def read(site: Site, call: Call) -> Answer:
    """Answer a GET (or a HEAD, whose body is dropped later)."""
    elsewhere = site.answers.get(call.place.kind)
    if elsewhere and not call.place.collection:
        return elsewhere(site, call)
    special = SPECIAL.get(call.place.kind)
    if special and (call.place.collection or call.place.kind in _WHOLE_PATH):
        return special(site, call)
    if call.place.namespace and not call.place.types:
        return one_provider(site, call)
    # Some paths end with a type but return a single document: kubernetesVersions, availableAgentPoolVersions.
    if call.place.collection and call.place.key not in site.world.resources:
        return list_resources(site, call)
    return get_resource(site, call)


def get_resource(site: Site, call: Call) -> Answer:
    """One resource with its id in its original case, or its provider's 404."""
    place = call.place
    body = site.resource(place.path)
    if body is None and place.kind in _BUILT_IN:
        body = _by_name(site, place)
    if body is None:
        raise not_found(site, place)
    if place.kind in _WITH_VIEW and call.query.get("$expand", "").lower() != "instanceview":
        body = without_instance_view(body)
    headers = {"ETag": body["etag"]} if isinstance(body.get("etag"), str) else {}
    return Answer(200, body, headers, aks=place.kind.startswith("Microsoft.ContainerService/"))


_WITH_VIEW = {
    "Microsoft.Compute/virtualMachineScaleSets/virtualMachines",
    "Microsoft.Compute/virtualMachines",
    "Microsoft.Compute/virtualMachineScaleSets",
}
_BUILT_IN = {
    "Microsoft.Authorization/roleDefinitions",
    "Microsoft.Authorization/policyDefinitions",
    "Microsoft.Authorization/policySetDefinitions",
}
"""Built-in definitions, readable at any scope."""


def _by_name(site: Site, place: Place) -> Body | None:
    end = f"/providers/{place.kind}/{place.name}".lower()
    return next((body for key, body in site.world.resources.items() if key.endswith(end)), None)


def not_found(site: Site, place: Place) -> Refusal:
    """The 404 as worded by the service that answers: ARM, AKS (no envelope), Compute, Network, Authorization."""
    if place.kind == "Microsoft.Resources/subscriptions/resourceGroups":
        return errors.group_not_found(place.group or "")
    if not place.types:
        return errors.gateway(404, "NotFound", f"The path '{place.path}' was not found.")
    check_scope_exists(site.world, place)
    check_parent_exists(site.world, place, "read")
    if place.kind in _AKS_WORDS:
        return _aks_not_found(place)
    if place.kind == "Microsoft.ContainerService/managedClusters" and place.key in site.deleted:
        return _aks_not_found(place)
    if place.kind == "Microsoft.Compute/virtualMachineScaleSets/virtualMachines":
        message = f"The entity {place.name} was not found in scale set {place.names[0]}."
        return errors.wrapped(404, "NotFound", message)
    if place.kind.startswith("Microsoft.Network/") and len(place.types) > 1:
        return errors.wrapped(404, "NotFound", f"Resource {place.path} not found.", details=[])
    words = _AUTHORIZATION_WORDS.get(place.kind)
    if words:
        return errors.wrapped(404, words[0], words[1].format(place.name))
    return errors.resource_not_found(place.display, place.group)


_AKS_WORDS = {
    "Microsoft.ContainerService/managedClusters/agentPools": "Agent Pool",
    "Microsoft.ContainerService/managedClusters/agentPools/machines": "Machine",
    "Microsoft.ContainerService/managedClusters/maintenanceConfigurations": "Maintenance Configuration",
}
_AUTHORIZATION_WORDS = {
    "Microsoft.Authorization/roleAssignments": (
        "RoleAssignmentNotFound",
        "The role assignment '{}' is not found.",
    ),
    "Microsoft.Authorization/roleDefinitions": (
        "RoleDefinitionDoesNotExist",
        "The specified role definition with ID '{}' does not exist.",
    ),
    "Microsoft.Authorization/policyAssignments": (
        "PolicyAssignmentNotFound",
        "The policy assignment '{}' is not found.",
    ),
    "Microsoft.Authorization/locks": ("LockNotFound", "The lock '{}' could not be found."),
}


def _aks_not_found(place: Place) -> Refusal:
    noun = _AKS_WORDS.get(place.kind, "Managed Cluster")
    if noun == "Agent Pool":
        message = (
            f"Could not find the agentpool: {place.name} in subscription: {place.subscription}, "
            f"resourceGroup: {place.group}, resourceName: {place.names[0]}."
        )
    elif noun == "Managed Cluster":
        message = (
            f"Could not find managed cluster resource: {place.name} in subscription: {place.subscription}, "
            f"resourceGroup: {place.group}."
        )
    else:
        message = "The entity was not found."
    return errors.aks(
        404,
        "NotFound",
        message,
        subcode=f"Get{noun.replace(' ', '')}_NotFound_HCPServerError",
        details=[{"code": "Unspecified", "message": f"rpc error: code = NotFound desc = {noun} not found"}],
    )


# -- reads other than resources -----------------------------------------------------------------------------------


def usages(site: Site, call: Call) -> Answer:
    """Quota usages of a location, on one page; Compute rows have no id, Network rows do."""
    return Answer(200, {"value": site.world.tables.get(call.place.key, [])})


def subnet_usages(site: Site, call: Call) -> Answer:
    """How many addresses of each subnet are in use, counted from its ipConfigurations."""
    check_parent_exists(site.world, call.place, "read")
    below = call.place.parent.lower() + "/subnets/"
    rows = [
        {
            "currentValue": len(body["properties"].get("ipConfigurations") or ()),
            "id": body["id"],
            "limit": _usable_addresses(body["properties"]),
            "name": {"localizedValue": "Subnet size and usage", "value": "SubnetSpace"},
            "unit": "Count",
        }
        for key, body in site.world.resources.items()
        if key.startswith(below) and "/" not in key[len(below) :]
    ]
    return Answer(200, {"value": rows})


RESERVED_IN_A_SUBNET = 5
"""Azure keeps the network address, the gateway, two for DNS, and the broadcast address."""


def _usable_addresses(properties: Body) -> int:
    prefixes = properties.get("addressPrefixes") or [properties["addressPrefix"]]
    networks = [ipaddress.ip_network(prefix) for prefix in prefixes]
    return sum(net.num_addresses - RESERVED_IN_A_SUBNET for net in networks if net.version == 4)


_LOCATION_IS = re.compile(r"location\s+eq\s+'?([A-Za-z0-9 ]+)'?", re.IGNORECASE)


def skus(site: Site, call: Call) -> Answer:
    """VM sizes with their zones and restrictions. `location eq` is the only supported filter."""
    rows = site.world.tables.get(call.place.key, [])
    if call.filter:
        wanted = _LOCATION_IS.fullmatch(call.filter)
        if not wanted:
            raise errors.wrapped(
                400, "InvalidParameter", f"The filter '{call.filter}' is not supported.", target="$filter"
            )
        name = wanted[1].lower().replace(" ", "")
        rows = [row for row in rows if name in (place.lower() for place in row.get("locations", ()))]
    return site.page(call, list(rows))


def permissions(site: Site, call: Call) -> Answer:
    return Answer(200, {"value": site.access.permissions(call.principal)})


SPECIAL: dict[str, Handler] = {
    "Microsoft.Resources/tenants": list_tenants,
    "Microsoft.Resources/subscriptions": list_subscriptions,
    "Microsoft.Resources/subscriptions/resourceGroups": list_groups,
    "Microsoft.Resources/subscriptions/locations": list_locations,
    "Microsoft.Resources/subscriptions/providers": list_providers,
    "Microsoft.Resources/subscriptions/resources": list_tracked,
    "Microsoft.Resources/subscriptions/operationresults": poll_result,
    "Microsoft.Insights/eventtypes/values": list_events,
    "Microsoft.Insights/metrics": metrics,
    DETECTORS: list_or_run,
    "Microsoft.Compute/locations/usages": usages,
    "Microsoft.Network/locations/usages": usages,
    "Microsoft.Storage/locations/usages": usages,
    "Microsoft.Network/virtualNetworks/usages": subnet_usages,
    "Microsoft.Compute/skus": skus,
    "Microsoft.Compute/virtualMachines/instanceView": instance_view,
    "Microsoft.Compute/virtualMachineScaleSets/instanceView": instance_view,
    "Microsoft.Compute/virtualMachineScaleSets/virtualMachines/instanceView": instance_view,
    "Microsoft.Authorization/permissions": permissions,
    "Microsoft.ContainerService/locations/operations": poll_operation,
    "Microsoft.ContainerService/locations/operationresults": poll_result,
    "Microsoft.Compute/locations/operations": poll_operation,
    "Microsoft.Network/locations/operations": poll_operation,
    "Microsoft.Network/locations/operationResults": poll_result,
    "Microsoft.Network/privateDnsOperationStatuses": poll_operation,
    "Microsoft.NetworkCloud/locations/operationStatuses": poll_operation,
    "Microsoft.ManagedNetworkFabric/locations/operationStatuses": poll_operation,
    "Microsoft.HybridContainerService/locations/operationStatuses": poll_operation,
    "Microsoft.ResourceConnector/locations/operationStatuses": poll_operation,
    "Microsoft.Kubernetes/locations/operationStatuses": poll_operation,
    "Microsoft.KubernetesConfiguration/extensions/operations": poll_operation,
}
_WHOLE_PATH = {
    kind
    for kind, handler in SPECIAL.items()
    if handler in (poll_operation, poll_result, list_or_run) or kind.startswith("Microsoft.Resources/")
}
"""Kinds with a special handler even when the path ends with a name."""
