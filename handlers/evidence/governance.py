"""What people decided about the cluster's resources: locks, policies, and who may do what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from handlers.clients.answers import Listing
from handlers.clients.arm.reader import ArmReader
from handlers.engine.declare import collector
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.footprint import brought, subnet_ids
from handlers.evidence.gather import each, narrowing
from handlers.evidence.wire import moment, need_rows, need_text, text, whole
from handlers.model import Evidence, NotApplicable, Unavailable, Why
from handlers.resource_id import within

LOCKS_API = "2020-05-01"
"""The first that says when a lock was set (`systemData`)."""
ASSIGNMENTS_API = "2022-06-01"
EXEMPTIONS_API = "2022-07-01-preview"
ROLES_API = "2022-04-01"
POLICY_STATES_API = "2019-10-01"
MOST_STATES = 200
_LOCKS = "providers/Microsoft.Authorization/locks"


@dataclass(frozen=True, slots=True)
class Lock:
    """A management lock, and the scope that it holds."""

    id: str
    name: str
    level: str
    scope: str
    notes: str
    created: datetime | None = None
    """None where Azure does not say: then it is unknown whether it was there when something failed."""

    @property
    def read_only(self) -> bool:
        return self.level.lower() == "readonly"


@dataclass(frozen=True, kw_only=True)
class Locks(Evidence):
    """Every management lock that reaches the cluster or its parts."""

    locks: tuple[Lock, ...]
    asked: tuple[str, ...]
    """The scopes at which they were listed, each with what it inherits and what is set below it."""

    def cover(self, resource: str) -> bool:
        """Whether a lock that holds this resource would be among them."""
        return any(within(scope, resource) for scope in self.asked)


@dataclass(frozen=True, slots=True)
class PolicyAssignment:
    """A policy that applies to the node resource group."""

    id: str
    title: str
    scope: str
    enforced: bool


@dataclass(frozen=True, kw_only=True)
class Policies(Evidence):
    """The policies that apply to the node resource group, and which are waived."""

    assignments: tuple[PolicyAssignment, ...]
    exempted: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class PolicyStates(Evidence):
    """Resources of the node resource group that break a policy."""

    broken: tuple[tuple[str, str], ...]
    """(policy assignment, resource)"""


@dataclass(frozen=True, slots=True)
class Role:
    """One role assignment that a control plane identity has, by itself or through a group."""

    principal: str
    """To whom it was given: the identity, or a group that it belongs to."""
    definition: str
    scope: str

    def covers(self, resource: str) -> bool:
        """Whether it holds for a resource. What stands above subscriptions holds for all that we are shown."""
        return not self.scope.lower().startswith("/subscriptions/") or within(self.scope, resource)


@dataclass(frozen=True, kw_only=True)
class RoleAssignments(Evidence):
    """What the control plane's identities may do: nobody else was asked for."""

    roles: tuple[Role, ...]


Held = TypeVar("Held", bound=Locks)


@collector(reads=("Microsoft.Authorization/locks/read",))
async def locks(cluster: ManagedCluster, pools: AgentPools, arm: ArmReader) -> Locks:
    """the locks"""
    return await locks_over(Locks, (cluster.id, cluster.node_group_id, *brought(cluster, pools)), arm)


async def locks_over(made: type[Held], wanted: Sequence[str], arm: ArmReader) -> Held:
    """Every lock that reaches these resources."""
    # A list shows what holds at its scope, above and below it (Get-AzResourceLock: "at, above, or below the scope").
    answers, gaps = await narrowing(wanted, lambda name: arm.list(f"{name}/{_LOCKS}", LOCKS_API))
    listings = answers.values()
    held = {lock.id.lower(): lock for listing in listings for lock in map(read_lock, whole(listing.items))}
    return made(
        source=", ".join(listing.source for listing in listings),
        taken_at=min(listing.taken_at for listing in listings),
        truncated=any(listing.truncated for listing in listings),
        gaps=gaps,
        locks=tuple(held.values()),
        asked=tuple(answers),
    )


def read_lock(body: Mapping[str, Any]) -> Lock:
    """A lock; its id tells the scope that it holds."""
    lock_id = need_text(body, "id")
    at = lock_id.lower().rindex("/providers/microsoft.authorization/locks/")
    return Lock(
        id=lock_id,
        name=need_text(body, "name"),
        level=need_text(body, "properties", "level"),
        scope=lock_id[:at],
        notes=text(body, "properties", "notes"),
        created=moment(text(body, "systemData", "createdAt")),
    )


@collector(reads=("Microsoft.Authorization/policyAssignments/read", "Microsoft.Authorization/policyExemptions/read"))
async def policies(cluster: ManagedCluster, arm: ArmReader) -> Policies:
    """the policy assignments and exemptions"""
    scope = f"{cluster.node_group_id}/providers/Microsoft.Authorization"
    asked = [("policyAssignments", ASSIGNMENTS_API), ("policyExemptions", EXEMPTIONS_API)]
    answers, gaps = await each(asked, lambda item: arm.list(f"{scope}/{item[0]}", item[1]))
    items = [item for answer in answers for item in whole(answer.items)]
    assigned = [item for item in items if text(item, "type").lower().endswith("/policyassignments")]
    waived = [item for item in items if text(item, "type").lower().endswith("/policyexemptions")]
    return Policies(
        source=", ".join(answer.source for answer in answers),
        taken_at=min(answer.taken_at for answer in answers),
        truncated=any(answer.truncated for answer in answers),
        gaps=gaps,
        assignments=tuple(
            PolicyAssignment(
                id=need_text(item, "id"),
                title=text(item, "properties", "displayName") or text(item, "name"),
                scope=text(item, "properties", "scope"),
                enforced=text(item, "properties", "enforcementMode").lower() != "donotenforce",
            )
            for item in assigned
        ),
        exempted=frozenset(text(item, "properties", "policyAssignmentId").lower() for item in waived),
    )


@collector(reads=("Microsoft.PolicyInsights/policyStates/queryResults/action",))
async def policy_states(cluster: ManagedCluster, pools: AgentPools, arm: ArmReader) -> PolicyStates | NotApplicable:
    """the policy states"""
    if not pools.failed:
        return NotApplicable("no node pool is Failed or Canceled")
    scope = f"{cluster.node_group_id}/providers/Microsoft.PolicyInsights/policyStates/latest/queryResults"
    asked = {"$filter": "ComplianceState eq 'NonCompliant'", "$top": str(MOST_STATES)}
    answer = await arm.query(scope, POLICY_STATES_API, {}, params=asked)
    states = whole(need_rows(answer.body, "value"))
    return PolicyStates(
        source=answer.source,
        taken_at=answer.taken_at,
        truncated=len(states) >= MOST_STATES,
        broken=tuple((text(state, "policyAssignmentId"), text(state, "resourceId")) for state in states),
    )


@collector(reads=("Microsoft.Authorization/roleAssignments/read",))
async def role_assignments(cluster: ManagedCluster, pools: AgentPools, arm: ArmReader) -> RoleAssignments:
    """the role assignments of the cluster's identities"""
    places = [*subnet_ids(pools)] or [cluster.node_group_id]
    places += [cluster.private_zone] if cluster.private_zone.startswith("/") else []
    asked = [(place, identity) for place in places for identity in cluster.control_plane_identities]
    answers, gaps = await each(asked, lambda item: _roles(arm, *item))
    if not cluster.identities:
        detail = "the cluster names no managed identity: it signs in as a service principal"
        gaps = (Unavailable("the roles of the cluster's identity", Why.ABSENT, detail),)
    return RoleAssignments(
        source=", ".join(dict.fromkeys(answer.source for answer in answers)),
        taken_at=min((answer.taken_at for answer in answers), default=cluster.taken_at),
        truncated=any(answer.truncated for answer in answers),
        gaps=gaps,
        roles=tuple(dict.fromkeys(read_role(item) for answer in answers for item in whole(answer.items))),
    )


def read_role(body: Mapping[str, Any]) -> Role:
    """A role assignment from its wire body."""
    return Role(
        principal=text(body, "properties", "principalId"),
        definition=text(body, "properties", "roleDefinitionId"),
        scope=text(body, "properties", "scope"),
    )


async def _roles(arm: ArmReader, scope: str, principal: str) -> Listing:
    """What holds at a scope, from above too. Roles that were given to a group count: that is what `assignedTo` asks."""
    path = f"{scope}/providers/Microsoft.Authorization/roleAssignments"
    return await arm.list(path, ROLES_API, params={"$filter": f"atScope() and assignedTo('{principal}')"})
