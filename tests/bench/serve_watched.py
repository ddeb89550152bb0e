"""`aksbot serve`, whose event loop is watched: how late what was due every 10 ms came at worst is written to a file.

It watches from inside, as a task of the loop would, and changes nothing else.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import sys
import time
from pathlib import Path

from bot.cli import main

EVERY_S = 0.01
FILE = "AKSBOT_BENCH_STALLS"
STARTED_S = 10.0
"""What the loop loads as it starts holds nobody up: nobody has been heard yet."""


class Watch:
    """The worst of what was seen, and how much of it this thread computed itself."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop, self._began = loop, loop.time()
        self._due, self._cpu_s = loop.time(), time.thread_time()
        self.worst = {"late_s": 0.0, "own_s": 0.0, "most_own_s": 0.0}

    def beat(self) -> None:
        late_s, own_s = self._loop.time() - self._due, time.thread_time() - self._cpu_s
        if self._loop.time() - self._began > STARTED_S:
            if late_s > self.worst["late_s"]:
                self.worst |= {"late_s": late_s, "own_s": own_s}
            self.worst["most_own_s"] = max(self.worst["most_own_s"], own_s)
        self._due, self._cpu_s = self._loop.time() + EVERY_S, time.thread_time()
        self._loop.call_at(self._due, self.beat)


class Watched(asyncio.DefaultEventLoopPolicy):
    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        loop = super().new_event_loop()
        watch = Watch(loop)
        loop.call_soon(watch.beat)
        atexit.register(lambda: Path(os.environ[FILE]).write_text(json.dumps(watch.worst)))
        return loop


if __name__ == "__main__":
    asyncio.set_event_loop_policy(Watched())
    sys.argv[0] = "aksbot"
    main()
