"""The fleet in Slack, made of values alone: by last verdict, and while all of it is checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from bot.checks.fleet_lines import FleetRow, Standing, age_said, counted, place_said, verdict_said
from bot.render.clean import one_line
from bot.render.verdict import count
from bot.slack.fleet import text as said
from bot.slack.inbound.replies import only
from bot.slack.kit import escaping, sentences
from bot.slack.kit.message import Block, Message, context, pages, section
from bot.slack.kit.rich_text import Element, bullets, text
from bot.slack.kit.rich_text import blocks as rich_blocks
from handlers.fleet.clusters import FleetMember
from handlers.problem import Problem
from runbooks.library import Library

MOST_LISTED = 60
_LONGEST = 300
_LIGHTS = {
    Standing.UNHEALTHY: "🔴",
    Standing.INCOMPLETE: "🟡",
    Standing.WARNING: "🟠",
    Standing.NEVER: "⚪",
    Standing.NOT_CHECKED: "⚪",
    Standing.HEALTHY: "🟢",
}


def clusters(rows: Sequence[FleetRow], library: Library, now: datetime | None = None) -> Message:
    """Each cluster with its last verdict and how old that is; what needs somebody comes first."""
    if not rows:
        return only(sentences.NO_FLEET)
    at = now or datetime.now(UTC)
    told = f"{count(len(rows), 'cluster')} by last verdict: {counted(row.standing for row in rows)}"
    notes = [context(said.CHECK_THEM)] if any(row.verdict is None for row in rows) else []
    return _listed(told, [_row(row, library, age_said(row.verdict, at)) for row in rows], notes)


def checking(
    rows: Mapping[str, FleetRow | Problem], members: Sequence[FleetMember], library: Library, left_out: int = 0
) -> Message:
    """One line for each cluster, as its check ends. `rows` are by id."""
    ended = [row for row in rows.values() if isinstance(row, FleetRow)]
    failed = sum(isinstance(row, Problem) for row in rows.values())
    told = said.so_far(len(rows), len(members)) if len(rows) < len(members) else said.all_checked(len(members))
    numbers = ", ".join(filter(None, [counted(row.standing for row in ended), said.failed(failed)]))
    listed = sorted(members, key=lambda member: (_rank(rows.get(member.id)), member.name.lower()))
    lines = [_checked(member, rows.get(member.id), library) for member in listed]
    notes = [context(said.left_out(left_out))] if left_out else []
    return _listed(f"{told}: {numbers}" if numbers else told, lines, notes)


def _rank(row: FleetRow | Problem | None) -> int:
    if isinstance(row, Problem):
        return Standing.INCOMPLETE
    return len(Standing) if row is None else row.standing


def _checked(member: FleetMember, row: FleetRow | Problem | None, library: Library) -> list[Element]:
    if row is None:
        return [text("⏳ "), _name(member), text(f" {said.WAITS}", dim=True)]
    if isinstance(row, Problem):
        why = escaping.cut(one_line(row.why), _LONGEST)
        return [text("⚠️ "), _name(member), text(f" {said.NOT_CHECKED}: {why}")]
    return _row(row, library, "")


def _row(row: FleetRow, library: Library, age: str) -> list[Element]:
    words = " · ".join(filter(None, [verdict_said(row.verdict, library), age, *place_said(row.member)]))
    told = text(f" {escaping.cut(one_line(words), _LONGEST)}", bold=row.standing is Standing.UNHEALTHY)
    return [text(f"{_LIGHTS[row.standing]} "), _name(row.member), told]


def _name(member: FleetMember) -> Element:
    return text(one_line(member.name), as_code=True)


def _listed(told: str, lines: list[list[Element]], notes: Sequence[Block]) -> Message:
    shown = lines[:MOST_LISTED]
    if len(lines) > MOST_LISTED:
        shown.append([text(sentences.more(len(lines) - MOST_LISTED), dim=True)])
    (message, *_), fitted = pages([section(f"*{told}*"), *rich_blocks([bullets(shown)]), *notes], told, most=1)
    return message if fitted else Message(message.text, (*message.blocks, context(escaping.CUT.strip())))
