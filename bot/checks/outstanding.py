"""What this process has taken in and nobody has answered yet, so that it is not lost when Redis loses its data."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from bot.checks.request import CheckRequest
from bot.checks.shared import Checks
from bot.queue.priority import Priority
from bot.store.away import StoreAway
from bot.store.state import State

log = logging.getLogger(__name__)

LOOK_S = 1.0
_REMEMBERED = 5000


class Outstanding:
    """Requests by id. Looks now and then which are answered; hands them in again when the data are gone."""

    def __init__(self, state: State, checks: Checks) -> None:
        self._state, self._checks = state, checks
        self._requests: dict[str, tuple[CheckRequest, Priority]] = {}
        self._epoch: str | None = None

    def __len__(self) -> int:
        return len(self._requests)

    @property
    def knows_the_data(self) -> bool:
        """Whether it has looked once, so that it would notice a loss."""
        return self._epoch is not None

    def add(self, request: CheckRequest, priority: Priority) -> bool:
        """Returns whether it was not known yet."""
        is_new = request.id not in self._requests
        self._requests[request.id] = (request, priority)
        if len(self._requests) > _REMEMBERED:
            del self._requests[next(iter(self._requests))]
        return is_new

    def forget(self, request: CheckRequest) -> None:
        """This process does it itself."""
        self._requests.pop(request.id, None)

    async def watch(self, hand_in: Callable[[CheckRequest, Priority], Awaitable[object]]) -> None:
        """Until cancelled."""
        while True:
            with suppress(StoreAway):
                await self._look(hand_in)
            await asyncio.sleep(LOOK_S)

    async def _look(self, hand_in: Callable[[CheckRequest, Priority], Awaitable[object]]) -> None:
        epoch = await self._state.epoch()
        await self._checks.record_reported()
        for answered in await self._checks.running.are_answered(list(self._requests)):
            self._requests.pop(answered, None)
        if self._epoch is not None and epoch != self._epoch:
            log.warning("the server has lost its data; %d requests are handed in again", len(self._requests))
            for request, priority in list(self._requests.values()):
                await hand_in(request, priority)
        self._epoch = epoch
