"""That something happened: who waits for it is told, and looks again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import TypeVar

T = TypeVar("T")


class Changes:
    """A bell. It says that the workspace changed, never what."""

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
        """What the predicate says once it is neither false nor empty; it is asked after every change."""
        async with asyncio.timeout(timeout_s):
            while not (found := predicate()):
                await self.next()
        return found

    async def follow(self) -> AsyncIterator[int]:
        """A number for every change, as it comes; changes that come while nobody looks are one."""
        seen = self.number
        while True:
            if self.number == seen:
                await self.next()
            seen = self.number
            yield seen
