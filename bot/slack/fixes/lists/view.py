"""Lists about fixes, made of values alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from bot.audit.record import Record
from bot.checks.offered_fix import Fix
from bot.fixes.proposal import State
from bot.render.clean import one_line
from bot.render.subject import short
from bot.slack.fixes import message_text
from bot.slack.fixes.buttons import AUDIT_OLDER
from bot.slack.fixes.lists import text as lists_text
from bot.slack.fixes.offer_view import under
from bot.slack.kit import escaping, sentences
from bot.slack.kit.message import AnswerMessages, Block, Message, actions, context, header, pages, section
from bot.slack.kit.rich_text import Element, bullets, text
from bot.slack.kit.rich_text import blocks as rich_blocks
from bot.slack.kit.rich_text import section as rich_section
from handlers.resource_id import last_name

MOST_OFFERED, MOST_OPEN = 100, 20
"""More than so many offers are looked at one cause at a time, in an answer."""
MOST_MESSAGES = 6
_ROWS_IN_BLOCK = 20
_LONGEST = 300


def fixes(cluster: str, offered: Sequence[Fix], waiting: Sequence[OpenApproval]) -> AnswerMessages:
    """What can be done about a cluster now, and what was asked for already."""
    said, shown = lists_text.fixes_of(cluster), offered[:MOST_OFFERED]
    parts: list[Block] = [section(f"*{said}*")]
    parts += [*_bullets([_offered(option) for option in shown], len(offered)), *under(shown)] if offered else []
    parts += [] if offered else [section(lists_text.NOTHING_TO_FIX)]
    parts.append(section(f"*{lists_text.OPEN_TITLE}*"))
    if waiting:
        parts += _bullets([_waiting(approval) for approval in waiting[:MOST_OPEN]], len(waiting))
    else:
        parts.append(section(lists_text.NOTHING_OPEN))
    messages, fitted = pages(parts, said, most=MOST_MESSAGES)
    made = AnswerMessages(messages[0], tuple(messages[1:]))
    return made if fitted else _with_note(made, lists_text.NOT_ALL)


def fixes_outside(cluster: str, offered: Sequence[Fix], waiting: Sequence[OpenApproval]) -> AnswerMessages:
    """The same for whoever asked where guests or another company read along: no fix can be asked for there."""
    return _with_note(fixes(cluster, [replace(option, proposal="") for option in offered], waiting), sentences.ONLY_YOU)


def _with_note(said: AnswerMessages, note: str) -> AnswerMessages:
    *before, last = (said.head, *said.thread)
    head, *thread = (*before, Message(last.text, (*last.blocks, context(note))))
    return AnswerMessages(head, tuple(thread))


def _bullets(rows: list[list[Element]], of: int) -> list[Block]:
    """A block each for so many that a message has room for it."""
    more = [[text(sentences.more(of - len(rows)), dim=True)]] if of > len(rows) else []
    shown = [*rows, *more]
    parts = [shown[first : first + _ROWS_IN_BLOCK] for first in range(0, len(shown), _ROWS_IN_BLOCK)]
    return [block for part in parts for block in rich_blocks([bullets(part)])]


def _offered(option: Fix) -> list[Element]:
    """A button says what it does; where there is none, this line does."""
    plan = option.offer.plan
    does = f": {plan.title}" if plan and not option.has_button else ""
    return [text(escaping.cut(one_line(f"{option.offer.code} on {short(option.offer.subject)}{does}"), _LONGEST))]


def _waiting(approval: OpenApproval) -> list[Element]:
    row = [text(escaping.cut(one_line(approval.title), _LONGEST)), text(f" · {_standing(approval)}")]
    return (
        [*row, text(" · "), {"type": "link", "url": approval.link, "text": lists_text.REQUEST}]
        if approval.link
        else row
    )


def _standing(approval: OpenApproval) -> str:
    """Only what waits for approval can expire."""
    waits = approval.state is State.OFFERED
    return lists_text.open_until(approval.expires_at) if waits else message_text.going(approval.state)


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
    """A fix that was asked for: it waits for somebody's word, or is under way."""

    title: str
    cluster: str
    requested_by: str
    """A person's id."""
    expires_at: datetime
    link: str = ""
    state: State = State.OFFERED
