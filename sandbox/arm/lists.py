"""List requests: by subscription, by resource group, below a parent, and of extension resources at a scope."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from sandbox.arm import errors
from sandbox.arm.answers import Answer
from sandbox.arm.instances import without_instance_view
from sandbox.arm.paths import Place, parse, within
from sandbox.arm.providers import catalogue
from sandbox.arm.site import Call, Site
from sandbox.world import World

Body = dict[str, Any]


def list_resources(site: Site, call: Call) -> Answer:
    """List resources for a path that ends with a type."""
    place = call.place
    table = site.world.tables.get(place.key)
    if table is not None:
        return site.page(call, list(table))
    scoped = _SCOPED.get(place.kind)
    if scoped:
        check_scope_exists(site.world, place)
        return site.page(call, scoped(site.world, call), paged=place.kind.startswith("Microsoft.Authorization"))
    check_parent_exists(site.world, place, "read")
    if _of_statuses(call):
        return site.page(call, [_status_only(body) for body in members(site.world, place)])
    found = list(members(site.world, place))
    if place.subscription and not place.group:
        # A subscription is answered with what of it the caller may read; nothing tells that there is more.
        found = [body for body in found if site.access.may(call.principal, call.action, body["id"])]
    answer = site.page(call, found)
    if place.kind in _WITH_VIEW and call.query.get("$expand", "").lower() != "instanceview":
        answer.body["value"] = [without_instance_view(item) for item in answer.body["value"]]
    return answer


_WITH_VIEW = {"Microsoft.Compute/virtualMachineScaleSets/virtualMachines", "Microsoft.Compute/virtualMachines"}


def _of_statuses(call: Call) -> bool:
    """Whether `statusOnly=true` applies: only the subscription-wide list of VMs supports it."""
    whole = call.place.kind == "Microsoft.Compute/virtualMachines" and not call.place.group
    return whole and call.query.get("statusonly", "").lower() == "true"


def _status_only(body: Body) -> Body:
    """Only the VM's identity and statuses: no tags, no size, no other instance view fields."""
    properties = body["properties"]
    view = {"statuses": properties.get("instanceView", {}).get("statuses", [])}
    kept = {name: properties[name] for name in ("vmId", "provisioningState") if name in properties}
    about: Body = {name: body[name] for name in ("name", "id", "type", "location") if name in body}
    return about | {"properties": {**kept, "instanceView": view}}


def members(world: World, place: Place) -> Iterator[Body]:
    """Every resource of the type below the path, in insertion order."""
    if place.kind == "Microsoft.Compute/virtualMachineScaleSets/networkInterfaces":
        pattern = re.compile(re.escape(place.parent.lower()) + r"/virtualmachines/[^/]+/networkinterfaces/[^/]+")
        yield from (body for key, body in world.resources.items() if pattern.fullmatch(key))
        return
    by_subscription = place.subscription and not place.group and len(place.types) == 1
    if by_subscription and place.scope.count("/") == 2:
        above = f"/subscriptions/{place.subscription}/".lower()
        marker = f"/providers/{place.namespace}/{place.types[0]}/".lower()
        for key, body in world.resources.items():
            if key.startswith(above) and marker in key and "/" not in key.split(marker, 1)[1]:
                yield body
        return
    prefix = place.key + "/"
    for key, body in world.resources.items():
        if key.startswith(prefix) and "/" not in key[len(prefix) :]:
            yield body


def check_parent_exists(world: World, place: Place, verb: str) -> None:
    """404 for a child whose parent does not exist, or an extension whose target does not exist."""
    check_scope_exists(world, place)
    if not place.parent or place.parent.lower() in world.resources:
        return
    parent = parse(place.parent)
    if parent.types and parent.types[0].lower() == "locations":
        return
    if place.kind.startswith("Microsoft.ContainerService/"):
        raise errors.resource_not_found(parent.display, place.group)
    kind = place.kind.split("/", 1)[1]
    raise errors.parent_not_found(verb, kind, parent.path)


def check_scope_exists(world: World, place: Place) -> None:
    """404 if the resource group, or the resource that an extension belongs to, does not exist."""
    if (
        place.group
        and f"/subscriptions/{place.subscription}/resourcegroups/{place.group}".lower() not in world.resources
    ):
        raise errors.group_not_found(place.group)
    above = parse(place.scope) if "/providers/" in place.scope.lower() else None
    if above and above.subscription and above.path.lower() not in world.resources:
        raise errors.resource_not_found(above.display, above.group)


# -- extension resources ------------------------------------------------------------------------------------------


def _on_scope(world: World, place: Place, *, above: bool, below: bool) -> list[Body]:
    """Extension resources of one type at a scope, above it and below it."""
    marker = f"/providers/{place.kind}/".lower()
    found = []
    for key, body in world.resources.items():
        at = key.rfind(marker)
        if at < 0 or "/" in key[at + len(marker) :]:
            continue
        scope = key[:at]
        inherited = contains(scope, place.scope)
        if scope == place.scope.lower() or (above and inherited) or (below and within(place.scope, scope)):
            found.append(body)
    return found


def contains(scope: str, inner: str) -> bool:
    """Whether an assignment at `scope` applies to `inner`; a management group contains every sandbox subscription."""
    if scope.lower().startswith("/providers/microsoft.management/"):
        return True
    return within(scope, inner)


def _locks(world: World, call: Call) -> list[Body]:
    if call.filter and call.filter != "atScope()":
        raise errors.wrapped(400, "InvalidFilterInQueryString", _bad_filter(call.filter, "'atScope()'"))
    return _on_scope(world, call.place, above=True, below=not call.filter)


_EQUALS = re.compile(r"(\w+)\s+eq\s+'?([^']+?)'?", re.IGNORECASE)
_ASSIGNED = re.compile(r"assignedTo\(\s*'([^']+)'\s*\)", re.IGNORECASE)


def _role_assignments(world: World, call: Call) -> list[Body]:
    below = True
    keep: list[Callable[[Body], bool]] = []
    for part in filter(None, re.split(r"\s+and\s+", call.filter)):
        equal, assigned = _EQUALS.fullmatch(part), _ASSIGNED.fullmatch(part)
        if part.lower() == "atscope()":
            below = False
        elif assigned or (equal and equal[1].lower() == "principalid"):
            wanted = (assigned[1] if assigned else equal[2] if equal else "").lower()
            # The world has no group memberships, so assignedTo() is equivalent to principalId eq.
            below = below and not assigned
            keep.append(partial(_is_for, wanted))
        else:
            raise errors.wrapped(
                400,
                "UnsupportedQuery",
                f"The filter '{call.filter}' is not supported. Supported filters are either 'atScope()' or "
                "'principalId eq '{value}' or assignedTo('{value}')'.",
            )
    return [body for body in _on_scope(world, call.place, above=True, below=below) if all(k(body) for k in keep)]


def _is_for(principal: str, body: Body) -> bool:
    return str(body["properties"]["principalId"]).lower() == principal


def _deny_assignments(world: World, call: Call) -> list[Body]:
    if call.filter and call.filter.lower() != "atscope()":
        raise errors.wrapped(400, "UnsupportedQuery", _bad_filter(call.filter, "'atScope()'"))
    return _on_scope(world, call.place, above=True, below=not call.filter)


def _policy_extensions(world: World, call: Call) -> list[Body]:
    wanted = call.filter.lower()
    if wanted in ("", "atscope()", "atscopeandbelow()"):
        # The last one is undocumented; `az policy assignment list --disable-scope-strict-match` sends it.
        return _on_scope(world, call.place, above=True, below=wanted != "atscope()")
    if wanted == "atexactscope()":
        return _on_scope(world, call.place, above=False, below=False)
    equal = _EQUALS.fullmatch(call.filter)
    names = {"policydefinitionid": "policyDefinitionId", "policyassignmentid": "policyAssignmentId"}
    if not equal or equal[1].lower() not in names:
        allowed = "'atScope()', 'atExactScope()' or 'policyDefinitionId eq '{value}''"
        raise errors.wrapped(400, "InvalidFilterInQueryString", _bad_filter(call.filter, allowed))
    field, value = names[equal[1].lower()], equal[2].lower()
    every = _on_scope(world, call.place, above=True, below=True)
    return [body for body in every if str(body["properties"].get(field, "")).lower() == value]


def _diagnostic_settings(world: World, call: Call) -> list[Body]:
    """The diagnostic settings of one resource. List items have four null keys that a single setting does not have."""
    nothing = {"location": None, "kind": None, "tags": None, "identity": None}
    return [nothing | body for body in _on_scope(world, call.place, above=False, below=False)]


def _role_definitions(world: World, call: Call) -> list[Body]:
    equal = _EQUALS.fullmatch(call.filter) if call.filter else None
    if call.filter and not equal and call.filter.lower() != "atscopeandbelow()":
        raise errors.wrapped(400, "UnsupportedQuery", _bad_filter(call.filter, "'roleName eq' and 'type eq'"))
    known = [body for key, body in world.resources.items() if "/microsoft.authorization/roledefinitions/" in key]
    if not equal:
        return known
    field = {"rolename": "roleName", "type": "type"}.get(equal[1].lower(), equal[1])
    return [body for body in known if str(body["properties"].get(field, "")).lower() == equal[2].lower()]


def _bad_filter(sent: str, allowed: str) -> str:
    return f"The filter '{sent}' in the query string is not supported. Supported filters are {allowed}."


_SCOPED: dict[str, Callable[[World, Call], list[Body]]] = {
    "Microsoft.Authorization/locks": _locks,
    "Microsoft.Authorization/roleAssignments": _role_assignments,
    "Microsoft.Authorization/roleDefinitions": _role_definitions,
    "Microsoft.Authorization/denyAssignments": _deny_assignments,
    "Microsoft.Authorization/policyAssignments": _policy_extensions,
    "Microsoft.Authorization/policyExemptions": _policy_extensions,
    "Microsoft.Insights/diagnosticSettings": _diagnostic_settings,
}


# -- lists of ARM itself ------------------------------------------------------------------------------------------


def list_tracked(site: Site, call: Call) -> Answer:
    """`/resources`: every tracked resource in short form. With a filter the first page is empty, as often in Azure."""
    above = call.place.path.rsplit("/", 1)[0]
    keep = _resource_filter(call.filter)
    items = [_short(body) for body in tracked(site.world) if within(above, body["id"])]
    return site.page(call, [item for item in items if keep(item)], empty_first=bool(call.filter))


def tracked(world: World) -> Iterator[Body]:
    """Resources that ARM tracks: top-level ones in a group."""
    for key, body in world.resources.items():
        # Only /subscriptions/{}/resourceGroups/{}/providers/{}/{}/{} can be one, so skip the rest early.
        if key.count("/") != _SLASHES_OF_A_TRACKED_ID:
            continue
        place = parse(key)
        known = catalogue().type(place.kind)
        if place.group and known and known.top_level and not known.untracked:
            yield body


_SLASHES_OF_A_TRACKED_ID = 8


def _short(body: Body) -> Body:
    kept = ("id", "name", "type", "location", "tags", "sku", "kind", "identity", "zones", "plan", "managedBy")
    return {name: body[name] for name in kept if name in body}


def _resource_filter(text: str) -> Callable[[Body], bool]:
    if not text:
        return lambda _: True
    tests: list[tuple[str, str]] = []
    for part in re.split(r"\s+and\s+", text):
        equal = _EQUALS.fullmatch(part.strip())
        if not equal or equal[1].lower() not in ("resourcetype", "name", "location", "resourcegroup"):
            raise errors.gateway(
                400, "InvalidFilterInQueryString", f"Invalid $filter '{text}' specified in the query string."
            )
        tests.append((equal[1].lower(), equal[2].lower()))
    return lambda body: all(_field(body, name) == value for name, value in tests)


def _field(body: Body, name: str) -> str:
    if name == "resourcetype":
        return parse(body["id"]).kind.lower()
    if name == "resourcegroup":
        return (parse(body["id"]).group or "").lower()
    return str(body.get(name, "")).lower()
