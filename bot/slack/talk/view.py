"""The answers to somebody who just talks to the bot: one line, with buttons. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bot.slack.inbound import commands, replies
from bot.slack.kit.message import Message, actions, check_buttons, section, suggestion
from bot.slack.talk import text
from bot.triage.explain import Explanation


def explained(explanation: Explanation, clusters: Sequence[str]) -> Message:
    """What a pasted error means, and a button for each cluster that it names."""
    said = replies.recognised(explanation)
    return Message(said.text, (*said.blocks, *([actions(*check_buttons(clusters))] if clusters else ())))


def which(clusters: Sequence[str]) -> Message:
    said = text.which(len(clusters))
    choose = suggestion(text.CHOOSE, commands.CHECK, 0)
    return Message(said, (section(said), actions(*check_buttons(clusters), choose)))


def not_understood(said: str = text.NOT_UNDERSTOOD) -> Message:
    buttons = suggestion(text.CHOOSE, commands.CHECK, 0), suggestion(text.HELP, commands.HELP, 1)
    return Message(said, (section(said), actions(*buttons)))
