"""What the writer may do, and what is denied to everybody: asked before a button is shown, never to get around it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

from handlers.clients.answers import Answer
from handlers.clients.arm.permission_reader import WriterPermissionReader
from handlers.clients.arm.reader import ArmReader
from handlers.engine.declare import collector
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.gather import each
from handlers.evidence.linked import Linked
from handlers.evidence.wire import dig, need_rows, need_text, rows, text, texts, whole
from handlers.model import CannotSee, Evidence, Why
from handlers.resource_id import same, within
from runbooks.linear import Pattern, compile_linear

PERMISSIONS_API = "2022-04-01"
DENY_API = "2022-04-01"
EVERYONE = "00000000-0000-0000-0000-000000000000"
GROUPS = frozenset({"group"})


@lru_cache(maxsize=1024)
def _pattern(text: str) -> Pattern:
    return compile_linear(re.escape(text).replace(r"\*", ".*"), ignore_case=True)


def covers(patterns: tuple[str, ...], action: str) -> bool:
    """Whether one of these patterns stands for an action. A `*` stands for anything, slashes included."""
    return any(_pattern(pattern).fullmatch(action) for pattern in patterns)


@dataclass(frozen=True, slots=True)
class Permission:
    """Actions that are allowed (or, in a deny assignment, denied), and those among them that are not."""

    actions: tuple[str, ...]
    not_actions: tuple[str, ...]

    def holds(self, action: str) -> bool:
        return covers(self.actions, action) and not covers(self.not_actions, action)


@dataclass(frozen=True, slots=True)
class DenyAssignment:
    """Something that Azure refuses at a scope, whatever roles allow: the lockdown of a node resource group is one."""

    name: str
    scope: str
    reaches_below: bool
    permissions: tuple[Permission, ...]
    principals: frozenset[str]
    """Object ids; `EVERYONE` is one."""
    excluded: frozenset[str]
    names_groups: bool
    """Whether a group is denied or excluded: whose members we do not know."""

    def denies(self, action: str, resource: str) -> bool:
        """Whether it denies an action on a resource to those whom it is for."""
        inside = within(self.scope, resource) if self.reaches_below else same(self.scope, resource)
        return inside and any(permission.holds(action) for permission in self.permissions)

    def is_for(self, principal: str) -> bool | None:
        """Whether it is for this one; None where that cannot be told."""
        if principal and principal in self.excluded:
            return False
        named = EVERYONE in self.principals or (bool(principal) and principal in self.principals)
        if self.names_groups or (not principal and (self.excluded or not named)):
            return None
        return named


@dataclass(frozen=True, kw_only=True)
class DenyAssignments(Evidence):
    """The deny assignments that hold in the node resource group."""

    denials: tuple[DenyAssignment, ...]


@dataclass(frozen=True, kw_only=True)
class WriterMay(Evidence):
    """What the identity that carries out fixes is allowed to do where they act."""

    principal: str
    """Its object id; empty where its token does not say."""
    at: Mapping[str, tuple[Permission, ...]]
    """By lower-case scope, each with what is held above it."""
    unseen: Mapping[str, Why] = field(default_factory=dict)
    """Scopes that were asked in vain, and why."""

    def do(self, action: str, resource: str) -> bool | None:
        """Whether it may; None where its permissions were not seen."""
        above = [permission for scope, held in self.at.items() if within(scope, resource) for permission in held]
        if any(permission.holds(action) for permission in above):
            return True  # a role that is held above holds here
        near = max((item for item in (*self.at, *self.unseen) if within(item, resource)), key=len, default="")
        # Our writer's role lets whoever holds it see what it may do: who may not even see that holds it nowhere near.
        blind = not near or self.unseen.get(near, Why.DENIED) is not Why.DENIED
        return None if blind else False


@collector(reads=("Microsoft.Authorization/denyAssignments/read",))
async def deny_assignments(cluster: ManagedCluster, arm: ArmReader) -> DenyAssignments:
    """the deny assignments"""
    path = f"{cluster.node_group_id}/providers/Microsoft.Authorization/denyAssignments"
    listing = await arm.list(path, DENY_API)
    return DenyAssignments(
        source=listing.source,
        taken_at=listing.taken_at,
        truncated=listing.truncated,
        denials=tuple(read_denial(item) for item in whole(listing.items)),
    )


def read_denial(body: Mapping[str, Any]) -> DenyAssignment:
    """A deny assignment from its wire body."""
    assignment = need_text(body, "id")
    at = assignment.lower().rindex("/providers/microsoft.authorization/denyassignments/")
    named = rows(body, "properties", "principals")
    excluded = rows(body, "properties", "excludePrincipals")
    return DenyAssignment(
        name=text(body, "properties", "denyAssignmentName") or text(body, "name"),
        scope=text(body, "properties", "scope") or assignment[:at],
        reaches_below=dig(body, "properties", "doNotApplyToChildScopes") is not True,
        permissions=tuple(map(_permission, rows(body, "properties", "permissions"))),
        principals=frozenset(text(item, "id").lower() for item in named),
        excluded=frozenset(text(item, "id").lower() for item in excluded),
        names_groups=any(text(item, "type").lower() in GROUPS for item in (*named, *excluded)),
    )


@collector(reads=("Microsoft.Authorization/permissions/read",))
async def writer_may(
    cluster: ManagedCluster, pools: AgentPools, writer_permissions: WriterPermissionReader
) -> WriterMay:
    """what the writer may do"""
    named = [*cluster.linked, *(link for pool in pools.pools for link in pool.linked)]
    places = [f"/subscriptions/{cluster.subscription}", cluster.id, cluster.node_group_id, *cluster.own_identities]
    places = [*dict.fromkeys([*places, *(probed_at(link) for link in named)])]
    return await may_at(WriterMay, places, writer_permissions)


Held = TypeVar("Held", bound=WriterMay)


async def may_at(made: type[Held], places: Sequence[str], writer_permissions: WriterPermissionReader) -> Held:
    """What the writer is allowed to do at each of these places."""
    unseen: dict[str, Why] = {}

    async def of_one(place: str) -> tuple[str, Answer]:
        try:
            return place, await writer_permissions.get(
                f"{place}/providers/Microsoft.Authorization/permissions", PERMISSIONS_API
            )
        except CannotSee as error:
            unseen[place.lower()] = error.unavailable.why
            raise

    answers, gaps = await each(places, of_one)
    return made(
        source=", ".join(answer.source for _, answer in answers),
        taken_at=min(answer.taken_at for _, answer in answers),
        gaps=gaps,
        principal=await writer_permissions.object_id(),
        at={
            place.lower(): tuple(map(_permission, whole(need_rows(answer.body, "value")))) for place, answer in answers
        },
        unseen=unseen,
    )


def probed_at(linked: Linked) -> str:
    """Where to ask. A solution need not exist yet, so its resource group is asked."""
    group, found, _ = linked.resource.partition("/providers/Microsoft.OperationsManagement/")
    return group if found else linked.resource


def _permission(body: Mapping[str, Any]) -> Permission:
    return Permission(texts(body, "actions"), texts(body, "notActions"))
