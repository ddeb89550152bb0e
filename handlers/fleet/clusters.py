"""Every cluster that the bot can see: from Azure Resource Graph, or by listing each subscription."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass
from typing import Any

from handlers.clients.answers import Listing
from handlers.clients.arm.reader import ArmReader
from handlers.clients.errors import (
    ArmError,
    CredentialRefused,
    Denied,
    NotFound,
    Refused,
    Unreachable,
    VersionNotOffered,
)
from handlers.fleet.kinds import AKS, BRIDGE, CLUSTER_TYPES, CONNECTED, NEXUS, kind_in_words
from handlers.problem import Problem
from handlers.resource_id import BadResourceId, ResourceId

GRAPH = "/providers/Microsoft.ResourceGraph/resources"
GRAPH_API = "2022-10-01"
SUBSCRIPTIONS_API = "2022-12-01"
LISTED = {CONNECTED: "2024-01-01", BRIDGE: "2022-10-27", NEXUS: "2025-02-01"}
"""The types that are listed by path, with their api-version; managed clusters have a typed client."""
SEARCHED = (AKS, *LISTED)
WITHOUT_NEXUS = (AKS, CONNECTED, BRIDGE)
"""Every Nexus cluster is an Arc-connected cluster of the same name, too: Nexus is listed only where a name is one of
those, or none that is known."""
NEWER = "update aksbot: this version cannot read what the cloud offers"
AT_ONCE = 8
_NOT_HERE = frozenset({"MissingSubscriptionRegistration", "InvalidResourceNamespace", "InvalidResourceType"})
"""A type that this cloud has not at all, or that this subscription cannot hold. NoRegisteredProviderFound is neither:
the type is there, and was asked for in a version that is not."""


@dataclass(frozen=True, slots=True, order=True)
class FleetMember:
    """One cluster, as a picker shows it."""

    name: str
    id: str
    type: str
    location: str
    subscription: str
    provisioning_state: str | None = None
    power_state: str | None = None
    """Running or Stopped; only managed clusters have one."""
    arc_kind: str = ""
    """The `kind` of an Arc-connected cluster: ProvisionedCluster is AKS hybrid."""
    connected: str = ""
    """The id under which a Nexus cluster is connected to Arc: a second resource for the same cluster."""

    @property
    def kind(self) -> str:
        """As people call it: "Arc resource bridge"."""
        return kind_in_words(ResourceId.parse(self.id), self.arc_kind)

    @property
    def group(self) -> str:
        return ResourceId.parse(self.id).resource_group or ""


@dataclass(frozen=True, slots=True)
class Look:
    """The clusters found by listing each subscription, and the subscriptions that could not be read."""

    members: tuple[FleetMember, ...]
    subscriptions: int
    failed: tuple[ArmError, ...]


async def fleet(arm: ArmReader, known_subscriptions: Iterable[str] | None = None) -> tuple[FleetMember, ...]:
    """All clusters, by name. If none could be read, the reason is raised."""
    subscriptions = None if known_subscriptions is None else tuple(known_subscriptions)
    found = await ask_graph(arm, subscriptions)
    if found:
        return found
    look = await list_by_subscription(arm, subscriptions)
    raise_if_nothing_was_read(look, "cannot list the clusters")
    return look.members


async def ask_graph(
    arm: ArmReader, subscriptions: tuple[str, ...] | None = None, name: str | None = None
) -> tuple[FleetMember, ...]:
    """The clusters in Resource Graph; None if it denies access or fails, so that subscriptions are listed instead."""
    types = ", ".join(f"'{kind.lower()}'" for kind in SEARCHED)
    named = f" | where name =~ '{name}'" if name else ""
    body: dict[str, Any] = {
        "query": f"Resources | where type in~ ({types}){named} | project id, name, type, location, "
        "subscriptionId, provisioningState = properties.provisioningState, "
        "powerState = properties.powerState.code, kind, connectedClusterId = properties.connectedClusterId "
        "| order by name asc",
    }
    if subscriptions is not None:
        body["subscriptions"] = list(subscriptions)
    rows: list[Any] = []
    followed: set[str] = set()
    options: dict[str, Any] = {"$top": 1000, "resultFormat": "objectArray"}
    try:
        while True:
            page = (await arm.query(GRAPH, GRAPH_API, {**body, "options": options})).body
            if not isinstance(page, dict) or not isinstance(page.get("data"), list):
                return ()
            rows += page["data"]
            token = page.get("$skipToken")
            if not token:
                return _members(rows)
            if not isinstance(token, str) or token in followed:
                return ()
            followed.add(token)
            options = {**options, "$skipToken": token}
    except (CredentialRefused, Unreachable):
        raise
    except ArmError:
        return ()


async def list_by_subscription(
    arm: ArmReader, subscriptions: tuple[str, ...] | None = None, types: tuple[str, ...] = SEARCHED
) -> Look:
    """List the clusters of each subscription: slower than Resource Graph, but never out of date."""
    if subscriptions is None:
        listed = await arm.list("/subscriptions", SUBSCRIPTIONS_API)
        named = (row.get("subscriptionId") for row in listed.items if isinstance(row, dict))
        subscriptions = tuple(subscription for subscription in named if isinstance(subscription, str) and subscription)
    gate = asyncio.Semaphore(AT_ONCE)
    async with asyncio.TaskGroup() as group:
        asking = [
            group.create_task(_rows(gate, listing)) for name in subscriptions for listing in _lists(arm, name, types)
        ]
    brought = [task.result() for task in asking]
    rows = [row for result in brought if not isinstance(result, ArmError) for row in result]
    failed = tuple(result for result in brought if isinstance(result, ArmError))
    return Look(_members(rows), len(subscriptions), failed)


async def list_nexus_too(arm: ArmReader, look: Look, subscriptions: tuple[str, ...] | None) -> Look:
    """The same look with the Nexus clusters; each replaces its own Arc-connected cluster."""
    nexus = await list_by_subscription(arm, subscriptions, (NEXUS,))
    members = without_arc_faces((*look.members, *nexus.members))
    return Look(members, look.subscriptions, (*look.failed, *nexus.failed))


def without_arc_faces(members: Iterable[FleetMember]) -> tuple[FleetMember, ...]:
    """Each cluster once: a Nexus cluster and its Arc-connected cluster are one."""
    known = tuple(members)
    faces = {member.connected.lower() for member in known if member.connected}
    mine = (member for member in known if member.id.lower() not in faces)
    return tuple(sorted(mine, key=lambda member: (member.name.lower(), member.id.lower())))


def raise_if_nothing_was_read(look: Look, what: str) -> None:
    """If nothing was seen because nothing could be read, raise the reason instead of returning "none"."""
    unreadable = [error for error in look.failed if isinstance(error, VersionNotOffered)]
    managed = [error for error in unreadable if SEARCHED[0].lower() in error.unavailable.wanted.lower()]
    if managed or (unreadable and not look.members):
        told = (managed or unreadable)[0]
        raise Problem(what, f"{told.unavailable.wanted}: {told.detail}", NEWER)
    if look.members:
        return
    do = "grant aksbot-reader (deploy/azure), or Reader, to the bot's identity on the subscriptions of your clusters"
    if not look.subscriptions:
        raise Problem(what, "the bot's identity may see no subscription", do)
    denied = [error for error in look.failed if isinstance(error, Denied)]
    if denied and len(denied) == len(look.failed):
        raise Problem(what, f"it may not be read ({denied[0].detail})", do)
    if look.failed:
        raise next(error for error in look.failed if not isinstance(error, Denied))


def _lists(arm: ArmReader, subscription: str, types: tuple[str, ...]) -> list[Awaitable[Listing]]:
    scope = f"/subscriptions/{subscription}/providers"
    by_path = [arm.list(f"{scope}/{path}", version) for path, version in LISTED.items() if path in types]
    return [*([arm.managed_clusters(subscription)] if AKS in types else []), *by_path]


async def _rows(gate: asyncio.Semaphore, asking: Awaitable[Listing]) -> tuple[Any, ...] | ArmError:
    async with gate:
        try:
            return (await asking).items
        except VersionNotOffered as lagging:
            return lagging
        except (NotFound, Refused) as refused:
            return () if refused.code in _NOT_HERE else refused
        except ArmError as error:
            return error


def _members(rows: Iterable[Any]) -> tuple[FleetMember, ...]:
    found = {
        row["id"].lower(): _member(row) for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)
    }
    return without_arc_faces(member for member in found.values() if member)


def _member(row: dict[str, Any]) -> FleetMember | None:
    try:
        id_ = ResourceId.parse(row["id"])
    except BadResourceId:
        return None
    proper = next((cluster_type for cluster_type in CLUSTER_TYPES if id_.is_a(cluster_type)), id_.type)
    given = row.get("properties")
    properties = given if isinstance(given, dict) else {}
    power = properties.get("powerState")
    state = row.get("provisioningState") or properties.get("provisioningState")
    switched = row.get("powerState") or (power.get("code") if isinstance(power, dict) else None)
    connected = row.get("connectedClusterId") or properties.get("connectedClusterId")
    return FleetMember(
        str(row.get("name") or id_.name),
        str(id_),
        proper,
        str(row.get("location") or ""),
        id_.subscription,
        str(state) if state else None,
        str(switched) if switched else None,
        str(row.get("kind") or ""),
        str(connected or ""),
    )
