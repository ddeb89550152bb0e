"""Did the last operation on the cluster fail?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.stopped_by import StoppedBy, without_error
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.complaints import Complaints, Failure
from handlers.evidence.compute import ScaleSets
from handlers.evidence.errors import ErrorDetail
from handlers.evidence.monitor import ActivityLog, Event, NodeActivityLog
from handlers.evidence.service_health import ServiceIssues, announced
from handlers.model import Causes, Clear, Finding, Unavailable
from handlers.resource_id import within


@diagnostic(
    codes=("cluster-failed",),
    area="cluster",
    causes_of=("cluster-failed",),
    clear_without=ClearWithout(
        (ActivityLog, NodeActivityLog, ScaleSets, ServiceIssues),
        "the cluster's own state says that it has not failed; logs only tell why it did",
    ),
)
def cluster_failed(
    cluster: ManagedCluster,
    pools: AgentPools | Unavailable,
    complaints: Complaints | Unavailable,
    log: ActivityLog | Unavailable,
    node_log: NodeActivityLog | Unavailable,
    service: ServiceIssues | Unavailable,
    causes: Causes,
) -> Iterator[Finding | Clear]:
    """The cluster is Failed or Canceled: which operation, and what its innermost error says."""
    if not cluster.failed:
        yield Clear(f"{cluster.name} is {cluster.state}")
        return
    failure = complaints.failure(cluster.id) if isinstance(complaints, Complaints) else None
    stopped = _stopped_by(failure, pools, complaints, causes)
    event = log.last_failure(cluster.id, accepted=True) if isinstance(log, ActivityLog) else None
    below = _below(cluster, event, log, node_log)
    error = _telling(failure.error if failure else cluster.error, below)
    issues = announced(service, event.at if event else None)
    yield Finding(
        code="cluster-failed",
        subject=cluster.id,
        because=(
            *([] if stopped.stands else issues),
            f"provisioningState is {cluster.state}, power is {cluster.power or 'not told'}",
            f"error: {error}" if error else without_error(cluster.state),
            _operation(event, log),
            *([f"first failure below it: {below.operation} on {below.resource}"] if below else []),
            *stopped.line,
            *(issues if stopped.stands else []),
        ),
        facts=_facts(cluster, event, error) | {"service_issues": [*issues], **stopped.facts()},
        began=failure.at if failure else None,
    )


def _facts(cluster: ManagedCluster, event: Event | None, error: ErrorDetail | None) -> dict[str, object]:
    return {
        "state": cluster.state,
        "operation": event.operation if event else "",
        "when": f"{event.at:%Y-%m-%d %H:%M} UTC" if event else "",
        "correlation": event.correlation if event else "",
        "code": error.code if error else "",
        "message": error.message if error else "",
        "cluster": cluster.name,
        "group": cluster.group,
        "node_group": cluster.node_group,
        "cluster_id": cluster.id,
        "subscription": cluster.subscription,
    }


def _stopped_by(
    failure: Failure | None, pools: AgentPools | Unavailable, complaints: Complaints | Unavailable, causes: Causes
) -> StoppedBy:
    """What Azure named for the cluster, else for a pool that failed: reconciling the cluster writes that, too."""
    own = StoppedBy.of(failure, causes)
    if own.stands or isinstance(pools, Unavailable) or isinstance(complaints, Unavailable):
        return own
    of_pools = [StoppedBy.of(complaints.failure(pool.id), causes) for pool in pools.failed]
    return next((pool for pool in of_pools if pool.stands), own)


def _below(
    cluster: ManagedCluster,
    event: Event | None,
    log: ActivityLog | Unavailable,
    node_log: NodeActivityLog | Unavailable,
) -> Event | None:
    """The earliest failure of the same correlation in what the cluster is made of. A deployment's other resources
    share the correlation and may have failed for reasons of their own."""
    if event is None:
        return None
    scopes = [(log, cluster.id), (node_log, cluster.node_group_id)]
    failed = [
        each_event
        for where, scope in scopes
        if isinstance(where, ActivityLog)
        for each_event in where.below(scope, event.correlation)
        if each_event.resource.lower() != cluster.id.lower() and within(scope, each_event.resource)
    ]
    return min(failed, key=lambda event: event.at, default=None)


def _telling(own: ErrorDetail | None, below: Event | None) -> ErrorDetail | None:
    """The cluster's own error, unless it is a mere wrapper and what failed below says more."""
    known = [item for item in (own, below and below.error) if item]
    return next((detail for detail in known if detail.specific), None) or next(
        (detail for detail in known if not detail.wraps), known[0] if known else None
    )


def _operation(event: Event | None, log: ActivityLog | Unavailable) -> str:
    if event:
        return f"{event.operation} failed at {event.at:%Y-%m-%d %H:%M} UTC (correlation {event.correlation})"
    if isinstance(log, Unavailable):
        return f"which operation failed could not be seen: {log.detail}"
    return f"the activity log since {log.since:%Y-%m-%d} holds no failed write to it"
