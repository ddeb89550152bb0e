"""What time it is for a fix, and how long it really waits. A drill plays the same fix without the waiting.

Workers carry on with what others have begun, so all of them go by one clock: that of the server where all of it is
kept. A worker's own clock may be minutes wrong.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol

_ANSWERED_WITHIN = timedelta(seconds=1)
_MOST_QUESTIONS = 3


class Times(Protocol):
    """A clock, and its pauses."""

    def now(self) -> datetime: ...

    async def agree(self, server_ms: Callable[[], Awaitable[int]]) -> None:
        """Ask what time it is for everybody."""

    def pause_s(self, seconds: float) -> float:
        """How long to wait, where the world should be left alone for so long."""


def _ticking_s() -> float:
    """Seconds that nobody sets back or forward, and that go on while the machine sleeps, where it can tell."""
    boottime = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boottime is None else time.clock_gettime(boottime)


_BEGAN = datetime.now(UTC) - timedelta(seconds=_ticking_s())


def own_clock() -> datetime:
    return _BEGAN + timedelta(seconds=_ticking_s())


class RealTimes:
    """As it is. `wall` is this worker's own clock."""

    def __init__(self, wall: Callable[[], datetime] = own_clock) -> None:
        self._wall, self._wrong_by = wall, timedelta()

    def now(self) -> datetime:
        return self._wall() - self._wrong_by

    async def agree(self, server_ms: Callable[[], Awaitable[int]]) -> None:
        for _ in range(_MOST_QUESTIONS):
            asked = self._wall()
            said = datetime.fromtimestamp(await server_ms() / 1000, UTC)
            # Rather a moment ahead than behind, should the answer have lain here for long: what is written down
            # with a time that is past already would be taken for settled too soon.
            self._wrong_by = asked - said
            if self._wall() - asked < _ANSWERED_WITHIN:
                return

    def pause_s(self, seconds: float) -> float:
        return seconds
