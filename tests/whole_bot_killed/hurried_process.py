"""`aksbot serve` as a separate process with shortened polling intervals, for tests that kill it late."""

from __future__ import annotations

import asyncio
import sys

from bot import settings
from bot.app import running
from bot.playground.hurried import ShortenedPauses


async def main(pace: float) -> None:
    async with running(settings.load(), host="127.0.0.1", times=ShortenedPauses(pace)):
        await asyncio.Event().wait()


asyncio.run(main(float(sys.argv[1])))
