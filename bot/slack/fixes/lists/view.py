"""Lists about fixes, made of values alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from bot.audit.record import Record
from bot.checks.offered_fix import Fix
from bot.render.clean import one_line
from bot.render.subject import short
from bot.slack.fixes.buttons import AUDIT_OLDER
from bot.slack.fixes.lists import text as lists_text
from bot.slack.fixes.offer_view import under
from bot.slack.kit import escaping, sentences
from bot.slack.kit.message import Block, Message, actions, context, header, section
from bot.slack.kit.rich_text import Element, bullets, text
from bot.slack.kit.rich_text import blocks as rich_blocks
from bot.slack.kit.rich_text import section as rich_section
from handlers.resource_id import last_name

MOST_OPEN = 20
_LONGEST = 300


def fixes(cluster: str, offered: Sequence[Fix], waiting: Sequence[OpenApproval]) -> Message:
    """What can be done about a cluster now, and what was asked for already."""
    said = lists_text.fixes_of(cluster)
    about = [[text(one_line(f"{option.offer.code} on {short(option.offer.subject)}"))] for option in offered]
    parts: list[Block] = [section(f"*{said}*")]
    parts += [*rich_blocks([bullets(about[:MOST_OPEN])]), *under(offered)] if offered else []
    parts += [] if offered else [section(lists_text.NOTHING_TO_FIX)]
    parts.append(section(f"*{lists_text.OPEN_TITLE}*"))
    if waiting:
        parts += rich_blocks([bullets([_waiting(approval) for approval in waiting[:MOST_OPEN]])])
    else:
        parts.append(section(lists_text.NOTHING_OPEN))
    return Message(said, tuple(parts))


def fixes_outside(cluster: str, offered: Sequence[Fix], waiting: Sequence[OpenApproval]) -> Message:
    """The same for whoever asked where guests or another company read along: no fix can be asked for there."""
    without = [replace(option, proposal="") for option in offered]
    said = fixes(cluster, without, waiting)
    return Message(said.text, (*said.blocks, context(sentences.ONLY_YOU)))


def _waiting(approval: OpenApproval) -> list[Element]:
    row = [text(escaping.cut(one_line(approval.title), _LONGEST)), text(f" · {approval.expires_at:%H:%M} UTC")]
    return (
        [*row, text(" · "), {"type": "link", "url": approval.link, "text": lists_text.REQUEST}]
        if approval.link
        else row
    )


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Some records, the latest first. `older`: where the next page begins; `looked_at`: it ended after so many."""

    records: tuple[Record, ...]
    older: str = ""
    looked_at: int = 0
    unreadable: bool = False
    """Something else stands in the place of the records."""


@dataclass(frozen=True, slots=True)
class AuditState:
    """What stands above: whether the audit is whole, and what was set aside before it began."""

    state: str
    aside: tuple[str, ...] = ()


def audit(said: AuditState, page: AuditPage, *, direct: bool) -> Message:
    """One page, for one person."""
    parts: list[Block] = [header(lists_text.AUDIT_TITLE), section(said.state)]
    for aside in said.aside:
        parts += rich_blocks([rich_section(text(escaping.cut(one_line(lists_text.set_aside(aside)), 2 * _LONGEST)))])
    if page.records:
        parts += rich_blocks([bullets([_record(record) for record in page.records])])
    elif page.unreadable:
        parts.append(section(lists_text.UNREADABLE_AUDIT))
    elif not page.looked_at:
        parts.append(section(lists_text.NO_RECORDS))
    if page.looked_at:
        parts.append(section(lists_text.looked_at(page.looked_at)))
    if page.older:
        parts.append(actions(_older(page.older)))
        parts += [] if direct else [context(lists_text.ALL_OF_IT)]
    return Message(said.state, tuple(parts))


def _older(place: str) -> Block:
    label = {"type": "plain_text", "text": lists_text.OLDER, "emoji": False}
    return {"type": "button", "action_id": AUDIT_OLDER, "text": label, "value": place}


def _record(record: Record) -> list[Element]:
    said = f"{record.number} · {_at(record)}"
    try:
        said = f"{said} · {_said(record)}"
    except (ValueError, TypeError, AttributeError):
        said = f"{said} · {lists_text.UNREADABLE}"  # it was tampered with: the others are shown all the same
    return [text(escaping.cut(one_line(said), _LONGEST))]


def _at(record: Record) -> str:
    try:
        return f"{datetime.fromtimestamp(record.at_ms / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (ValueError, OverflowError, OSError):
        return "?"


def _said(record: Record) -> str:
    entry = record.entry
    who, details = entry.get("who") or {}, entry.get("details") or {}
    more = [str(details[key]) for key in ("end", "method", "result") if details.get(key)]
    parts = [
        str(entry.get("what", "")),
        str(entry.get("remedy", "")),
        last_name(str(entry.get("cluster", ""))),
        str(who.get("name", "")),
        *more,
        str(entry.get("reason", "")),
    ]
    return " · ".join(filter(None, parts))


@dataclass(frozen=True, slots=True)
class OpenApproval:
    """A fix that waits for somebody's word."""

    title: str
    cluster: str
    requested_by: str
    """A person's id."""
    expires_at: datetime
    link: str = ""
