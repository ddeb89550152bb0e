"""Change notifications: wakes waiters so that they can check again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import TypeVar

T = TypeVar("T")


class Changes:
    """Signals that the workspace changed, but not what changed."""

    def __init__(self) -> None:
        self.number = 0
        self._waiting: set[asyncio.Future[None]] = set()

    def ring(self) -> None:
        self.number += 1
        waiting, self._waiting = self._waiting, set()
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)

    async def next(self) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(waiter)
        try:
            await waiter
        finally:
            self._waiting.discard(waiter)

    async def until(self, predicate: Callable[[], T], timeout_s: float = 10.0) -> T:
        """Wait until the predicate returns something truthy, and return that; it is evaluated after every change."""
        async with asyncio.timeout(timeout_s):
            while not (found := predicate()):
                await self.next()
        return found

    async def follow(self) -> AsyncIterator[int]:
        """Yield a version number per change; changes between two reads are coalesced."""
        seen = self.number
        while True:
            if self.number == seen:
                await self.next()
            seen = self.number
            yield seen
