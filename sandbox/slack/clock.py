"""Time as the workspace knows it: the machine's, or one that a test moves by hand."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from typing import Protocol


class Clock(Protocol):
    """Seconds since the epoch, and a way to wait for a moment."""

    def now(self) -> float: ...

    async def sleep_until(self, moment: float) -> None: ...


class RealClock:
    """The machine's time."""

    def now(self) -> float:
        return time.time()

    async def sleep_until(self, moment: float) -> None:
        await asyncio.sleep(max(0.0, moment - time.time()))


class VirtualClock:
    """Time that stands still until it is moved. It starts now, for a signature must look fresh to the receiver."""

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
        """Move time forward and wake everybody whose moment has come."""
        self._now += seconds
        while self._waiting and self._waiting[0][0] <= self._now:
            waiter = heapq.heappop(self._waiting)[2]
            if not waiter.done():
                waiter.set_result(None)
