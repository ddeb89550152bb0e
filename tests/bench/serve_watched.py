"""`aksbot serve` with event loop monitoring: writes the worst delay of a 10 ms timer to a file.

The monitor runs inside the loop and changes nothing else.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import sys
import time
from pathlib import Path

from bot.cli.main import main

EVERY_S = 0.01
FILE = "AKSBOT_BENCH_STALLS"
NOTED_S = 0.02


class Watch:
    """Records each delay: when, how long, and how much of it was CPU time of the loop's thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop, self._due, self._cpu_s = loop, loop.time(), time.thread_time()
        self.stalls: list[tuple[float, float, float]] = []

    def beat(self) -> None:
        now, cpu_s = self._loop.time(), time.thread_time()
        if now - self._due > NOTED_S:
            self.stalls.append((now, now - self._due, cpu_s - self._cpu_s))
        self._due, self._cpu_s = self._loop.time() + EVERY_S, cpu_s
        self._loop.call_at(self._due, self.beat)


class Watched(asyncio.DefaultEventLoopPolicy):
    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        loop = super().new_event_loop()
        watch = Watch(loop)
        loop.call_soon(watch.beat)
        atexit.register(lambda: Path(os.environ[FILE]).write_text(json.dumps(watch.stalls)))
        return loop


if __name__ == "__main__":
    asyncio.set_event_loop_policy(Watched())
    sys.argv[0] = "aksbot"
    main()
