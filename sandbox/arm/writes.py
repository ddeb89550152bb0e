"""PUT, PATCH and DELETE, following each provider's protocol."""

from __future__ import annotations

import uuid
from copy import deepcopy
from typing import Any

from sandbox.arm import audit_trail, errors
from sandbox.arm.answers import Answer
from sandbox.arm.effects import (
    CLUSTER,
    apply_changes,
    pool_states,
    remove,
    set_state,
    spread_profiles,
)
from sandbox.arm.guards import (
    check_aks_change,
    check_idle,
    check_node_group_unlocked,
    check_precondition,
)
from sandbox.arm.linked import check_linked, check_own_identity
from sandbox.arm.lists import check_parent_exists
from sandbox.arm.merging import etag_of, renew_etag, stored
from sandbox.arm.operations import Operation, first_headers
from sandbox.arm.paths import Place
from sandbox.arm.protocols import GROUP_DELETE, protocol_for
from sandbox.arm.providers import catalogue
from sandbox.arm.rules import take_rule
from sandbox.arm.site import Call, Site
from sandbox.arm.starting import begin, refused
from sandbox.world import WriteRule

Body = dict[str, Any]

NULL = None
_CLUSTER_KIND = "Microsoft.ContainerService/managedClusters"
_HUB = {
    "Microsoft.NetworkCloud",
    "Microsoft.ManagedNetworkFabric",
    "Microsoft.HybridContainerService",
    "Microsoft.ResourceConnector",
    "Microsoft.Kubernetes",
}


def put(site: Site, call: Call) -> Answer:
    """Create or update. The immediate response is the resource in its transitional state."""
    place = call.place
    if place.collection or not (place.types or place.group):
        raise errors.method_not_allowed(call.method)
    check_parent_exists(site.world, place, "write")
    sent = call.json()
    if not isinstance(sent, dict):
        raise errors.invalid_content("the content is not a JSON object")
    check_linked(site, call, sent)
    current = site.resource(place.path)
    if current is None and call.method == "PATCH":
        raise errors.resource_not_found(place.display, place.group)
    check_precondition(place, current, call.headers)
    check_idle(site, place)
    _check_location(place, current, sent)
    if place.kind.startswith("Microsoft.ContainerService/"):
        check_aks_change(place, current, sent)
        check_own_identity(site, place, current, sent)
    rule = take_rule(site, call.method, place.path)
    if rule and rule.refuse:
        raise refused(site, call, rule)
    if rule is None:
        check_node_group_unlocked(site.world, place)
    return _store(site, call, current, sent, rule)


def _check_location(place: Place, current: Body | None, sent: Body) -> None:
    asked = str(sent.get("location") or "").lower().replace(" ", "")
    known = catalogue().type(place.kind)
    tracked = known and known.top_level and not known.extension and place.group
    if current is None and tracked and not asked:
        raise errors.gateway(400, "LocationRequired", "The location property is required for this definition.")
    had = str((current or {}).get("location") or "").lower().replace(" ", "")
    if had and asked and had != asked:
        raise errors.gateway(
            409,
            "InvalidResourceLocation",
            f"The resource '{place.name}' already exists in location '{had}' in resource group '{place.group}'. A "
            f"resource with the same name cannot be created in location '{asked}'. Please select a new resource "
            "name.",
        )


def _store(site: Site, call: Call, current: Body | None, sent: Body, rule: WriteRule | None) -> Answer:
    place = call.place
    protocol = protocol_for(place.kind)
    if call.method == "PATCH" and protocol and protocol.name == "Microsoft.Network":
        protocol = None
    body = stored(deepcopy(current) if current else _new_body(place), sent)
    if protocol is None:
        if "properties" in body and "provisioningState" in body["properties"]:
            set_state(body, "Succeeded")
        renew_etag(body)
        site.world.put(body)
        apply_changes(site.world, rule.then if rule else ())
        status = 200 if current else 201
        audit_trail.record(site, call, "Succeeded", code=status)
        return Answer(status, body, aks=place.kind.startswith("Microsoft.ContainerService/"))
    before = pool_states(site.world, place.path) if CLUSTER in place.key else {}
    set_state(body, _state_on_the_way(place, current, body))
    renew_etag(body)
    site.world.put(body)
    if place.kind == _CLUSTER_KIND:
        spread_profiles(site.world, body, body["properties"]["provisioningState"])
    operation = begin(site, call, place.path, protocol, rule, before)
    return _first_answer(site, call, operation, site.world.resources[place.key], created=current is None)


def _new_body(place: Place) -> Body:
    """The body of a new resource, with its id in the provider's format."""
    namespace = place.kind.split("/", 1)[0]
    identity = place.path
    if namespace == "Microsoft.ContainerService":
        identity = identity.replace("/resourceGroups/", "/resourcegroups/")
    kind = place.kind.lower() if namespace in _HUB else place.kind
    if not place.types:
        return {
            "id": identity,
            "name": place.group,
            "type": "Microsoft.Resources/resourceGroups",
            "properties": {"provisioningState": "Succeeded"},
        }
    body: Body = {"id": identity, "name": place.name, "type": kind, "properties": {}}
    tag = str(uuid.uuid4())
    if namespace == "Microsoft.Network":
        body["etag"] = f'W/"{tag}"'
    elif namespace in _HUB:
        body["etag"] = f'"{tag}"'
    elif place.kind == _CLUSTER_KIND:
        body["eTag"] = tag
    elif place.kind == "Microsoft.ContainerService/managedClusters/agentPools":
        body["properties"] = {"eTag": tag, "powerState": {"code": "Running"}}
    return body


def _state_on_the_way(place: Place, current: Body | None, body: Body) -> str:
    namespace = place.kind.split("/", 1)[0]
    if namespace in _HUB:
        return "Accepted"
    if current is None:
        return "Updating" if namespace == "Microsoft.Network" else "Creating"
    if namespace == "Microsoft.ContainerService":
        before, after = current.get("properties", {}), body["properties"]
        for name, state in (
            ("kubernetesVersion", "Upgrading"),
            ("orchestratorVersion", "Upgrading"),
            ("count", "Scaling"),
        ):
            if before.get(name) != after.get(name):
                return state
    return "Updating"


def _first_answer(site: Site, call: Call, operation: Operation, body: Body, *, created: bool) -> Answer:
    namespace = call.place.kind.split("/", 1)[0]
    headers = first_headers(operation, site.url, location=False)
    if operation.protocol.puts_have_location and namespace == "Microsoft.Network":
        return Answer(202, {}, headers)
    if namespace in _HUB:
        tag = etag_of(body)
        headers |= {"x-ms-providerhub-traffic": "True"} | ({"ETag": tag} if tag else {})
        if call.method == "PATCH":
            return Answer(202, NULL, headers | first_headers(operation, site.url, location=True))
        return Answer(201, body, headers)
    if namespace == "Microsoft.KubernetesConfiguration":
        return Answer(201, body, headers)
    return Answer(201 if created else 200, body, headers, aks=operation.protocol.aks)


def delete(site: Site, call: Call) -> Answer:
    """Delete: 202 and an operation, or done immediately; a missing resource is not an error if its group exists."""
    place = call.place
    if place.collection or not (place.types or place.group):
        raise errors.method_not_allowed(call.method)
    current = site.resource(place.path)
    if current is None:
        if not place.types:
            raise errors.group_not_found(place.group or "")
        check_parent_exists(site.world, place, "delete")
        return Answer(204)
    check_precondition(place, current, call.headers)
    check_idle(site, place)
    rule = take_rule(site, "DELETE", place.path)
    if rule and rule.refuse:
        raise refused(site, call, rule)
    if rule is None:
        check_node_group_unlocked(site.world, place)
    protocol = protocol_for(place.kind) if place.types else GROUP_DELETE
    if protocol is None:
        remove(site.world, place.path)
        apply_changes(site.world, rule.then if rule else ())
        audit_trail.record(site, call, "Succeeded", code=200)
        return Answer(200)
    changed = deepcopy(current)
    set_state(changed, "Deleting")
    site.world.put(changed)
    operation = begin(site, call, place.path, protocol, rule)
    headers = first_headers(operation, site.url, location=True)
    if place.kind.split("/", 1)[0] in _HUB:
        return Answer(202, NULL, headers)
    if protocol.puts_have_location:
        return Answer(202, {}, headers)
    return Answer(202, headers=headers)
