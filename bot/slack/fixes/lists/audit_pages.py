"""The audit as one person may see it: page by page from the latest back, or all of it as a file."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import AsyncIterator

from bot.audit.record import Record
from bot.audit.store import Audit, AuditUnreadable
from bot.slack.fixes.lists.view import AuditPage
from bot.slack.inbound.gate import Viewer
from handlers.resource_id import last_name

log = logging.getLogger(__name__)

MOST_RECORDS = 10
MOST_LOOKED_AT = 5_000
"""Some may see few of many: after so many a page ends, and the next one goes on from there."""
_PLACE = re.compile(r"[1-9]\d{0,18}-\d{1,18}")


async def page(audit: Audit, viewer: Viewer, before: str = "") -> AuditPage:
    """The latest that this person may see, of those before a place; from the latest of all, if that is no place."""
    try:
        return await _page(audit, viewer, before if _PLACE.fullmatch(before) else "")
    except AuditUnreadable as wrong:
        log.warning("the audit cannot be read: %s", wrong)
        return AuditPage((), unreadable=True)


async def _page(audit: Audit, viewer: Viewer, before: str) -> AuditPage:
    found: list[Record] = []
    last, looked_at = "", 0
    async for place, record in audit.backwards(before):
        if looked_at == MOST_LOOKED_AT:
            return AuditPage(tuple(found), last, looked_at)
        looked_at += 1
        if _may_see(viewer, record):
            if len(found) == MOST_RECORDS:
                return AuditPage(tuple(found), last)
            found.append(record)
        last = place
    return AuditPage(tuple(found))


async def whole(audit: Audit, viewer: Viewer) -> str:
    """Each line as `aksbot audit export` prints it."""
    return "".join([f"{json.dumps(record.as_dict())}\n" async for record in _seen(audit, viewer)])


async def _seen(audit: Audit, viewer: Viewer) -> AsyncIterator[Record]:
    async for record in audit.records():
        if _may_see(viewer, record):
            yield record


def _may_see(viewer: Viewer, record: Record) -> bool:
    try:
        cluster = str(record.entry.get("cluster", ""))
    except ValueError:
        return True  # it was tampered with: nobody is helped by hiding that
    return not cluster or viewer.may_see(last_name(cluster))
