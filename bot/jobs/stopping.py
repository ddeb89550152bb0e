"""How a process is asked to stop: Ctrl-C, or SIGTERM from whoever runs it."""

from __future__ import annotations

import asyncio
import signal


async def told_to_stop() -> None:
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
