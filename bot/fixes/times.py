"""What time it is for a fix, and how long it really waits. A drill plays the same fix without the waiting."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol


class Times(Protocol):
    """A clock, and its pauses."""

    def now(self) -> datetime: ...

    def pause_s(self, seconds: float) -> float:
        """How long to wait, where the world should be left alone for so long."""


class RealTimes:
    """As it is."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def pause_s(self, seconds: float) -> float:
        return seconds
