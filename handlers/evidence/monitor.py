"""Who did what, and where logs go: the activity log and the diagnostic settings."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from handlers.clients.answers import Listing
from handlers.clients.arm.reader import ArmReader
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.errors import ErrorDetail, innermost, with_policies
from handlers.evidence.policy_violations import Violation, violations
from handlers.evidence.refused import refused_at_once
from handlers.evidence.wire import dig, moment, need_text, rows, text, whole
from handlers.model import CannotSee, Evidence, Target, Unavailable, Why
from handlers.resource_id import same, within

DIAGNOSTIC_SETTINGS_API = "2021-05-01-preview"
RESOURCE_HEALTH_API = "2020-05-01"
CLUSTER_WINDOW = timedelta(days=14)
"""The cluster's own group is quiet: two weeks are a page or two, and a cluster may have failed long before."""
NODE_WINDOW = timedelta(days=3)
"""The node resource group is written to by every scaling, so three days can be many pages."""
MOST_EVENTS = 2000
OPERATIONS = frozenset(
    f"{name}/action"
    for name in (
        "abort",
        "deallocate",
        "delete",
        "deletemachines",
        "manualupgrade",
        "performmaintenance",
        "reimage",
        "restart",
        "rotateclustercertificates",
        "start",
        "stop",
        "upgradenodeimageversion",
    )
)
"""Actions that change a resource. Others (listing credentials, audits of policies) neither fail nor mend anything.

`virtualMachineScaleSets/delete/action` is how the autoscaler, and AKS itself, delete instances of a scale set.
"""
DENY_EVENT = "microsoft.authorization/policies/deny/action"
LAG = timedelta(minutes=15)
"""How late an event may show up. Recorded: 3 minutes and more between an event and its submission (CATALOG 3.7); Azure
Monitor's page on ingestion time says 10 to 15 minutes for the activity log's older ways."""


Request = tuple[str, str, str]
"""Its id, its operation, its resource: what Azure does below a request goes by the same id."""


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of the activity log."""

    at: datetime
    operation: str
    status: str
    http: str
    resource: str
    correlation: str
    error: ErrorDetail | None
    request: str = ""
    """What the events of one request share. A pipeline may give all its requests the same correlation."""
    accepted: bool = True
    """False where Azure answered the request at once with an error: nothing was begun, and no state changed."""
    policies: tuple[Violation, ...] = ()
    """Which policies denied a request: Azure Policy writes an event of its own, under the request's correlation."""

    @property
    def refused(self) -> bool:
        """A wish that was turned down. What is Failed now, something else made so."""
        return self.failed and not self.accepted

    @property
    def failed(self) -> bool:
        return self.status.lower() == "failed"

    @property
    def succeeded(self) -> bool:
        return self.status.lower() == "succeeded"

    @property
    def ended(self) -> bool:
        return self.status.lower() in ("failed", "succeeded", "canceled", "cancelled")

    @property
    def started(self) -> bool:
        return self.status.lower() in ("started", "accepted")

    @property
    def writes(self) -> bool:
        operation = self.operation.lower()
        if operation.startswith("microsoft.authorization/"):
            return False
        return operation.endswith(("/write", "/delete")) or "/".join(operation.split("/")[-2:]) in OPERATIONS


@dataclass(frozen=True, kw_only=True)
class ActivityLog(Evidence):
    """What happened in the cluster's own resource group, newest first."""

    events: tuple[Event, ...]
    since: datetime

    @property
    def reaches_back_to(self) -> datetime:
        """The moment since which nothing is missing: where the log was cut, its oldest event."""
        return self.events[-1].at if self.truncated and self.events else self.since

    @property
    def known_until(self) -> datetime:
        """The moment until which nothing is missing: what happened since may not be written down yet."""
        return self.taken_at - LAG

    def last_failure(self, resource: str, *, accepted: bool = False) -> Event | None:
        """The last failed write to a resource, unless the same operation succeeded afterwards.

        With `accepted`, only of those that Azure began to work on: one of them set the state, a refusal never did.
        """
        mended: set[str] = set()
        for event in self.events:
            if not event.writes or not same(event.resource, resource):
                continue
            operation = event.operation.lower()
            if event.failed and operation not in mended and (event.accepted or not accepted):
                return event
            if event.succeeded:
                mended.add(operation)
        return None

    def standing(self, scope: str) -> tuple[Event, ...]:
        """Every failed write at a scope and below, newest first, that did not succeed afterwards."""
        mended: set[tuple[str, str]] = set()
        found = []
        for event in self.events:
            what = event.operation.lower(), event.resource.lower()
            if event.writes and within(scope, event.resource):
                if event.succeeded:
                    mended.add(what)
                elif event.failed and what not in mended:
                    found.append(event)
        return tuple(found)

    def began(self, resource: str) -> Event | None:
        """The start of the write to a resource that has not ended yet."""
        ended: set[str] = set()
        first: Event | None = None
        for event in self.events:
            if not event.writes or not same(event.resource, resource):
                continue
            if event.ended:
                ended.add(event.request)
            elif event.started and event.request not in ended:
                first = event if first is None or event.request == first.request else first
        return first

    def below(self, scope: str, correlation: str = "") -> tuple[Event, ...]:
        """Failed writes below a scope, newest first; those of one correlation where it is named."""
        failed = (event for event in self.events if event.failed and within(scope, event.resource))
        return tuple(event for event in failed if correlation in ("", event.correlation))


@dataclass(frozen=True, kw_only=True)
class NodeActivityLog(ActivityLog):
    """What happened in the node resource group: node failures are told here, not in the cluster's."""


@dataclass(frozen=True, slots=True)
class DiagnosticSetting:
    """Where a resource sends its logs and metrics."""

    id: str
    name: str
    sends: tuple[str, ...]
    to: str
    workspace: str = ""
    """The Log Analytics workspace among that; it may send to others besides."""
    dedicated: bool = False
    """Whether the logs go to tables of their own there, and not into the one that all resources share."""

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> DiagnosticSetting:
        properties = dig(body, "properties")
        sends = [
            text(row, "category") or text(row, "categoryGroup")
            for row in (*rows(properties, "logs"), *rows(properties, "metrics"))
            if dig(row, "enabled") is True
        ]
        kinds = ("workspaceId", "storageAccountId", "eventHubAuthorizationRuleId")
        to = next((text(properties, kind) for kind in kinds if text(properties, kind)), "")
        dedicated = text(properties, "logAnalyticsDestinationType").lower() == "dedicated"
        workspace = text(properties, "workspaceId")
        return cls(need_text(body, "id"), text(body, "name"), tuple(sends), to, workspace, dedicated)


@dataclass(frozen=True, kw_only=True)
class DiagnosticSettings(Evidence):
    """The diagnostic settings of the cluster."""

    settings: tuple[DiagnosticSetting, ...]


@dataclass(frozen=True, kw_only=True)
class ResourceHealth(Evidence):
    """What Azure itself says about the health of the cluster's control plane."""

    state: str
    summary: str

    @property
    def suffers(self) -> bool:
        return self.state.lower() in ("unavailable", "degraded")


@collector(reads=("Microsoft.Insights/eventtypes/values/read",), deadline_s=12)
async def activity_log(target: Target, cluster: ManagedCluster, arm: ArmReader) -> ActivityLog:
    """the activity log of the cluster's group"""
    since, until = _window(target, CLUSTER_WINDOW)
    listing = await arm.activity(cluster.subscription, group=cluster.group, since=since, until=until, most=MOST_EVENTS)
    return ActivityLog(
        source=listing.source,
        taken_at=listing.taken_at,
        truncated=listing.truncated,
        events=_events(listing),
        since=since,
    )


@collector(reads=("Microsoft.Insights/eventtypes/values/read",), deadline_s=12)
async def node_activity_log(target: Target, cluster: ManagedCluster, arm: ArmReader) -> NodeActivityLog:
    """the activity log of the node resource group"""
    since, until = _window(target, NODE_WINDOW)
    listing = await arm.activity(
        cluster.subscription, group=cluster.node_group, since=since, until=until, most=MOST_EVENTS
    )
    return NodeActivityLog(
        source=listing.source,
        taken_at=listing.taken_at,
        truncated=listing.truncated,
        events=_events(listing),
        since=since,
    )


@collector(reads=("Microsoft.Insights/diagnosticSettings/read",))
async def diagnostic_settings(cluster: ManagedCluster, arm: ArmReader) -> DiagnosticSettings:
    """the diagnostic settings"""
    listing = await settings_of(cluster.id, arm)
    settings = tuple(DiagnosticSetting.of(item) for item in whole(listing.items))
    return DiagnosticSettings(
        source=listing.source, taken_at=listing.taken_at, truncated=listing.truncated, settings=settings
    )


async def settings_of(resource: str, arm: ArmReader) -> Listing:
    """The list of one resource's diagnostic settings."""
    return await arm.list(f"{resource}/providers/Microsoft.Insights/diagnosticSettings", DIAGNOSTIC_SETTINGS_API)


@collector(reads=("Microsoft.ResourceHealth/availabilityStatuses/read",))
async def resource_health(cluster: ManagedCluster, arm: ArmReader) -> ResourceHealth:
    """the resource health"""
    path = f"{cluster.id}/providers/Microsoft.ResourceHealth/availabilityStatuses/current"
    answer = await arm.get(path, RESOURCE_HEALTH_API)
    return ResourceHealth(
        source=answer.source,
        taken_at=answer.taken_at,
        state=need_text(answer.body, "properties", "availabilityState"),
        summary=text(answer.body, "properties", "summary"),
    )


def read_event(body: Mapping[str, Any], begun: Collection[Request] = ()) -> Event:
    """One event. Its status message is JSON in a string, plain text, or cut in the middle.

    `begun` are the requests that other events of the log call accepted.
    """
    at = moment(need_text(body, "eventTimestamp"))
    if at is None:
        raise CannotSee(Unavailable("an event", Why.FAILED, f"no readable time: {text(body, 'eventTimestamp')[:40]}"))
    failed = text(body, "status", "value").lower() == "failed"
    operation = text(body, "operationName", "value")
    return Event(
        at=at,
        operation=operation,
        status=text(body, "status", "value"),
        http=text(body, "subStatus", "value"),
        resource=text(body, "resourceId") or text(body, "properties", "entity"),
        correlation=text(body, "correlationId"),
        error=_error(dig(body, "properties", "statusMessage")) if failed else None,
        request=_request(body)[0],
        accepted=not failed or _request(body) in begun or not refused_at_once(body),
        policies=violations(dig(body, "properties", "policies")) if operation.lower() == DENY_EVENT else (),
    )


def _events(listing: Listing) -> tuple[Event, ...]:
    items = whole(listing.items)
    begun = {_request(item) for item in items if text(item, "status", "value").lower() == "accepted"}
    events = [read_event(item, begun) for item in items]
    return tuple(sorted(events, key=lambda event: event.at, reverse=True))


def _request(body: Mapping[str, Any]) -> Request:
    request = text(body, "operationId") or text(body, "correlationId")
    return request, text(body, "operationName", "value").lower(), text(body, "resourceId").lower()


def _error(status_message: Any) -> ErrorDetail | None:
    error = innermost(status_message)
    if error is None and isinstance(status_message, str) and status_message.strip():
        return with_policies(ErrorDetail("", status_message.strip()), status_message)
    return replace(error, message=error.message or "no message") if error else None


def _window(target: Target, length: timedelta) -> tuple[datetime, datetime]:
    """Whole hours, so that every check within the hour asks the very same question and shares its answer."""
    hour = target.asked_at.replace(minute=0, second=0, microsecond=0)
    return hour - length, hour + timedelta(hours=1)
