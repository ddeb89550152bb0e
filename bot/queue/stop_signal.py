"""How a process is asked to stop: Ctrl-C, or SIGTERM from whoever runs it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any

_CANCEL_AGAIN_S = 10.0


async def stop_requested() -> None:
    """Until then. Whoever waits for it leaves its contexts, and these drain and close."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    try:
        await stopped.wait()
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def leave_if_cancelled() -> None:
    """Between two steps: a library may have swallowed the cancellation that came in the one before."""
    task = asyncio.current_task()
    if task and task.cancelling():
        raise asyncio.CancelledError


async def unless_stopped(work: Coroutine[Any, Any, None]) -> None:
    """Do it, or leave it where it is when told to stop; it closes what it has opened either way."""
    doing = asyncio.create_task(work, name="work until told to stop")
    stop = asyncio.create_task(stop_requested(), name="told to stop")
    try:
        await asyncio.wait((doing, stop), return_when=asyncio.FIRST_COMPLETED)
    finally:
        stop.cancel()
        while not doing.done():
            # A library may swallow one cancellation that comes at a bad moment; what closes slowly is left its time.
            doing.cancel()
            await asyncio.wait((doing,), timeout=_CANCEL_AGAIN_S)
        await asyncio.wait((stop,))
    if not doing.cancelled():
        doing.result()
