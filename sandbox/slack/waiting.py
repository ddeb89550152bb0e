"""Waiting with a timeout on the workspace's clock."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from sandbox.slack.clock import Clock

T = TypeVar("T")

_AT_MOST_S = 20.0
"""Upper limit in real time, so that a virtual clock that is never advanced cannot block forever."""


async def within(clock: Clock, seconds: float, wanted: Awaitable[T]) -> T:
    """The awaitable's result, or TimeoutError after that many seconds on this clock."""
    work = asyncio.ensure_future(wanted)
    timer = asyncio.ensure_future(clock.sleep_until(clock.now() + seconds))
    try:
        await asyncio.wait({work, timer}, timeout=_AT_MOST_S, return_when=asyncio.FIRST_COMPLETED)
        # A result that arrives exactly at the timeout is too late.
        if timer.done() or not work.done():
            raise TimeoutError
        return work.result()
    finally:
        work.cancel()
        timer.cancel()
        await asyncio.gather(work, timer, return_exceptions=True)
