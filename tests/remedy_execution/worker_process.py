"""A worker as a separate process. It continues the fix in a file and kills itself at a given boundary.

argv: the file with the addresses, the boundary ("" for none), how often it is passed first.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from handlers.remedy.executor import Executor
from tests.remedy_execution.stage import Clock, Doors, FileLedger


async def main(data: dict[str, Any], deadly: str, left: int) -> None:
    ledger, clock = FileLedger(Path(data["ledger"])), Clock()

    async def at(boundary: str) -> None:
        nonlocal left
        if boundary == deadly:
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1

    doors = Doors(data["cluster"], data["reader"], data["writer"])
    async with doors.write_clients() as write_clients:
        executor = Executor(write_clients, checkpoint=at, now=clock.now)
        here = ledger.load()
        while not here.ended:
            here = await executor.advance(here, ledger)
            clock.wait(here.wait_s)


asyncio.run(main(json.loads(Path(sys.argv[1]).read_text()), sys.argv[2], int(sys.argv[3])))
