"""Records which mentions were accepted, so that after a gap the missed ones are known."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from slack_bolt import BoltResponse
from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.request.async_request import AsyncBoltRequest

from bot.incidents.turns import Turns
from bot.slack.inbound import message_reader
from bot.slack.inbound.deadline import left_s
from bot.store.away import StoreAway

_PATIENCE_S = 0.5
"""Slack waits for 3 s."""


class AcceptedMentions(AsyncMiddleware):
    """A middleware around the listeners: a mention they refused was not accepted."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns

    async def async_process(
        self,
        *,
        req: AsyncBoltRequest,
        resp: BoltResponse,
        next: Callable[[], Awaitable[BoltResponse]],  # noqa: A002 - Bolt's name
    ) -> BoltResponse:
        answer = await next()
        event = req.body.get("event")
        if isinstance(event, dict) and event.get("type") == "app_mention" and (answer is None or answer.status < 500):
            await self._note(message_reader.mention(req.body))
        return answer

    async def _note(self, name: str) -> None:
        with suppress(StoreAway, TimeoutError):  # At worst it is reported as unread later.
            async with asyncio.timeout(left_s(_PATIENCE_S)):
                await self._turns.note(name)
