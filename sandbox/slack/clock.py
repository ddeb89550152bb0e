"""The workspace's clock: real time, or a virtual clock that tests advance."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from typing import Protocol


class Clock(Protocol):
    """The time in seconds since the epoch, and waiting until a given time."""

    def now(self) -> float: ...

    async def sleep_until(self, moment: float) -> None: ...


class RealClock:
    """The machine's time."""

    def now(self) -> float:
        return time.time()

    async def sleep_until(self, moment: float) -> None:
        await asyncio.sleep(max(0.0, moment - time.time()))


class VirtualClock:
    """A clock that only moves when told to. It starts at the real time, so that request signatures are not too old."""

    def __init__(self, start: float | None = None) -> None:
        self._now = time.time() if start is None else start
        self._order = itertools.count()
        self._waiting: list[tuple[float, int, asyncio.Future[None]]] = []

    def now(self) -> float:
        return self._now

    async def sleep_until(self, moment: float) -> None:
        if moment <= self._now:
            await asyncio.sleep(0)
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (moment, next(self._order), waiter))
        await waiter

    def advance(self, seconds: float) -> None:
        """Move time forward and wake all waiters that are due."""
        self._now += seconds
        while self._waiting and self._waiting[0][0] <= self._now:
            waiter = heapq.heappop(self._waiting)[2]
            if not waiter.done():
                waiter.set_result(None)
