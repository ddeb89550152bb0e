"""Which proposal stands for which plan of an answer, and which fixes a worker has in hand."""

from __future__ import annotations

from datetime import timedelta

from redis.asyncio import Redis

from bot.store import keys
from bot.store.away import reachable

KEPT = timedelta(days=30)
_CRASHES_COUNTED = timedelta(hours=6)
_PIECE_KNOWN = timedelta(days=1)
_TOLD_WITHIN = timedelta(days=1)

_NOW = """
local t = redis.call('TIME')
local now = t[1] + t[2] / 1000000
"""
_MUST_BE_TOLD = f"{_NOW} return redis.call('ZADD', KEYS[1], 'NX', now, ARGV[1])"
_UNTOLD = f"""{_NOW}
redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, now - ARGV[1])
return redis.call('ZRANGE', KEYS[1], 0, -1)
"""

_LATER = """
local number = tonumber(redis.call('HGET', KEYS[1], 'number') or '-1')
if tonumber(ARGV[1]) > number then
  redis.call('HSET', KEYS[1], 'number', ARGV[1], 'text', ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return redis.call('HGET', KEYS[1], 'text')
"""


class OfferedPlans:
    """An answer that is told again after a crash offers the same proposals. Every call may raise StoreAway."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def proposal(self, request: str, digest: str) -> str | None:
        with reachable():
            name = await self._redis.hget(keys.offered(request), digest)
        return str(name) if name else None

    async def remember(self, request: str, digest: str, proposal: str) -> str:
        """The proposal that counts: of two that were made at once, the first."""
        key = keys.offered(request)
        with reachable():
            async with self._redis.pipeline(transaction=True) as together:
                together.hsetnx(key, digest, proposal)
                together.expire(key, KEPT)
                together.hget(key, digest)
                *_, stands = await together.execute()
        return str(stands)


class FixesInHand:
    """Signs of life of those who carry fixes out, and how far the chain of jobs is. Every call may raise StoreAway."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._later = redis.register_script(_LATER)
        self._must_be_told = redis.register_script(_MUST_BE_TOLD)
        self._untold = redis.register_script(_UNTOLD)

    async def later_piece(self, proposal: str, number: int, text: str) -> str:
        """Note that this piece is due, and learn which one is the latest: a job that the queue hands out once more,
        because its worker was killed at its very end, may be over."""
        ttl_ms = int(_PIECE_KNOWN.total_seconds() * 1000)
        with reachable():
            return str(await self._later(keys=[keys.fix_piece(proposal)], args=[number, text, ttl_ms]))

    async def alive(self, proposal: str, for_s: float) -> None:
        with reachable():
            await self._redis.set(keys.fix_alive(proposal), "1", px=max(int(for_s * 1000), 1))

    async def is_alive(self, proposal: str) -> bool:
        with reachable():
            return bool(await self._redis.exists(keys.fix_alive(proposal)))

    async def must_report(self, proposal: str) -> None:
        """It has ended, and its last word is not said yet."""
        with reachable():
            await self._must_be_told(keys=[keys.FIXES_UNTOLD], args=[proposal])

    async def outcome_is_reported(self, proposal: str) -> None:
        with reachable():
            await self._redis.zrem(keys.FIXES_UNTOLD, proposal)

    async def unreported_outcomes(self) -> list[str]:
        """Those whose last word should still be said; where Slack takes none for a day, nobody waits for it."""
        with reachable():
            found = await self._untold(keys=[keys.FIXES_UNTOLD], args=[int(_TOLD_WITHIN.total_seconds())])
        return [str(name) for name in found]

    async def crashed(self, proposal: str) -> int:
        """How often a piece of it has failed, with this time."""
        key = keys.fix_crashes(proposal)
        with reachable():
            async with self._redis.pipeline(transaction=True) as together:
                together.incr(key)
                together.expire(key, _CRASHES_COUNTED)
                number, _ = await together.execute()
        return int(number)
