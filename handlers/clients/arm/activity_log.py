"""The activity log's own rules: which filter it takes, which fields to ask for, and in which order events stand."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

SELECT = ",".join(
    (
        "caller",
        "correlationId",
        "description",
        "eventDataId",
        "eventName",
        "eventTimestamp",
        "level",
        "operationId",
        "operationName",
        "properties",
        "resourceGroupName",
        "resourceId",
        "resourceProviderName",
        "resourceType",
        "status",
        "subStatus",
        "submissionTimestamp",
    )
)
"""All but `claims`, `authorization` and `httpRequest`: they say who sits where, and nothing about the cluster."""


def span(group: str, since: datetime, until: datetime) -> str:
    """The only form of filter that the log takes: a span of time and one resource group."""
    escaped = group.replace("'", "''")
    return (
        f"eventTimestamp ge '{_stamp(since)}' and eventTimestamp le '{_stamp(until)}' "
        f"and resourceGroupName eq '{escaped}'"
    )


def in_order(events: Iterable[Any]) -> tuple[Any, ...]:
    """Newest first, each once: the log does give the same event twice."""
    once: dict[str, Any] = {}
    for number, event in enumerate(events):
        once.setdefault(event.get("eventDataId") or f"#{number}", event)
    return tuple(sorted(once.values(), key=_when, reverse=True))


def _when(event: dict[str, Any]) -> tuple[str, str]:
    # Stamps have 0 to 7 digits of a second, and end in Z or +00:00: as text they sort only after padding.
    stamp = str(event.get("eventTimestamp") or "").removesuffix("Z").removesuffix("+00:00")
    whole, _, fraction = stamp.partition(".")
    return whole, fraction.ljust(7, "0")


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
