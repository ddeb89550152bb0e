"""The last look at what goes to Slack: no secret in any text, block, window or file, whoever made it.

Everything the bot says passes here, whether a worker says it (`bot.slack.voice`) or a listener answers at once
(`bot.slack.intake.private`). Ids and the values of buttons stay: a button must find its fix.
"""

from __future__ import annotations

import asyncio
from typing import Any

from bot.redaction import redacted, replacements, texts_in
from bot.slack import limits, words
from bot.slack.message import Attachment, Message
from handlers.clients.redact import LONG, redact_text

Body = dict[str, Any]

IDS = frozenset(
    {
        *("type", "block_id", "action_id", "callback_id", "external_id", "private_metadata", "task_id"),
        *("channel_id", "user_id", "usergroup_id", "team_id", "value"),
    }
)
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
    replaced = replacements(texts_in([said.text, said.blocks], IDS))
    if not replaced:
        return said
    text = _fits(said.text, replaced, limits.MESSAGE_TEXT)
    return Message(text, tuple(_shown(block, replaced, limits.SECTION_TEXT) for block in said.blocks))


def view(shown: Body) -> Body:
    """A window or a page of App Home without secrets."""
    replaced = replacements(texts_in(shown, IDS))
    if not replaced:
        return shown
    made: Body = _shown(shown, replaced, limits.SECTION_TEXT)
    if isinstance(shown.get("title"), dict):
        made["title"] = _shown(shown["title"], replaced, limits.VIEW_TITLE)
    return made


async def file(attached: Attachment) -> Attachment:
    """A file for a thread without secrets. It can be long: the event loop must go on."""
    large = len(attached.text) > LONG
    text = await asyncio.to_thread(redact_text, attached.text) if large else redact_text(attached.text)
    return Attachment(str(redacted(attached.name)), text)


def _shown(node: Any, replaced: dict[str, str], room: int) -> Any:
    if isinstance(node, str):
        return _fits(node, replaced, room)
    if isinstance(node, list | tuple):
        return [_shown(one, replaced, room) for one in node]
    if not isinstance(node, dict):
        return node
    room = _ROOM_IN.get(str(node.get("type")), room)
    return {
        key: inner if key in IDS else _shown(inner, replaced, _ROOM_UNDER.get(key, room)) for key, inner in node.items()
    }


def _fits(text: str, replaced: dict[str, str], room: int) -> str:
    clean = replaced.get(text, text)
    return words.fits(clean, room) if clean != text else text
