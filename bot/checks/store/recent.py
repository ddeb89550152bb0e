"""The checks that were answered lately, for App Home. Kept for some days, and not more than a screen or two of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from redis.asyncio import Redis

from bot.store import keys
from bot.store.away import reachable
from bot.store.codec import decode_or_none, encode, kept, prepare

MOST = 200
"""Per workspace. Each is a few hundred bytes."""

_CHANGE = """
local at = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not at then return 0 end
redis.call('ZADD', KEYS[1], at, ARGV[2])
if ARGV[1] ~= ARGV[2] then redis.call('ZREM', KEYS[1], ARGV[1]) end
return 1
"""
"""Added first: without its only member the key would be gone, and its expiry with it."""


@dataclass(frozen=True, slots=True)
class RecentCheck:
    """Who asked what, when, where, and how it ended."""

    request: str
    cluster: str
    verdict: str
    """`UNHEALTHY`, `HEALTHY`, `INCOMPLETE`, …: in a word, as the answer says it. Empty where there was no answer."""
    cause: str
    """What does not work and why, by the first root cause; or why there is no answer."""
    user: str
    channel: str
    at: datetime
    ts: str = ""
    """The head of the answer; empty where only one person saw it."""
    thread_ts: str = ""
    area: str = ""
    """What the check was narrowed to: an area, or a code. Both empty: it was not."""
    code: str = ""
    id: str = ""
    """The cluster's; empty in records of earlier versions, of which nothing newer can be said."""
    roots: tuple[tuple[str, str], ...] = ()
    """Code and subject of each root cause."""
    now: str = ""
    """What was put in the place of its head: a newer answer, or that it is over."""
    shown: tuple[tuple[str, str], ...] = ()
    """As `roots`, of the newer answer in its place."""
    findings: tuple[tuple[str, str], ...] = ()
    """Code and subject of all that its head goes back to, consequences too; empty in records of earlier versions."""

    @property
    def of_the_whole(self) -> bool:
        """Whether it is a verdict on the cluster, not on a part of it."""
        return bool(self.verdict) and not (self.area or self.code)


class RecentChecks:
    """Every call may raise StoreAway."""

    def __init__(self, redis: Redis) -> None:
        prepare(RecentCheck)
        self._redis = redis
        self._change = redis.register_script(_CHANGE)

    async def add(self, team: str, check: RecentCheck) -> None:
        key, at = keys.recent(team), check.at.timestamp()
        text = kept(encode(check))
        oldest = at - keys.RECENT_TTL.total_seconds()
        with reachable():
            async with self._redis.pipeline(transaction=True) as together:
                together.zadd(key, {text: at})
                together.zremrangebyscore(key, "-inf", oldest)
                together.zremrangebyrank(key, 0, -MOST - 1)
                together.expire(key, keys.RECENT_TTL)
                await together.execute()

    async def change(self, team: str, before: RecentCheck, after: RecentCheck) -> bool:
        """The same check, of which more is known. False where somebody has changed it meanwhile."""
        key, text = keys.recent(team), kept(encode(after))
        with reachable():
            if await self._change(keys=[key], args=[kept(encode(before)), text]):
                return True
            # One of an earlier version reads the same and is written with fewer fields.
            for written in map(str, await self._redis.zrange(key, 0, -1)):
                if decode_or_none(RecentCheck, written, "a recent check") == before:
                    return bool(await self._change(keys=[key], args=[written, text]))
        return False

    async def latest(self, team: str, now: datetime) -> list[RecentCheck]:
        """The latest first. One that was told again after a crash is there once."""
        oldest = (now - keys.RECENT_TTL).timestamp()
        with reachable():
            texts = await self._redis.zrange(keys.recent(team), "+inf", oldest, desc=True, byscore=True)
        found: dict[str, RecentCheck] = {}
        for text in texts:
            if check := decode_or_none(RecentCheck, str(text), "a recent check"):
                found.setdefault(check.request, check)
        return list(found.values())
