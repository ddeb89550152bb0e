"""Requests that Azure Policy denied, and whether what denied them still applies.

A denied request leaves no resource and no compliance state behind: only the error of the failure and the activity log
tell of it. The assignment itself may have been changed, waived or deleted since.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from handlers.clients.answers import Answer, Listing
from handlers.clients.arm.reader import ArmReader
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.complaints import RECENT, Complaint, Complaints
from handlers.evidence.gather import each
from handlers.evidence.governance import ASSIGNMENTS_API, EXEMPTIONS_API
from handlers.evidence.monitor import ActivityLog, Event, NodeActivityLog
from handlers.evidence.policy_violations import Violation
from handlers.evidence.signs import DENIED_BY_POLICY
from handlers.evidence.wire import moment, need_text, text, texts, whole
from handlers.model import CannotSee, Evidence, NotApplicable, Unavailable
from handlers.resource_id import last_name, same, within
from runbooks.linear import compile_linear

Read = TypeVar("Read", Answer, Listing)

DEFINITIONS_API = "2023-04-01"
MOST_PLACES = 3
"""Resource groups in which something was denied: the cluster's, that of its nodes, that of its network."""
MOST_DEFINITIONS = 5
_RESOURCE = compile_linear(r"resource '([^']{1,200})' was disallowed", ignore_case=True)
_HUB = "/providers/microsoft.authorization/"


@dataclass(frozen=True, slots=True)
class Refusal:
    """One denied request, and one policy that denied it; None where nothing names it."""

    resource: str
    complaint: Complaint
    violation: Violation | None

    @property
    def group(self) -> str:
        return "/".join(self.resource.split("/")[:5])


@dataclass(frozen=True, slots=True)
class Assignment:
    """A policy assignment as it is now."""

    id: str
    title: str
    enforced: bool
    excluded: tuple[str, ...]
    """Scopes below its own to which it does not apply (`notScopes`)."""
    changed: datetime | None


@dataclass(frozen=True, slots=True)
class Exemption:
    """A waiver of an assignment, for a scope and perhaps for some of its rules only."""

    name: str
    assignment: str
    scope: str
    references: tuple[str, ...]
    expires: datetime | None

    def covers(self, refusal: Refusal, now: datetime) -> bool:
        violation = refusal.violation
        over = self.expires is not None and self.expires <= now
        if violation is None or over or not same(self.assignment, violation.assignment_id):
            return False
        rules = {reference.lower() for reference in self.references}
        return within(self.scope, refusal.resource) and (not rules or violation.reference.lower() in rules)


@dataclass(frozen=True, kw_only=True)
class PolicyRefusals(Evidence):
    """The denied requests that still matter, and what has become of the policies."""

    refusals: tuple[Refusal, ...]
    assignments: Mapping[str, Assignment]
    """By id in lower case."""
    exemptions: tuple[Exemption, ...]
    definitions: Mapping[str, str]
    """What definitions are called, by id in lower case."""
    listed: frozenset[str]
    """The resource groups whose assignments were listed whole, in lower case."""
    whole: bool
    """Whether all that were asked were: an error of AKS's does not say in which group it was denied."""

    def gone(self, refusal: Refusal) -> str:
        """Why the policy does not stand in the way any more; empty where it does, or nobody knows."""
        violation = refusal.violation
        if violation is None or refusal.complaint.error.code.lower() == "requestdisallowedbyazure":
            return ""  # Azure's own restrictions are nobody's assignment
        found = self.assignments.get(violation.assignment_id.lower())
        if found is None:
            return "is not assigned there any more" if self.whole and refusal.group.lower() in self.listed else ""
        if not found.enforced:
            return "is not enforced any more (DoNotEnforce)"
        excluded = next((scope for scope in found.excluded if within(scope, refusal.resource)), "")
        if excluded:
            return f"excludes {excluded} now"
        waived = next((exemption for exemption in self.exemptions if exemption.covers(refusal, self.taken_at)), None)
        return f"is waived by exemption {waived.name}" if waived else ""

    def changed_since(self, refusal: Refusal) -> datetime | None:
        """When the assignment was changed after the request was denied: it may let it through now."""
        found = self.assignments.get(refusal.violation.assignment_id.lower()) if refusal.violation else None
        denied = refusal.complaint.at
        return found.changed if found and found.changed and denied and found.changed > denied else None


@collector(
    reads=(
        "Microsoft.Authorization/policyAssignments/read",
        "Microsoft.Authorization/policyExemptions/read",
        "Microsoft.Authorization/policyDefinitions/read",
    )
)
async def policy_refusals(
    cluster: ManagedCluster,
    complaints: Complaints,
    log: ActivityLog | Unavailable,
    node_log: NodeActivityLog | Unavailable,
    arm: ArmReader,
) -> PolicyRefusals | NotApplicable:
    """the policies that denied a request"""
    refusals = tuple(dict.fromkeys(refused_by_policy(cluster, complaints, log, node_log)))
    named = [refusal for refusal in refusals if refusal.violation]
    if not refusals:
        return NotApplicable("no request of the cluster was denied by a policy")
    places = (cluster.group_id, cluster.node_group_id, *(refusal.group for refusal in named))
    groups = [*{place.lower(): place for place in places}.values()][:MOST_PLACES] if named else []
    definitions = [*dict.fromkeys(_definition_of(refusal) for refusal in named if _definition_of(refusal))][
        :MOST_DEFINITIONS
    ]
    assigned, gaps = await _listed(groups, "policyAssignments", ASSIGNMENTS_API, arm)
    waived, more = await _listed(groups, "policyExemptions", EXEMPTIONS_API, arm)
    told, unread = await _definitions(definitions, arm)
    listed = [group for group, listing in assigned.items() if not listing.truncated]
    sources = [listing.source for listing in (*assigned.values(), *waived.values())] + [
        answer.source for answer in told
    ]
    return PolicyRefusals(
        source=", ".join(sources) or complaints.source,
        taken_at=complaints.taken_at,
        truncated=any(listing.truncated for listing in (*assigned.values(), *waived.values())),
        gaps=(*gaps, *more, *unread),
        refusals=refusals,
        assignments={
            assignment.id.lower(): assignment
            for listing in assigned.values()
            for assignment in map(read_assignment, whole(listing.items))
        },
        exemptions=tuple(read_exemption(body) for listing in waived.values() for body in whole(listing.items)),
        definitions={
            need_text(answer.body, "id").lower(): text(answer.body, "properties", "displayName") for answer in told
        },
        listed=frozenset(listed),
        whole=len(listed) == len(groups),
    )


def refused_by_policy(
    cluster: ManagedCluster,
    complaints: Complaints,
    log: ActivityLog | Unavailable,
    node_log: NodeActivityLog | Unavailable,
) -> Iterator[Refusal]:
    """Of what is Failed now, of a wish that somebody may still wait for, and of what AKS makes beside nodes: a load
    balancer, an address or a route that was denied leaves no pool Failed."""
    events = [event for item in (log, node_log) if isinstance(item, ActivityLog) for event in item.events]
    for complaint in complaints.standing(DENIED_BY_POLICY):
        told = _told(_requests(complaint, events), events)
        denied = sorted(told, key=lambda event: (not event.policies, same(event.resource, complaint.about)))
        resource = denied[0].resource if denied else _by_its_name(complaint, cluster)
        yield from _refusals(resource, complaint, told)
    if isinstance(node_log, NodeActivityLog):
        for event in node_log.standing(cluster.node_group_id):
            if event.error and _denied(event) and node_log.taken_at - event.at < RECENT:
                complaint = Complaint(event.resource, event.error, event.at, event.operation)
                yield from _refusals(event.resource, complaint, _told({event.correlation}, events))


def _requests(complaint: Complaint, events: list[Event]) -> set[str]:
    """The correlations of the requests that a complaint may be about: an error in a resource itself tells no time."""

    def its_own(event: Event) -> bool:
        repeated = event.error == complaint.error and complaint.at in (None, event.at)
        return repeated or same(event.resource, complaint.about)

    return {event.correlation for event in events if _denied(event) and its_own(event)}


def _told(requests: set[str], events: list[Event]) -> list[Event]:
    """What the log tells of requests: Azure Policy's own events, and the writes that were denied."""
    return [event for event in events if event.correlation in requests and (event.policies or _denied(event))]


def _denied(event: Event) -> bool:
    return event.error is not None and event.error.names == DENIED_BY_POLICY


def _refusals(resource: str, complaint: Complaint, events: list[Event]) -> Iterator[Refusal]:
    by_azure_policy = (policy for event in events for policy in event.policies)
    by_others = (policy for event in events if event.error for policy in event.error.policies)
    policies = complaint.error.policies or tuple(dict.fromkeys(by_others)) or tuple(dict.fromkeys(by_azure_policy))
    for violation in policies or (None,):
        yield Refusal(resource, complaint, violation)


def _by_its_name(complaint: Complaint, cluster: ManagedCluster) -> str:
    """Where no log tells: what is called neither like the cluster nor like its pool, AKS makes in the node group."""
    found = _RESOURCE.search(complaint.error.message)
    own = found is None or found[1].lower() == last_name(complaint.about).lower()
    return complaint.about if own else cluster.node_group_id


def read_assignment(body: Mapping[str, Any]) -> Assignment:
    """A policy assignment from its wire body."""
    changed = text(body, "systemData", "lastModifiedAt") or text(body, "properties", "metadata", "updatedOn")
    return Assignment(
        id=need_text(body, "id"),
        title=text(body, "properties", "displayName") or text(body, "name"),
        enforced=text(body, "properties", "enforcementMode").lower() != "donotenforce",
        excluded=texts(body, "properties", "notScopes"),
        changed=moment(changed),
    )


def read_exemption(body: Mapping[str, Any]) -> Exemption:
    """A policy exemption from its wire body; its id tells the scope."""
    exemption = need_text(body, "id")
    return Exemption(
        name=text(body, "name"),
        assignment=need_text(body, "properties", "policyAssignmentId"),
        scope=exemption[: exemption.lower().rfind(_HUB)],
        references=texts(body, "properties", "policyDefinitionReferenceIds"),
        expires=moment(text(body, "properties", "expiresOn")),
    )


def _definition_of(refusal: Refusal) -> str:
    """The definition whose name is not known yet."""
    violation = refusal.violation
    return violation.definition_id if violation and not violation.definition else ""


async def _listed(
    groups: list[str], kind: str, version: str, arm: ArmReader
) -> tuple[dict[str, Listing], tuple[Unavailable, ...]]:
    """What applies to each group, inherited too: whoever may look at the group misses nothing of it."""

    async def one(group: str) -> tuple[str, Listing]:
        return group.lower(), await arm.list(f"{group}/providers/Microsoft.Authorization/{kind}", version)

    return await _seen(groups, one)


async def _definitions(ids: list[str], arm: ArmReader) -> tuple[list[Answer], tuple[Unavailable, ...]]:
    async def one(definition: str) -> tuple[str, Answer]:
        return definition, await arm.get(definition, DEFINITIONS_API)

    found, gaps = await _seen(ids, one)
    return [*found.values()], gaps


async def _seen(
    ids: list[str], listing: Callable[[str], Awaitable[tuple[str, Read]]]
) -> tuple[dict[str, Read], tuple[Unavailable, ...]]:
    """What could be read. That nothing could is a gap, too: the denied request is told all the same."""
    try:
        found, gaps = await each(ids, listing)
    except CannotSee as error:
        return {}, (error.unavailable,)
    return dict(found), gaps
