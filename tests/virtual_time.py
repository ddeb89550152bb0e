"""An event loop whose clock moves only when nothing else can happen, for tests of deadlines.

    def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], VirtualLoop]]:  # in a folder's conftest.py
        return {"virtual time": VirtualLoop}

Both ends of every socket live in this loop, so that work costs no time, however slow or busy the machine is, and a
deadline of a minute is over at once when nobody answers. It cannot wait for what another process does: where a
subprocess has to answer, use the ordinary loop and generous deadlines.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Mapping
from concurrent.futures import Executor, Future
from typing import Any

SETTLE_S = 0.002
"""What was sent over the loopback has arrived by then, in real seconds."""
THREADS_S = 0.05
"""How long a look at threads that are at work takes: they must end before time may move."""


class VirtualLoop(asyncio.SelectorEventLoop):
    """Its `time()` is the sum of the waits that nobody interrupted."""

    def __init__(self) -> None:
        self.now = 0.0
        self.at_work = 0
        super().__init__(_Patient(self))

    def time(self) -> float:
        return self.now

    def run_in_executor(self, executor: Executor | None, func: Any, *args: Any) -> asyncio.Future[Any]:
        """Threads know nothing of this clock: while one is at work, it stands still."""
        self.at_work += 1
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(self._done)
        return future

    def _done(self, _: asyncio.Future[Any] | Future[Any]) -> None:
        self.at_work -= 1


class _Patient(selectors.DefaultSelector):  # type: ignore[misc, valid-type]
    """Waits for sockets and threads in real time, and for nothing else."""

    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        ready = super().select(SETTLE_S)
        while not ready and self._loop.at_work:
            ready = super().select(THREADS_S)
        if not ready:
            self._loop.now += timeout
        return ready

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return super().get_map()
