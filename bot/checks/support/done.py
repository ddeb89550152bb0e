"""What aksbot itself did to one cluster, out of the audit: for the timeline of a support packet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from bot.audit.record import Record
from bot.render.packet.material import Happened
from handlers.resource_id import same

SOURCE = "aksbot"
_FAILED = frozenset({"not-fixed", "failed", "unverified"})
_TOLD = ("end", "method", "path", "result", "command")
_REQUEST = "request_id"


def done_of(records: Iterable[Record], cluster: str) -> tuple[Happened, ...]:
    """The records about this cluster, oldest first; one that cannot be read is left to `aksbot audit verify`."""
    known = ((record, entry) for record in records if (entry := _entry(record)) is not None)
    return tuple(_happened(record, entry) for record, entry in known if same(str(entry.get("cluster", "")), cluster))


def _entry(record: Record) -> Mapping[str, Any] | None:
    try:
        return record.entry
    except ValueError:
        return None


def _happened(record: Record, entry: Mapping[str, Any]) -> Happened:
    details, who = entry.get("details") or {}, entry.get("who") or {}
    told = [str(details[key]) for key in _TOLD if details.get(key)]
    request = f"request id {details[_REQUEST]}" if details.get(_REQUEST) else ""
    says = (f"by {who.get('name') or 'aksbot'}", *told, request, str(entry.get("reason") or ""))
    return Happened(
        at=datetime.fromtimestamp(record.at_ms / 1000, UTC),
        source=SOURCE,
        what=" ".join(filter(None, (str(entry.get("remedy") or ""), str(entry.get("what") or "")))),
        about=str(entry.get("target") or entry.get("cluster") or ""),
        says=" · ".join(filter(None, says)),
        failed=str(details.get("end", "")) in _FAILED,
    )
