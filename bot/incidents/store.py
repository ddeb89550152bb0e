"""The books of incidents in Redis, who may post alerts, and what is muted. A change is one compare-and-set."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TypeVar
from uuid import uuid4

from redis.asyncio import Redis

from bot.address import Address
from bot.incidents.model import Book, Incident
from bot.incidents.mutes import Mute
from bot.incidents.named import words_of
from bot.store import keys
from bot.store.away import StoreAway, reachable
from bot.store.codec import decode_or_none, encode, kept, prepare

T = TypeVar("T")

_TRIES = 200
_MOST_WAIT = 50
"""Posts of an app that nobody has decided about yet."""
_ASK_AGAIN_S = 0.02

_WRITE = """
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1
"""

_RELEASE = """
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
"""

# The list lasts as long as the mute that ends last.
_MUTE = """
redis.call('SET', KEYS[1], ARGV[1], 'PXAT', ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[2], ARGV[3])
redis.call('PEXPIREAT', KEYS[2], redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')[2])
return 1
"""

# Each is taken over once, and never over one that somebody has asked for since.
_TAKE_OVER = f"""
if redis.call('HDEL', KEYS[3], ARGV[4]) == 0 or redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
{_MUTE}"""


@dataclass(frozen=True, slots=True)
class _Decision:
    """What somebody said to an app that posts alerts."""

    allowed: bool
    by: str


class Incidents:
    """Every call may raise StoreAway."""

    def __init__(self, redis: Redis) -> None:
        prepare(tuple[Incident, ...], Mute, _Decision)
        self._redis = redis
        self._write, self._mute = redis.register_script(_WRITE), redis.register_script(_MUTE)
        self._take_over, self._release = redis.register_script(_TAKE_OVER), redis.register_script(_RELEASE)

    # -- books ------------------------------------------------------------------------------------------------

    async def book(self, team: str, cluster: str) -> Book:
        with reachable():
            return read_book(str(await self._redis.get(keys.incidents(team, cluster)) or ""))

    async def change(self, team: str, cluster: str, change: Callable[[Book], tuple[Book, T]]) -> T:
        """Change a book. What several want at once is decided here, one after the other."""
        key, lasts_ms = keys.incidents(team, cluster), int(keys.INCIDENT_TTL.total_seconds() * 1000)
        for _ in range(_TRIES):
            with reachable():
                before = str(await self._redis.get(key) or "")
            book, result = change(read_book(before))
            after = kept(encode(book.incidents, tuple[Incident, ...]))
            if after == (before or "[]"):
                return result
            with reachable():
                if await self._write(keys=[key], args=[before, after, lasts_ms]):
                    return result
        raise StoreAway("so many write to this cluster's incidents at once that none gets through")

    async def speaks_in(self, team: str, spot: Address, cluster: str) -> None:
        """An incident of this cluster is told in this thread, or pointed to from there. What is known of the thread
        lasts as long as the incident."""
        name = keys.incident_thread(team, spot.channel, spot.thread_ts)
        with reachable():
            async with self._redis.pipeline(transaction=True) as together:
                together.sadd(name, cluster)
                together.expire(name, keys.INCIDENT_TTL)
                threads = keys.incident_threads(team, spot.channel)
                together.zadd(threads, {spot.thread_ts: time.time()})
                together.zremrangebyscore(threads, "-inf", time.time() - keys.INCIDENT_TTL.total_seconds())
                together.expire(threads, keys.INCIDENT_TTL)
                together.expire(keys.incident_thread_owner(team, spot.channel, spot.thread_ts), keys.INCIDENT_TTL)
                await together.execute()

    async def owns(self, team: str, spot: Address, cluster: str) -> bool:
        """Whether a thread is about this cluster: the first one that is spoken of there. Of several at once, one is."""
        key = keys.incident_thread_owner(team, spot.channel, spot.thread_ts)
        with reachable():
            await self._redis.set(key, cluster.lower(), nx=True, ex=keys.INCIDENT_TTL)
            return str(await self._redis.getex(key, ex=keys.INCIDENT_TTL)) == cluster.lower()

    @asynccontextmanager
    async def alone(self, team: str, incident: str) -> AsyncIterator[None]:
        """One process at a time says what is known of an incident: what one has read must not be said after what
        another has learned since. Who died over it is not waited for longer than `keys.TELLING_TTL`."""
        key, mine = keys.telling(team, incident), uuid4().hex
        with suppress(TimeoutError):
            async with asyncio.timeout(keys.TELLING_TTL.total_seconds()):
                await self._take(key, mine)
        try:
            yield
        finally:
            with suppress(StoreAway), reachable():
                await self._release(keys=[key], args=[mine])

    async def _take(self, key: str, mine: str) -> None:
        while True:
            with reachable():
                if await self._redis.set(key, mine, nx=True, ex=keys.TELLING_TTL):
                    return
            await asyncio.sleep(_ASK_AGAIN_S)

    async def shown(self, team: str, what: str) -> str:
        """The digest of what a message of an incident says, whichever process has written it."""
        with reachable():
            return str(await self._redis.get(keys.shown(team, what)) or "")

    async def note_shown(self, team: str, what: str, digest: str) -> None:
        with reachable():
            await self._redis.set(keys.shown(team, what), digest, ex=keys.INCIDENT_TTL)

    async def note_named(self, team: str, cluster: str, names: Iterable[str]) -> None:
        """Nodes, pods and namespaces of this cluster that a check has named."""
        with reachable():
            async with self._redis.pipeline(transaction=False) as together:
                for name in names:
                    together.sadd(keys.named_by_check(team, name), cluster)
                    together.expire(keys.named_by_check(team, name), keys.NAMED_TTL)
                await together.execute()

    async def clusters_named_in(self, team: str, text: str) -> list[tuple[str, list[str]]]:
        """The nodes, pods and namespaces in a text that checks have named, each with its clusters."""
        words = words_of(text)
        with reachable():
            async with self._redis.pipeline(transaction=False) as together:
                for word in words:
                    together.smembers(keys.named_by_check(team, word))
                found = await together.execute() if words else []
        return [(word, sorted(map(str, clusters))) for word, clusters in zip(words, found, strict=True) if clusters]

    async def open_threads(self, team: str, channel: str) -> list[Address]:
        """Where an incident is told that is not over and of which somebody wants to hear, the latest first."""
        with reachable():
            found = await self._redis.zrevrange(keys.incident_threads(team, channel), 0, -1)
        spots = [Address(channel=channel, thread_ts=str(item)) for item in found]
        return [spot for spot in spots if any(map(_is_wanted, await self.told_in(team, spot)))]

    async def told_in(self, team: str, spot: Address) -> list[Incident]:
        """The incidents of a thread."""
        with reachable():
            clusters = await self._redis.smembers(keys.incident_thread(team, spot.channel, spot.thread_ts))
        books = [await self.book(team, str(cluster)) for cluster in sorted(clusters)]
        return [incident for book in books for incident in book.incidents if incident.has_posted_in(spot)]

    async def hush(self, team: str, spot: Address) -> None:
        """Somebody wants nothing of us in a thread that is no incident's."""
        with reachable():
            await self._redis.set(keys.hushed_thread(team, spot.channel, spot.thread_ts), "1", ex=keys.INCIDENT_TTL)

    async def is_hushed(self, team: str, spot: Address) -> bool:
        with reachable():
            return bool(await self._redis.exists(keys.hushed_thread(team, spot.channel, spot.thread_ts)))

    async def claim(self, what: str, who: str) -> bool:
        """Whether this one may do what is done once in a day; whoever was told so still may."""
        with reachable():
            await self._redis.set(keys.claim(what), who, nx=True, ex=keys.EVENT_TTL)
            return str(await self._redis.get(keys.claim(what))) == who

    # -- who may post alerts ----------------------------------------------------------------------------------

    async def is_alert_app(self, team: str, app: str) -> bool | None:
        """Whether somebody has allowed this app, or refused it; None where nobody was asked."""
        with reachable():
            said = await self._redis.hget(keys.alert_apps(team), app)
        if said is None:
            return None
        decision = decode_or_none(_Decision, str(said), f"what was decided about the app {app}")
        if decision is None:
            with reachable():
                await self._redis.hdel(keys.alert_apps(team), app)  # so that somebody can decide anew
        return decision.allowed if decision else None

    async def allow_app(self, team: str, app: str, by: str, *, allowed: bool) -> bool:
        """What somebody decided; the first word counts. Whether this was it."""
        with reachable():
            return bool(await self._redis.hsetnx(keys.alert_apps(team), app, encode(_Decision(allowed, by))))

    async def waits(self, team: str, app: str, turn: str) -> None:
        """A post that is to be read once its app is allowed: the latest ones."""
        key = keys.app_waits(team, app)
        with reachable():
            async with self._redis.pipeline(transaction=True) as together:
                together.lrem(key, 0, turn)
                together.rpush(key, turn)
                together.ltrim(key, -_MOST_WAIT, -1)
                together.expire(key, keys.TURN_TTL)
                await together.execute()

    async def waited(self, team: str, app: str) -> list[str]:
        """The turns that wait, in the order in which they came."""
        with reachable():
            return [str(item) for item in await self._redis.lrange(keys.app_waits(team, app), 0, -1)]

    # -- what is muted ----------------------------------------------------------------------------------------

    async def mute(self, team: str, mute: Mute) -> None:
        """It is forgotten by itself when it ends."""
        name = _name(mute)
        with reachable():
            await self._mute(keys=[keys.mute(team, name), keys.mutes(team)], args=_values(mute, name))

    async def unmute(self, team: str, code: str, cluster: str) -> bool:
        """Whether there was anything to take away."""
        name = _name(Mute(code, cluster, 0))
        with reachable():
            await self._take_over_old(team, int(time.time() * 1000))
            async with self._redis.pipeline(transaction=True) as together:
                together.delete(keys.mute(team, name))
                together.zrem(keys.mutes(team), name)
                removed, _ = await together.execute()
        return bool(removed)

    async def mutes(self, team: str, now_ms: int) -> list[Mute]:
        """Those that hold now, the next to end first."""
        with reachable():
            await self._take_over_old(team, now_ms)
            await self._redis.zremrangebyscore(keys.mutes(team), "-inf", now_ms)
            names = [str(item) for item in await self._redis.zrange(keys.mutes(team), 0, -1)]
            texts = await self._redis.mget([keys.mute(team, name) for name in names]) if names else []
        return [mute for text in texts if text and (mute := decode_or_none(Mute, str(text), "a mute"))]

    async def _take_over_old(self, team: str, now_ms: int) -> None:
        """The mutes of an earlier version: those that hold get an expiry and lose their secrets, all leave its hash."""
        for field, text in (await self._redis.hgetall(keys.old_mutes(team))).items():
            old = decode_or_none(Mute, str(text), "a mute")
            if old is None or old.until_ms <= now_ms:
                await self._redis.hdel(keys.old_mutes(team), field)
                continue
            name = _name(old)
            used = [keys.mute(team, name), keys.mutes(team), keys.old_mutes(team)]
            await self._take_over(keys=used, args=[*_values(old, name), str(field)])


def read_book(text: str) -> Book:
    """The incidents of a cluster as they are kept; none where nothing is."""
    kept_incidents: tuple[Incident, ...] | None = None
    if text:
        kept_incidents = decode_or_none(tuple[Incident, ...], text, "the incidents of a cluster")
    return Book(kept_incidents or ())


def _name(mute: Mute) -> str:
    return keys.mute_name(kept(mute.name))


def _values(mute: Mute, name: str) -> list[str | int]:
    return [kept(encode(mute)), mute.until_ms, name]


def _is_wanted(incident: Incident) -> bool:
    return not incident.is_closed and not incident.silenced
