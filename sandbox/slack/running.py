"""Background tasks: all are tracked, and cancelled when the server closes."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


class Running:
    """A set of background tasks; their exceptions are raised when the server closes."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._broken: list[BaseException] = []

    def start(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._broken.append(error)

    async def close(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._broken:
            raise BaseExceptionGroup("work in the background broke", self._broken)
