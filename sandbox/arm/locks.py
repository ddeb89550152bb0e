"""Management locks, and subscription states that make everything read-only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sandbox.arm import errors
from sandbox.arm.paths import Place, parse, within
from sandbox.world import World

READS_BY_POST = {
    "Microsoft.ResourceGraph/resources",
    "Microsoft.PolicyInsights/policyStates/queryResults",
    "Microsoft.PolicyInsights/policyStates/summarize",
}
"""Read-only POSTs: locks do not block them, and the activity log does not record them as writes."""


def is_write(method: str, place: Place) -> bool:
    if method == "POST":
        return place.kind not in READS_BY_POST
    return method in ("PUT", "PATCH", "DELETE")


ISSUES_CREDENTIALS = {
    "Microsoft.ContainerService/managedClusters/listClusterAdminCredential",
    "Microsoft.ContainerService/managedClusters/listClusterMonitoringUserCredential",
    "Microsoft.ContainerService/managedClusters/listClusterUserCredential",
}
"""Read-only actions that a ReadOnly lock blocks like writes."""


def changes_something(method: str, place: Place) -> bool:
    """Whether the activity log counts this as a write."""
    return is_write(method, place) and place.kind not in ISSUES_CREDENTIALS


def all_locks(world: World) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every lock with its scope."""
    for key, body in world.resources.items():
        if "/providers/microsoft.authorization/locks/" in key:
            yield parse(body["id"]).scope, body


def check_locks(world: World, method: str, place: Place, scope: str) -> None:
    """409 ScopeLocked if a lock forbids the request. A POST counts as a write, so ReadOnly blocks list-keys."""
    if not is_write(method, place) or place.kind == "Microsoft.Authorization/locks":
        return
    deleting = method == "DELETE"
    stored = [
        at
        for at, lock in all_locks(world)
        if within(at, scope) and (deleting or lock["properties"]["level"].lower() == "readonly")
    ]
    if deleting and not stored:
        # Deleting a parent deletes its children.
        stored = [at for at, _ in all_locks(world) if within(scope, at)]
    if stored:
        raise errors.scope_locked(scope, "delete" if deleting else "write", stored)


def check_subscription_writable(world: World, subscription: str) -> None:
    """A Disabled or Warned subscription is read-only; a PastDue one works normally."""
    body = world.resources.get(f"/subscriptions/{subscription.lower()}", {})
    if body.get("state", "Enabled").lower() in ("disabled", "warned", "expired"):
        raise errors.subscription_disabled(subscription)
