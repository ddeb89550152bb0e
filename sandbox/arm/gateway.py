"""One request through ARM's front end: version, type, permission, registration, locks, and then the provider."""

from __future__ import annotations

from sandbox.arm import errors
from sandbox.arm.actions import post
from sandbox.arm.answers import Answer
from sandbox.arm.front_door import registration_state
from sandbox.arm.locks import READS_BY_POST, check_locks, check_subscription_writable, is_write
from sandbox.arm.paths import Place, scope_of
from sandbox.arm.providers import RESOURCES, catalogue
from sandbox.arm.reads import read
from sandbox.arm.site import Call, Handler, Site
from sandbox.arm.writes import delete, put

_HANDLERS: dict[str, Handler] = {
    "GET": read,
    "HEAD": read,
    "POST": post,
    "PUT": put,
    "PATCH": put,
    "DELETE": delete,
}


def answer(site: Site, call: Call) -> Answer:
    """Answer one authenticated request, or raise a Refusal."""
    place = call.place
    handler = _HANDLERS.get(call.method)
    if handler is None:
        raise errors.method_not_allowed(call.method)
    # Azure's own operation links are valid even if their api-version is not among those this cloud offers.
    check_version(place, call.version, "" if {"s", "h"} <= call.query.keys() else site.world.cloud_as_of)
    if place.subscription and f"/subscriptions/{place.subscription.lower()}" not in site.world.resources:
        raise errors.subscription_not_found(place.subscription)
    scope = scope_of(place)
    if call.action not in _FREE and not _over_nothing(place):
        site.access.check(call.principal, call.action, scope)
    if is_write(call.method, place) and place.subscription:
        check_subscription_writable(site.world, place.subscription)
        _check_registered(site, place)
        check_locks(site.world, call.method, place, scope)
    return handler(site, call)


_FREE = {f"{RESOURCES}/tenants/read"}
"""Allowed to every authenticated principal: reading its own tenant."""


def _over_nothing(place: Place) -> bool:
    """`/subscriptions` and Resource Graph have no scope: they return whatever the caller may read."""
    return place.path == "/subscriptions" or place.kind == "Microsoft.ResourceGraph/resources"


def check_version(place: Place, version: str, as_of: str = "") -> None:
    """400 for a missing or unknown api-version, 404 for an unknown type or namespace."""
    if not version:
        raise errors.api_version_missing()
    if not place.types:
        _check_front_door_version(version, as_of)
        return
    namespace = catalogue().namespace(place.namespace or "")
    if namespace is None:
        raise errors.invalid_namespace(place.namespace or "")
    kind = catalogue().type(place.kind)
    if kind is None:
        # A POST names an action of its parent; registering is an action of the namespace.
        kind = catalogue().type(place.parent_kind) if place.parent_kind else None
        if kind is None or place.kind.rsplit("/", 1)[-1] not in kind.actions:
            if place.types in (("register",), ("unregister",)):
                return
            raise errors.invalid_type("/".join(place.types), namespace, version)
    offered = kind.offered(as_of)
    if version.lower() in offered:
        return
    if not offered:
        raise errors.invalid_type(kind.name, namespace, version, catalogue().versions_of(namespace, as_of))
    if kind.extension:
        # Extension types have no location: the error says that the type does not exist in this version.
        raise errors.invalid_type(kind.name, namespace, version, offered)
    places = [name for name in catalogue().locations if place.subscription]
    raise errors.no_registered_provider("westeurope", version, kind.name, offered, places)


def _check_front_door_version(version: str, as_of: str) -> None:
    known = catalogue().versions_of(RESOURCES, as_of)
    if version not in known:
        raise errors.api_version_invalid(version, known)


def _check_registered(site: Site, place: Place) -> None:
    if not place.namespace or place.types in (("register",), ("unregister",)) or place.kind in READS_BY_POST:
        return
    namespace = catalogue().namespace(place.namespace) or place.namespace
    if registration_state(site, place.subscription or "", namespace) in ("NotRegistered", "Unregistered"):
        raise errors.not_registered(namespace)
