"""A message that names people, so that Slack tells them of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.slack.kit import limits
from bot.slack.kit.message import Block, Message
from bot.slack.kit.rich_text import Element, blocks, section, text
from bot.slack.kit.sentences import FOR

REPORTED_BY = "Reported by "


def addressed(message: Message, user: str) -> Message:
    """The answer to what somebody reported."""
    return _above_the_buttons(message, section(text(REPORTED_BY), mention(user)))


def calling(message: Message, names: Sequence[str]) -> Message:
    """The answer to an alert, which nobody has reported."""
    return _above_the_buttons(message, for_people(names))


def for_people(names: Sequence[str]) -> Block:
    """`For @one, @another`."""
    called = [part for name in names for part in (text(", "), mention(name))][1:]
    return section(text(FOR), *called)


def mention(name: str) -> Element:
    """Of a person (`U…`, or `T…:U…` as the policy names them) or a user group (`S…`)."""
    if name.startswith("S"):
        return {"type": "usergroup", "usergroup_id": name}
    return {"type": "user", "user_id": name.rpartition(":")[2]}


def _above_the_buttons(message: Message, line: Block) -> Message:
    named = blocks([line])
    if len(message.blocks) + len(named) > limits.BLOCKS_IN_MESSAGE:
        return message
    buttons = [block for block in message.blocks[-1:] if block.get("type") == "actions"]
    shown = message.blocks[: len(message.blocks) - len(buttons)]
    return replace(message, blocks=(*shown, *named, *buttons))
