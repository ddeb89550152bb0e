"""A process that opens the store in a given folder, reports it, and waits to be killed."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from bot.store.connect import connected


async def main(folder: Path) -> None:
    async with connected(None, folder) as connection:
        await connection.redis.set("kept", "yes")
        assert connection.embedded
        print(connection.embedded.pid, flush=True)
        await asyncio.Event().wait()


asyncio.run(main(Path(sys.argv[1])))
