"""Sends a recording to whoever called an answer wrong: in their direct messages, where nobody else reads it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from bot.address import Address
from bot.slack.api.messages import SlackMessages
from bot.slack.api.poster import Poster
from bot.slack.checks import cases_text
from bot.slack.inbound import replies
from bot.slack.inbound.asks import Ask

PART = "recording"


def file_name(cluster: str, at: datetime) -> str:
    """`prod-weu-2026-11-18T0314Z.zip`: of several, people see which is which."""
    name = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in cluster[:60])
    return f"{name}-{at:%Y-%m-%dT%H%MZ}.zip"


@dataclass(frozen=True)
class SentRecordings:
    """Raises CallFailed."""

    slack_messages: SlackMessages
    message_poster: Poster

    async def send(self, ask: Ask, cluster: str, recording: Path) -> str:
        """The name under which it was sent, once."""
        name = file_name(cluster, ask.asked_at)
        direct = replace(ask.where, place=Address(ask.place.team, ask.place.user, ask.place.user))
        said = replies.only(cases_text.here_is(cluster, name))
        posted, _ = await self.message_poster.once(direct, PART, said)
        there = Address(channel=posted.channel)
        if not await self.slack_messages.has_file(there, name, ask.asked_at):
            content = await asyncio.to_thread(recording.read_bytes)
            await self.slack_messages.upload_recording(there, name, content)
        return name
