"""An event loop whose clock advances only when the loop is idle, for tests of deadlines.

    def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], VirtualLoop]]:  # in a folder's conftest.py
        return {"virtual time": VirtualLoop}

Both ends of every socket are in this loop, so that work takes no virtual time, however busy the machine is, and a
one-minute deadline expires immediately if there is no response. It cannot wait for other processes: if a
subprocess has to respond, use the normal loop with generous deadlines.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Mapping
from concurrent.futures import Executor, Future
from typing import Any

SETTLE_S = 0.002
"""Real seconds after which data sent over loopback has arrived."""
THREADS_S = 0.05
"""The polling interval for running threads, which must finish before the clock may advance."""


class VirtualLoop(asyncio.SelectorEventLoop):
    """Its `time()` is the sum of all completed waits."""

    def __init__(self) -> None:
        self.now = 0.0
        self.at_work = 0
        super().__init__(_Patient(self))

    def time(self) -> float:
        return self.now

    def run_in_executor(self, executor: Executor | None, func: Any, *args: Any) -> asyncio.Future[Any]:
        """Threads are not aware of this clock, so it stops while one is running."""
        self.at_work += 1
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(self._done)
        return future

    def _done(self, _: asyncio.Future[Any] | Future[Any]) -> None:
        self.at_work -= 1


class _Patient(selectors.DefaultSelector):  # type: ignore[misc, valid-type]
    """A selector that waits in real time, but only for sockets and threads."""

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
