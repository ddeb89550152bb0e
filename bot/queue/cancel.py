"""Ending a task for sure."""

from __future__ import annotations

import asyncio
from typing import Any

_AGAIN_S = 0.5


async def end(*tasks: asyncio.Task[Any]) -> None:
    """Cancel them, and wait until they have ended.

    A cancellation can get lost: `asyncio.wait_for` of Python 3.11, through which every command to Redis goes, swallows
    one that comes in the moment in which the command ends. A loop then goes on for ever, and so does who waits for it.
    """
    while running := [task for task in tasks if not task.done()]:
        for task in running:
            task.cancel()
        await asyncio.wait(running, timeout=_AGAIN_S)
