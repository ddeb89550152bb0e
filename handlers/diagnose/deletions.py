"""When a resource was deleted, as far as the activity logs tell."""

from __future__ import annotations

from collections.abc import Iterator

from handlers.evidence.monitor import ActivityLog, Event, NodeActivityLog
from handlers.model import Unavailable
from handlers.resource_id import within

Log = ActivityLog | NodeActivityLog | Unavailable


def deletion_of(resource: str, *logs: Log) -> Event | None:
    """The newest delete that succeeded: of the resource, of what holds it, or of its resource group."""
    found = sorted(
        (delete for log in logs for delete in _deletes(resource, log)), key=lambda event: event.at, reverse=True
    )
    return next(iter(found), None)


def _deletes(resource: str, log: Log) -> Iterator[Event]:
    if isinstance(log, Unavailable):
        return
    for event in log.events:
        if event.succeeded and event.operation.lower().endswith("/delete") and within(event.resource, resource):
            yield event
