"""What time it is for a fix, and how long it really waits. A drill plays the same fix without the waiting.

Workers carry on with what others have begun, so all of them go by one clock: that of the server where all of it is
kept. A worker's own clock may be minutes wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Times(Protocol):
    """A clock, and its pauses."""

    def now(self) -> datetime: ...

    def agree(self, server_ms: int) -> None:
        """What time it is right now for everybody."""

    def pause_s(self, seconds: float) -> float:
        """How long to wait, where the world should be left alone for so long."""


def own_clock() -> datetime:
    return datetime.now(UTC)


class RealTimes:
    """As it is. `wall` is this worker's own clock."""

    def __init__(self, wall: Callable[[], datetime] = own_clock) -> None:
        self._wall, self._wrong_by = wall, timedelta()

    def now(self) -> datetime:
        return self._wall() - self._wrong_by

    def agree(self, server_ms: int) -> None:
        self._wrong_by = self._wall() - datetime.fromtimestamp(server_ms / 1000, UTC)

    def pause_s(self, seconds: float) -> float:
        return seconds
