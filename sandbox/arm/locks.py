"""Management locks, and the other things that make a whole scope read-only."""

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
"""Queries that are sent by POST and change nothing: no lock holds them, and the log does not call them writes."""


def is_write(method: str, place: Place) -> bool:
    if method == "POST":
        return place.kind not in READS_BY_POST
    return method in ("PUT", "PATCH", "DELETE")


ISSUES_CREDENTIALS = {
    "Microsoft.ContainerService/managedClusters/listClusterAdminCredential",
    "Microsoft.ContainerService/managedClusters/listClusterMonitoringUserCredential",
    "Microsoft.ContainerService/managedClusters/listClusterUserCredential",
}
"""Actions that a ReadOnly lock stops as if they were writes, although they change nothing."""


def changes_something(method: str, place: Place) -> bool:
    """What the log calls a write."""
    return is_write(method, place) and place.kind not in ISSUES_CREDENTIALS


def all_locks(world: World) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every lock with the scope it is put on."""
    for key, body in world.resources.items():
        if "/providers/microsoft.authorization/locks/" in key:
            yield parse(body["id"]).scope, body


def check_locks(world: World, method: str, place: Place, scope: str) -> None:
    """409 ScopeLocked where a lock forbids this. A POST counts as a write: that is why ReadOnly stops list-keys."""
    if not is_write(method, place) or place.kind == "Microsoft.Authorization/locks":
        return
    deleting = method == "DELETE"
    stored = [
        at
        for at, lock in all_locks(world)
        if within(at, scope) and (deleting or lock["properties"]["level"].lower() == "readonly")
    ]
    if deleting and not stored:
        # Deleting a parent deletes what is below it.
        stored = [at for at, _ in all_locks(world) if within(scope, at)]
    if stored:
        raise errors.scope_locked(scope, "delete" if deleting else "write", stored)


def check_subscription_writable(world: World, subscription: str) -> None:
    """A disabled or warned subscription is read-only; one whose payment is overdue still works."""
    body = world.resources.get(f"/subscriptions/{subscription.lower()}", {})
    if body.get("state", "Enabled").lower() in ("disabled", "warned", "expired"):
        raise errors.subscription_disabled(subscription)
