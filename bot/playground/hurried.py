"""A faster clock for fixes in demos and drills: shortens each pause, and moves on by its full length."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from bot.fixes.times import RealTimes, own_clock


class ShortenedPauses(RealTimes):
    """`pace` is the share of each pause that is really waited."""

    def __init__(self, pace: float = 0.0, wall: Callable[[], datetime] = own_clock) -> None:
        super().__init__(wall)
        self._pace, self._ahead = pace, timedelta()

    def now(self) -> datetime:
        return super().now() + self._ahead

    def pause_s(self, seconds: float) -> float:
        real_s = seconds * self._pace
        self._ahead += timedelta(seconds=seconds - real_s)
        return real_s
