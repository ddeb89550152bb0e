"""The clock of the policies, so that a test can advance it."""

from __future__ import annotations

import asyncio
from typing import Protocol

from handlers.engine.current import deadline

PATIENCE_S = 30.0
"""How long one call may take with all its waits where nobody set a deadline."""


class Clock(Protocol):
    """Loop time, and waiting."""

    def now(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


class LoopClock:
    """The running loop's own time."""

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def give_up_at(clock: Clock) -> float:
    """The moment when every call of this client must have given up."""
    until = deadline.get()
    return clock.now() + PATIENCE_S if until is None else until
