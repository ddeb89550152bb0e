"""The answer to `/aks changes`, made of values alone."""

from __future__ import annotations

from bot.render.clean import one_line
from bot.render.over_time.changes import changes_lines, clock, headline, notes
from bot.render.pictures.changes import changes_picture
from bot.slack.changes import text as said
from bot.slack.kit import escaping, limits
from bot.slack.kit.message import AnswerMessages, Attachment, Block, Message, context, section
from bot.slack.kit.rich_text import Element, bullets, text
from bot.slack.kit.rich_text import blocks as rich_blocks
from handlers.changes.change import Change, Changes
from handlers.changes.told import line

MOST_LISTED = 20
_LONGEST = 300
_COLUMNS = 160
"""Of the file: its lines may be long."""


def answer(found: Changes) -> AnswerMessages:
    """Newest first; what finds no room is in a file, and the picture stands in the thread."""
    told = f"*{escaping.code(found.cluster)}:* {escaping.plain(headline(found))}"
    shown: list[Block] = [section(told)]
    if found.changes:
        shown += rich_blocks([bullets([_row(change, found) for change in found.changes[:MOST_LISTED]])])
    file = _whole(found) if len(found.changes) > MOST_LISTED else None
    if file:
        shown.append(context(said.rest_in_file(len(found.changes) - MOST_LISTED, file.name)))
    shown += [context(escaping.plain(note, limits.FIELD_TEXT)) for note in notes(found)]
    picture = changes_picture(found)
    return AnswerMessages(Message(told, tuple(shown)), (), file, (picture,) if picture else ())


def _row(change: Change, found: Changes) -> list[Element]:
    words = escaping.cut(one_line(line(change, found.until)), _LONGEST)
    return [text(f"{clock(found, change)}", as_code=True), text(f" {words}", bold=change.result.bad)]


def _whole(found: Changes) -> Attachment:
    lines = [row.text for row in changes_lines(found, _COLUMNS)]
    return Attachment(f"changes-{one_line(found.cluster)}.txt", "\n".join(lines) + "\n")
