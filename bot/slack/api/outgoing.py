"""The last look at what goes to Slack: no secret in any text, block, window or file, whoever made it.

Everything the bot says passes here, whether a worker says it (`bot.slack.api.messages`) or a listener answers at once
(`bot.slack.inbound.intake.private`). Ids and the values of buttons stay: a button must find its fix.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from bot.redaction import IDS, redacted
from bot.render.packet.archive import Archive
from bot.render.pictures.picture import Picture, read_drawn
from bot.slack.kit import escaping, limits
from bot.slack.kit.message import Attachment, Message
from handlers.clients.redact import LONG, redact_text

Body = dict[str, Any]

FOUND_BY = IDS | {"value", "task_id"}
"""What Slack or the bot reads again. A button's `value` is redacted where it is made (`Pressed.dump`)."""
_ROOM_IN = {
    "header": limits.HEADER_TEXT,
    "section": limits.SECTION_TEXT,
    "context": limits.FIELD_TEXT,
    "button": limits.BUTTON_TEXT,
    "rich_text": limits.RICH_TEXT,
    "task_card": limits.TASK_TITLE,
    "plan": limits.TASK_TITLE,
}
_ROOM_UNDER = {
    "fields": limits.FIELD_TEXT,
    "options": limits.OPTION_TEXT,
    "initial_option": limits.OPTION_TEXT,
    "confirm": limits.CONFIRM_TITLE,
    "submit": limits.VIEW_BUTTON,
    "close": limits.VIEW_BUTTON,
}


def message(said: Message) -> Message:
    """The same without secrets, and still within Slack's limits: a mark may be longer than what it replaces."""
    before = {"text": said.text, "blocks": said.blocks}
    clean = redacted(before, but=FOUND_BY)
    if clean is before:
        return said
    text = _shown(said.text, clean["text"], limits.MESSAGE_TEXT)
    return Message(text, tuple(_shown(said.blocks, clean["blocks"], limits.SECTION_TEXT)))


def view(shown: Body) -> Body:
    """A window or a page of App Home without secrets."""
    clean: Body = redacted(shown, but=FOUND_BY)
    if clean is shown:
        return shown
    made: Body = _shown(shown, clean, limits.SECTION_TEXT)
    if isinstance(shown.get("title"), dict):
        made["title"] = _shown(shown["title"], clean["title"], limits.VIEW_TITLE)
    return made


async def file(attached: Attachment) -> Attachment:
    """A file for a thread without secrets. It can be long: the event loop must go on."""
    large = len(attached.text) > LONG
    text = await asyncio.to_thread(redact_text, attached.text) if large else redact_text(attached.text)
    return Attachment(str(redacted(attached.name)), text)


async def archive(made: Archive) -> tuple[str, bytes]:
    """A packed file without secrets: every text in it is redacted as it is packed, a large one in a second or two."""
    return str(redacted(made.name)), await asyncio.to_thread(made.packed)


def picture(drawn: Picture) -> Picture:
    """A picture without secrets in its labels: nobody can take them out of it once it is drawn."""
    chart = read_drawn(redacted(drawn.chart.as_json()))
    return replace(drawn, name=str(redacted(drawn.name)), alt=redact_text(drawn.alt), chart=chart)


def _shown(node: Any, clean: Any, room: int) -> Any:
    """What was redacted is cut to the room there is; the rest stays as it is."""
    if isinstance(node, str):
        return node if clean == node else escaping.fits(clean, room)
    if isinstance(node, list | tuple):
        return [_shown(item, redone, room) for item, redone in zip(node, clean, strict=False)]
    if not isinstance(node, dict):
        return node
    room = _ROOM_IN.get(str(node.get("type")), room)
    return {key: _shown(node[key], inner, _ROOM_UNDER.get(key, room)) for key, inner in clean.items()}
