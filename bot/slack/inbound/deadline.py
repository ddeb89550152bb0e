"""Slack waits 3 s for an acknowledgement: one deadline for all that a listener asks of the memory and of Slack."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar

from slack_bolt import BoltResponse
from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.request.async_request import AsyncBoltRequest

from bot.slack.kit import limits

WITHIN_S = limits.ACK_WITHIN_S - 0.5
"""The rest is for the way there and back."""
AT_LEAST_S = 0.2
"""For the last word, whatever came before: a queue that is there takes a job in a few milliseconds."""

_until: ContextVar[float | None] = ContextVar("until", default=None)


class Starts(AsyncMiddleware):
    """Middleware, the first of all."""

    async def async_process(
        self,
        *,
        req: AsyncBoltRequest,
        resp: BoltResponse,
        next: Callable[[], Awaitable[BoltResponse]],  # noqa: A002 - Bolt's name
    ) -> BoltResponse:
        _until.set(asyncio.get_running_loop().time() + WITHIN_S)
        return await next()


def left_s(at_most: float) -> float:
    """How long something may take now; outside of a listener, as long as it likes."""
    until = _until.get()
    if until is None:
        return at_most
    return max(min(until - asyncio.get_running_loop().time(), at_most), AT_LEAST_S)
