"""The answer to `/aks history`, made of values alone."""

from __future__ import annotations

from bot.render.clean import one_line
from bot.render.over_time.past import KEPT, headline, history_lines, history_picture, said
from bot.report.past import History, Past
from bot.slack.history import text as history_text
from bot.slack.kit import escaping
from bot.slack.kit.message import AnswerMessages, Attachment, Block, Message, context, section
from bot.slack.kit.rich_text import Element, bullets, text
from bot.slack.kit.rich_text import blocks as rich_blocks

MOST_LISTED = 20
_LONGEST = 300
_COLUMNS = 160


def answer(history: History) -> AnswerMessages:
    """Newest first; what finds no room is in a file, and the picture stands in the thread."""
    told = f"*{escaping.code(history.cluster)}:* {escaping.plain(headline(history))}"
    shown: list[Block] = [section(told)]
    if history.past:
        shown += rich_blocks([bullets([_row(item) for item in history.past[:MOST_LISTED]])])
    file = _whole(history) if len(history.past) > MOST_LISTED else None
    if file:
        shown.append(context(history_text.rest_in_file(len(history.past) - MOST_LISTED, file.name)))
    notes = [*map(escaping.escape, history.unread), *([KEPT] if history.past else [])]
    shown += [context(note) for note in notes]
    picture = history_picture(history)
    return AnswerMessages(Message(told, tuple(shown)), (), file, (picture,) if picture else ())


def _row(item: Past) -> list[Element]:
    words = escaping.cut(one_line(said(item)), _LONGEST)
    return [text(f"{item.at:%d %b %H:%M}", as_code=True), text(f" {words}", bold=item.bad)]


def _whole(history: History) -> Attachment:
    lines = [row.text for row in history_lines(history, _COLUMNS)]
    return Attachment(f"history-{one_line(history.cluster)}.txt", "\n".join(lines) + "\n")
