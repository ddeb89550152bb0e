"""Each signature counts once: who sends a request of Slack's a second time is refused, also within its five minutes.

Slack's own repetitions pass: it signs each attempt anew, since it may come up to five minutes after the first, where
the first signature would be too old. That a header calls a request a repetition proves nothing: it is not signed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence

from slack_bolt import BoltResponse
from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.request.async_request import AsyncBoltRequest

from bot.slack.inbound.deadline import left_s
from bot.store.away import StoreAway
from bot.store.keys import SIGNATURE_TTL
from bot.store.state import State

log = logging.getLogger(__name__)

SIGNATURE = "x-slack-signature"
PATIENCE_S = 0.5
"""Slack waits for 3 s; a memory that is away must not cost more of them."""
_REMEMBERED = 20_000


class Replays(AsyncMiddleware):
    """The signatures that were used, known to all processes; while the memory is away, to this one. Middleware, after
    Bolt has verified the signature. What comes over a socket has none."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._used: dict[str, float] = {}

    async def async_process(
        self,
        *,
        req: AsyncBoltRequest,
        resp: BoltResponse,
        next: Callable[[], Awaitable[BoltResponse]],  # noqa: A002 - Bolt's name
    ) -> BoltResponse:
        signature = _signature(req.headers)
        if signature and not await self.first_use(signature):
            log.warning("a request was refused: its signature was used before")
            return BoltResponse(status=401, body="")
        return await next()

    async def first_use(self, signature: str) -> bool:
        """Whether nobody has shown it before."""
        if self._known(signature):
            return False
        try:
            async with asyncio.timeout(left_s(PATIENCE_S)):
                return await self._state.first_use(signature)
        except (StoreAway, TimeoutError):
            return True

    async def forget(self, headers: Mapping[str, Sequence[str]]) -> None:
        """We could not take the request: an attempt in the same second has the same signature and must pass."""
        if signature := _signature(headers):
            self._used.pop(signature, None)
            try:
                async with asyncio.timeout(PATIENCE_S):
                    await self._state.forget_use(signature)
            except (StoreAway, TimeoutError):
                log.info("a signature could not be forgotten; Slack comes again with another one")

    def _known(self, signature: str) -> bool:
        """Known here; from now on, in any case. The oldest ones stand first."""
        now = time.monotonic()
        while self._used and (oldest := next(iter(self._used))):
            if self._used[oldest] > now and len(self._used) < _REMEMBERED:
                break
            del self._used[oldest]
        if signature in self._used:
            return True
        self._used[signature] = now + SIGNATURE_TTL.total_seconds()
        return False


def _signature(headers: Mapping[str, Sequence[str]]) -> str:
    return next(iter(headers.get(SIGNATURE, ())), "")
