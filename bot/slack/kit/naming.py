"""A message that names a person, so that Slack tells them of it. Pure."""

from __future__ import annotations

from dataclasses import replace

from bot.slack.kit import limits
from bot.slack.kit.message import Message
from bot.slack.kit.rich_text import blocks, section, text

REPORTED_BY = "Reported by "


def addressed(message: Message, user: str) -> Message:
    """The answer to what somebody reported, above its buttons."""
    named = blocks([section(text(REPORTED_BY), {"type": "user", "user_id": user})])
    if len(message.blocks) + len(named) > limits.BLOCKS_IN_MESSAGE:
        return message
    buttons = [block for block in message.blocks[-1:] if block.get("type") == "actions"]
    shown = message.blocks[: len(message.blocks) - len(buttons)]
    return replace(message, blocks=(*shown, *named, *buttons))
