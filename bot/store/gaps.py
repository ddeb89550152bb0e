"""Until when the bot was connected to Slack, and which time without a connection somebody has caught up with."""

from __future__ import annotations

from datetime import timedelta

from redis.asyncio import Redis

from bot.store import keys
from bot.store.away import reachable

_ALIVE = """
local before = tonumber(redis.call('GET', KEYS[1]) or '0')
if tonumber(ARGV[1]) > before then redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2]) end
"""

_TAKE = """
local since, untl = string.match(redis.call('GET', KEYS[1]) or '', '^(%S+) (%S+)$')
if since and tonumber(since) <= tonumber(ARGV[1]) and tonumber(untl) >= tonumber(ARGV[2]) then return 'covered' end
if redis.call('SET', KEYS[2], ARGV[3], 'NX', 'EX', ARGV[4]) then return 'mine' end
return 'another'
"""

_DONE = """
redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. ARGV[2], 'EX', ARGV[4])
if redis.call('GET', KEYS[2]) == ARGV[3] then redis.call('DEL', KEYS[2]) end
"""

_RENEW = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
"""

_RELEASE = """
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
"""

_LOCK = timedelta(minutes=1)
"""Renewed while one reads; so long after a process has died another reads in its place."""
RENEWED_EVERY_S = 15.0


class Gaps:
    """Times are Slack's: seconds since the epoch. Every call may raise StoreAway."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._alive = redis.register_script(_ALIVE)
        self._renew, self._release = redis.register_script(_RENEW), redis.register_script(_RELEASE)
        self._take, self._done = redis.register_script(_TAKE), redis.register_script(_DONE)

    async def connected(self, at: float) -> None:
        """One of the processes was connected at this moment."""
        with reachable():
            await self._alive(keys=[keys.CONNECTED], args=[f"{at:.3f}", int(keys.CONNECTED_TTL.total_seconds())])

    async def last_connected(self) -> float | None:
        with reachable():
            found = await self._redis.get(keys.CONNECTED)
        return float(found) if found else None

    async def take(self, since: float, until: float, who: str) -> bool | None:
        """Whether this one is to catch up with it; None while another does, which may be with something else."""
        values: list[str | int] = [f"{since:.3f}", f"{until:.3f}", who, int(_LOCK.total_seconds())]
        with reachable():
            found = str(await self._take(keys=[keys.CAUGHT_UP, keys.CATCHING_UP], args=values))
        return {"mine": True, "covered": False}.get(found)

    async def renew(self, who: str) -> bool:
        """Whether it is still this one's to read."""
        with reachable():
            return bool(await self._renew(keys=[keys.CATCHING_UP], args=[who, int(_LOCK.total_seconds() * 1000)]))

    async def done(self, since: float, until: float, who: str) -> None:
        kept_s = int(keys.TURN_TTL.total_seconds())
        values: list[str | int] = [f"{since:.3f}", f"{until:.3f}", who, kept_s]
        with reachable():
            await self._done(keys=[keys.CAUGHT_UP, keys.CATCHING_UP], args=values)

    async def release(self, who: str) -> None:
        """It could not be done: another may try."""
        with reachable():
            await self._release(keys=[keys.CATCHING_UP], args=[who])
