"""Which proposal stands for which plan of an answer, and which fixes a worker has in hand."""

from __future__ import annotations

from datetime import timedelta

from redis.asyncio import Redis

from bot.store import keys
from bot.store.away import reachable

KEPT = timedelta(days=30)
_CRASHES_COUNTED = timedelta(hours=6)


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
    """Signs of life of those who carry fixes out. Every call may raise StoreAway."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def alive(self, proposal: str, for_s: float) -> None:
        with reachable():
            await self._redis.set(keys.fix_alive(proposal), "1", px=max(int(for_s * 1000), 1))

    async def is_alive(self, proposal: str) -> bool:
        with reachable():
            return bool(await self._redis.exists(keys.fix_alive(proposal)))

    async def crashed(self, proposal: str) -> int:
        """How often a piece of it has failed, with this time."""
        key = keys.fix_crashes(proposal)
        with reachable():
            async with self._redis.pipeline(transaction=True) as together:
                together.incr(key)
                together.expire(key, _CRASHES_COUNTED)
                number, _ = await together.execute()
        return int(number)
