"""Reads messages in Slack for assertions."""

from __future__ import annotations

from typing import Any

from sandbox.slack.control import Control
from sandbox.slack.message import Message


def seen(message: Message) -> str:
    """All visible text of a message."""
    return text_of(message.blocks) or message.text


def text_of(blocks: list[dict[str, Any]]) -> str:
    """All visible text of blocks."""
    return _text(blocks)


def buttons(message: Message) -> list[str]:
    return [one["action_id"] for block in message.blocks for one in block.get("elements", []) if "action_id" in one]


def heads(control: Control, channel: str = "incidents") -> list[Message]:
    """The bot's top-level messages in the channel."""
    bot = control.team.bot.id
    return [one for one in control.messages(channel) if one.user == bot and not one.is_reply]


def is_answer(message: Message) -> bool:
    return "show_all_checks" in buttons(message)


async def answered(control: Control, channel: str = "incidents", number: int = 1) -> list[Message]:
    """Wait until this many head messages have an answer and its thread; returns them."""

    def all_there() -> bool:
        done = [one for one in heads(control, channel) if is_answer(one)]
        return len(done) >= number and all(len(control.thread(channel, one.ts)) > 1 for one in done)

    await control.until(all_there, 60)
    return heads(control, channel)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(filter(None, map(_text, value)))
    if not isinstance(value, dict):
        return ""
    own = value.get("text")
    told = own if isinstance(own, str) else _text(own)
    return " ".join(filter(None, [told, *(_text(value.get(key)) for key in ("elements", "tasks", "options"))]))
