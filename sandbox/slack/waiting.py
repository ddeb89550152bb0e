"""Waiting for something, but no longer than the workspace's clock allows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from sandbox.slack.clock import Clock

T = TypeVar("T")

_AT_MOST_S = 20.0
"""By the machine's own time: a clock that nobody moves holds up nobody for ever."""


async def within(clock: Clock, seconds: float, wanted: Awaitable[T]) -> T:
    """What it brings, or TimeoutError once that many seconds have passed on this clock."""
    work = asyncio.ensure_future(wanted)
    timer = asyncio.ensure_future(clock.sleep_until(clock.now() + seconds))
    try:
        await asyncio.wait({work, timer}, timeout=_AT_MOST_S, return_when=asyncio.FIRST_COMPLETED)
        # What came in the moment in which time was up came too late.
        if timer.done() or not work.done():
            raise TimeoutError
        return work.result()
    finally:
        work.cancel()
        timer.cancel()
        await asyncio.gather(work, timer, return_exceptions=True)
