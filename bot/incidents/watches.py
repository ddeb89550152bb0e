"""What people wait for, in Redis. Every call may raise StoreAway."""

from __future__ import annotations

from datetime import timedelta

from redis.asyncio import Redis

from bot.incidents.watching import Watch
from bot.store import keys
from bot.store.away import reachable
from bot.store.codec import decode_or_none, encode, kept, prepare

LATE = timedelta(hours=1)
"""How long after its end the last look may come, and say so."""
_WHAT = "a watch"


class Watches:
    """The watches of workspaces."""

    def __init__(self, redis: Redis) -> None:
        prepare(Watch)
        self._redis = redis

    async def put(self, watch: Watch) -> None:
        """The list of a workspace lasts as long as its last watch."""
        key, until_ms = keys.watches(watch.team), watch.until_ms + int(LATE.total_seconds() * 1000)
        with reachable():
            async with self._redis.pipeline(transaction=True) as together:
                together.hset(key, watch.id, kept(encode(watch)))
                together.pexpireat(key, until_ms, nx=True)
                together.pexpireat(key, until_ms, gt=True)
                await together.execute()

    async def get(self, team: str, name: str) -> Watch | None:
        with reachable():
            found = await self._redis.hget(keys.watches(team), name)
        return decode_or_none(Watch, str(found), _WHAT) if found else None

    async def remove(self, watch: Watch) -> bool:
        """Whether it was there: of several who end it at once, one does."""
        with reachable():
            return bool(await self._redis.hdel(keys.watches(watch.team), watch.id))

    async def all_of(self, team: str, now_ms: int) -> list[Watch]:
        """The oldest first. One whose last look was given up is forgotten: else it would take a place for ever."""
        oldest = now_ms - int(LATE.total_seconds() * 1000)
        with reachable():
            texts = [str(text) for text in await self._redis.hvals(keys.watches(team))]
            found = [watch for text in texts if (watch := decode_or_none(Watch, text, _WHAT))]
            lost = [watch.id for watch in found if watch.until_ms < oldest]
            if lost:
                await self._redis.hdel(keys.watches(team), *lost)
        return sorted((watch for watch in found if watch.id not in lost), key=lambda watch: watch.began_ms)
