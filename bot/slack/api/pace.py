"""How often the bot speaks: buckets of its own, so that Slack seldom has to refuse."""

from __future__ import annotations

import asyncio


class Bucket:
    """So many at once, and so many a minute."""

    def __init__(self, at_once: int, per_minute: float) -> None:
        self._holds, self._per_second = float(at_once), per_minute / 60
        self._level, self._at = self._holds, 0.0

    def take_now(self) -> bool:
        """Take one if there is one."""
        if self._wait_s() > 0:
            return False
        self._level -= 1
        return True

    async def take(self) -> None:
        """Take one when there is one. Those who come at once are served in a row."""
        self._level -= 1
        wait_s = self._wait_s(less=0)
        if wait_s > 0:
            await asyncio.sleep(wait_s)

    def _wait_s(self, less: float = 1) -> float:
        now = asyncio.get_running_loop().time()
        self._level = min(self._holds, self._level + (now - self._at) * self._per_second)
        self._at = now
        return max(less - self._level, 0.0) / self._per_second


class Pace:
    """A bucket for each of many: channels, workspaces."""

    def __init__(self, at_once: int, per_minute: float, most: int = 2000) -> None:
        self._at_once, self._per_minute, self._most = at_once, per_minute, most
        self._buckets: dict[str, Bucket] = {}

    def of(self, key: str) -> Bucket:
        bucket = self._buckets.pop(key, None) or Bucket(self._at_once, self._per_minute)
        self._buckets[key] = bucket  # the one that was used last stands last
        if len(self._buckets) > self._most:
            del self._buckets[next(iter(self._buckets))]
        return bucket
