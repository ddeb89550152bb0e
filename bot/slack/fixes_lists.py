"""Lists about fixes, made of values alone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from bot.approvals.offered import Fix
from bot.audit.record import Record
from bot.render.clean import one_line
from bot.render.subject import short
from bot.slack import words, words_fixes
from bot.slack.fixes_offer import under
from bot.slack.home import OpenApproval
from bot.slack.message import Block, Message, header, section
from bot.slack.rich import Element, bullets, text
from bot.slack.rich import blocks as rich_blocks
from handlers.resource_id import last_name

MOST_OPEN = 20
_LONGEST = 300


def fixes(cluster: str, offered: Sequence[Fix], waiting: Sequence[OpenApproval]) -> Message:
    """What can be done about a cluster now, and what was asked for already."""
    said = words_fixes.fixes_of(cluster)
    about = [[text(one_line(f"{one.offer.code} on {short(one.offer.subject)}"))] for one in offered]
    parts: list[Block] = [section(f"*{said}*")]
    parts += [*rich_blocks([bullets(about[:MOST_OPEN])]), *under(offered)] if offered else []
    parts += [] if offered else [section(words_fixes.NOTHING_TO_FIX)]
    parts.append(section(f"*{words_fixes.OPEN_TITLE}*"))
    if waiting:
        parts += rich_blocks([bullets([_waiting(one) for one in waiting[:MOST_OPEN]])])
    else:
        parts.append(section(words_fixes.NOTHING_OPEN))
    return Message(said, tuple(parts))


def _waiting(one: OpenApproval) -> list[Element]:
    row = [text(words.cut(one_line(one.title), _LONGEST)), text(f" · {one.expires_at:%H:%M} UTC")]
    return [*row, text(" · "), {"type": "link", "url": one.link, "text": words_fixes.REQUEST}] if one.link else row


def audit(state: str, latest: Sequence[Record]) -> Message:
    """The latest records, the last one first."""
    parts: list[Block] = [header(words_fixes.AUDIT_TITLE), section(state)]
    if latest:
        parts += rich_blocks([bullets([_record(one) for one in latest])])
    else:
        parts.append(section(words_fixes.NO_RECORDS))
    return Message(state, tuple(parts))


def _record(one: Record) -> list[Element]:
    at = f"{datetime.fromtimestamp(one.at_ms / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
    try:
        entry = one.entry
    except ValueError:
        return [text(f"{one.number} · {at} · {words_fixes.UNREADABLE}")]
    who, details = entry.get("who") or {}, entry.get("details") or {}
    more = [str(details[key]) for key in ("end", "method", "result") if details.get(key)]
    parts = [
        str(one.number),
        at,
        str(entry.get("what", "")),
        str(entry.get("remedy", "")),
        last_name(str(entry.get("cluster", ""))),
        str(who.get("name", "")),
        *more,
        str(entry.get("reason", "")),
    ]
    return [text(words.cut(one_line(" · ".join(filter(None, parts))), _LONGEST))]
