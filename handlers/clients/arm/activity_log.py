"""The activity log's own rules: the filters it accepts, the fields to select, and how to sort events."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

VALUES = "/eventtypes/management/values"
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


def named_callers(body: Any) -> Any:
    """An answer of the log with each caller's name in the place of the address, which redaction would take whole.

    Only who reads live asks for it: a recording goes to others, and names nobody.
    """
    rows = body.get("value") if isinstance(body, dict) else None
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and "@" in str(row.get("caller") or ""):
            row["caller"] = _name(str(row["caller"]))
    return body


def _name(address: str) -> str:
    """`jane.doe` of `jane.doe@contoso.com`; a guest's address holds the one at home: `jane.doe_contoso.com#EXT#@…`."""
    local = address.partition("@")[0]
    home, guest, _ = local.partition("#EXT#")
    return home.rpartition("_")[0] or home if guest else local


def span(group: str, since: datetime, until: datetime) -> str:
    """The only filter that the log accepts: a time span and one resource group."""
    escaped = group.replace("'", "''")
    return (
        f"eventTimestamp ge '{_stamp(since)}' and eventTimestamp le '{_stamp(until)}' "
        f"and resourceGroupName eq '{escaped}'"
    )


def in_order(events: Iterable[Any]) -> tuple[Any, ...]:
    """Newest first, without duplicates: the log can return the same event twice."""
    once: dict[str, Any] = {}
    for number, event in enumerate(events):
        once.setdefault(event.get("eventDataId") or f"#{number}", event)
    return tuple(sorted(once.values(), key=_when, reverse=True))


def _when(event: dict[str, Any]) -> tuple[str, str]:
    # Timestamps have 0 to 7 fractional digits and end in Z or +00:00: pad them before sorting them as text.
    stamp = str(event.get("eventTimestamp") or "").removesuffix("Z").removesuffix("+00:00")
    whole, _, fraction = stamp.partition(".")
    return whole, fraction.ljust(7, "0")


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
