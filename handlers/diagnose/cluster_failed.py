"""Did the last operation on the cluster fail?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.engine.declare import diagnostic
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.errors import ErrorDetail
from handlers.evidence.monitor import ActivityLog, Event, NodeActivityLog
from handlers.evidence.service_health import ServiceIssues, said_first
from handlers.model import Clear, Finding, Unavailable


@diagnostic(codes=("cluster-failed",), area="cluster")
def cluster_failed(
    cluster: ManagedCluster,
    log: ActivityLog | Unavailable,
    node_log: NodeActivityLog | Unavailable,
    service: ServiceIssues | Unavailable,
) -> Iterator[Finding | Clear]:
    """The cluster is Failed or Canceled: which operation, and what its innermost error says."""
    if not cluster.failed:
        yield Clear(f"{cluster.name} is {cluster.state}")
        return
    event = log.last_failure(cluster.id) if isinstance(log, ActivityLog) else None
    below = _below(cluster, event, log, node_log)
    error = _telling(cluster.error, event, below)
    yield Finding(
        code="cluster-failed",
        subject=cluster.id,
        because=(
            *said_first(service, event.at if event else None),
            f"provisioningState is {cluster.state}, power is {cluster.power or 'not told'}",
            f"error: {error}" if error else "Azure keeps no error text for it",
            _operation(event, log),
            *([f"first failure below it: {below.operation} on {below.resource}"] if below else []),
        ),
        facts={
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
            "service_issues": [*said_first(service, event.at if event else None)],
        },
    )


def _below(
    cluster: ManagedCluster,
    event: Event | None,
    log: ActivityLog | Unavailable,
    node_log: NodeActivityLog | Unavailable,
) -> Event | None:
    """The earliest failure that carries the same correlation: where it really began."""
    if event is None:
        return None
    scopes = [(log, cluster.group_id), (node_log, cluster.node_group_id)]
    failed = [
        one
        for where, scope in scopes
        if isinstance(where, ActivityLog)
        for one in where.below(scope, event.correlation)
        if one.resource.lower() != cluster.id.lower()
    ]
    return min(failed, key=lambda one: one.at, default=None)


def _telling(status: ErrorDetail | None, event: Event | None, below: Event | None) -> ErrorDetail | None:
    """The error that says most: one that is more than a wrapper, from as far down as there is one."""
    known = [one for one in (below and below.error, status, event and event.error) if one]
    return next((one for one in known if not one.wraps), known[0] if known else None)


def _operation(event: Event | None, log: ActivityLog | Unavailable) -> str:
    if event:
        return f"{event.operation} failed at {event.at:%Y-%m-%d %H:%M} UTC (correlation {event.correlation})"
    if isinstance(log, Unavailable):
        return f"which operation failed could not be seen: {log.detail}"
    return f"the activity log since {log.since:%Y-%m-%d} holds no failed write to it"
