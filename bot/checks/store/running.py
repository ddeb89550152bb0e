"""The checks that run now. One check answers all who ask the same while it runs, each in their own place.

Whoever asks joins. The first one leads: their job runs the check and answers everyone who has joined until it closes.
Joining, closing and taking over are each one step in the server, so nobody falls between two of them. A leader shows a
token; when its job was taken up by another worker, the old token is worth nothing.
"""

from __future__ import annotations

import asyncio
from base64 import b85decode, b85encode
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from zlib import compress, decompress, error

from redis.asyncio import Redis

from bot.store import keys
from bot.store.away import reachable
from bot.store.codec import kept, kept_aside, unreadable

_NOW = "local t = redis.call('TIME'); local now = t[1] * 1000 + math.floor(t[2] / 1000)\n"

_JOIN = f"""
{_NOW}
if redis.call('EXISTS', KEYS[3]) == 1 then return {{'answered', now, now}} end
redis.call('HSETNX', KEYS[2], ARGV[3], now .. ' ' .. ARGV[4])
redis.call('PEXPIRE', KEYS[2], ARGV[6])
local joined = string.match(redis.call('HGET', KEYS[2], ARGV[3]), '^%d+')
local job, since = unpack(redis.call('HMGET', KEYS[1], 'job', 'since'))
if job and job ~= ARGV[1] then return {{'follow', tonumber(since), tonumber(joined)}} end
if not since then since = now end
redis.call('HSET', KEYS[1], 'job', ARGV[1], 'token', ARGV[2], 'since', since)
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return {{'lead', tonumber(since), tonumber(joined)}}
"""

_RENEW = """
local token = redis.call('HGET', KEYS[1], 'token')
if not token then return 'gone' end
if token ~= ARGV[1] then return 'taken' end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 'mine'
"""

_CLOSE = """
local token = redis.call('HGET', KEYS[1], 'token')
if not token then return {'gone'} end
if token ~= ARGV[1] then return {'taken'} end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
local all = redis.call('HGETALL', KEYS[2])
if #all == 0 then redis.call('DEL', KEYS[1]) end
return {'mine', unpack(all)}
"""


_ZLIB = "zlib:"
"""How a packed report begins."""


class Part(Enum):
    """What somebody who joins has to do."""

    LEAD = "lead"
    FOLLOW = "follow"
    ANSWERED = "answered"


class Hold(Enum):
    """Whether a check is still the leader's own."""

    MINE = "mine"
    TAKEN = "taken"
    """Its job was taken up by another worker, which answers everyone."""
    GONE = "gone"
    """The server knows nothing of it: it has lost its data, or nothing was heard for too long."""


@dataclass(frozen=True, slots=True)
class Joined:
    part: Part
    since_ms: int
    """When the check began, by the server's clock."""
    joined_ms: int


@dataclass(frozen=True, slots=True)
class Waiter:
    """Somebody who waits for an answer: since when, the request as it was given, and its id."""

    joined_ms: int
    request: str
    id: str


@dataclass(frozen=True, slots=True)
class Kept:
    """A result, and when it was kept by the server's clock."""

    at_ms: int
    text: str


class RunningChecks:
    """Questions and those who wait for their answers. Every call may raise StoreAway."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._join = redis.register_script(_JOIN)
        self._renew = redis.register_script(_RENEW)
        self._close = redis.register_script(_CLOSE)

    async def join(self, question: str, request_id: str, request: str, token: str) -> Joined:
        """Wait for the answer. Whoever is told to lead must run the check; a job is named like its request."""
        return await self.join_as(question, request_id, request_id, request, token)

    async def join_as(self, question: str, job: str, request_id: str, request: str, token: str) -> Joined:
        """The same for a request that is not this job's own: the leader enters again whom it knows."""
        names = [keys.running(question), keys.asking(question), keys.done(request_id)]
        values: list[str | int] = [job, token, request_id, kept(request), _ms(keys.CHECK_TTL), _ms(keys.ASKING_TTL)]
        with reachable():
            part, since, joined = await self._join(keys=names, args=values)
        return Joined(Part(part), int(since), int(joined))

    async def renew(self, question: str, token: str) -> Hold:
        """The leader's sign of life."""
        with reachable():
            return Hold(await self._renew(keys=[keys.running(question)], args=[token, _ms(keys.CHECK_TTL)]))

    async def waiting(self, question: str) -> list[Waiter]:
        """All who wait now."""
        with reachable():
            found = await self._redis.hgetall(keys.asking(question))
        return [_waiter(str(name), str(text)) for name, text in found.items()]

    async def close(self, question: str, token: str) -> tuple[Hold, list[Waiter]]:
        """Those who still wait; when nobody does, the check is over in the same step."""
        names = [keys.running(question), keys.asking(question)]
        with reachable():
            hold, *waiters = await self._close(keys=names, args=[token, _ms(keys.CHECK_TTL)])
        pairs = zip(waiters[::2], waiters[1::2], strict=True)
        return Hold(hold), [_waiter(str(name), str(text)) for name, text in pairs]

    async def forget(self, question: str, request_id: str) -> None:
        """Of a request that cannot be read nobody can be answered; while it waits, its check would never end."""
        with reachable():
            await self._redis.hdel(keys.asking(question), request_id)

    async def answered(self, question: str, request_id: str, kept: Kept | None = None) -> None:
        """This one has been answered, and need not be again."""
        report = f"{kept.at_ms} {await asyncio.to_thread(_packed, kept.text)}" if kept else ""
        with reachable():
            async with self._redis.pipeline(transaction=True) as together:
                together.hdel(keys.asking(question), request_id)
                together.set(keys.done(request_id), "1", ex=keys.DONE_TTL)
                if report:
                    together.set(keys.report(request_id), report, ex=keys.REPORT_TTL)
                await together.execute()

    async def are_answered(self, request_ids: list[str]) -> set[str]:
        """Those of the requests that have been answered."""
        if not request_ids:
            return set()
        with reachable():
            marks = await self._redis.mget([keys.done(item) for item in request_ids])
        return {item for item, mark in zip(request_ids, marks, strict=True) if mark}

    async def keep(self, question: str, text: str) -> Kept:
        """Keep a result for those who ask soon."""
        clean = await kept_aside(text)
        with reachable():
            seconds, microseconds = await self._redis.time()
            at_ms = int(seconds) * 1000 + int(microseconds) // 1000
            await self._redis.set(keys.result(question), f"{at_ms} {clean}", ex=keys.RESULT_TTL)
        return Kept(at_ms, clean)

    async def kept(self, question: str) -> Kept | None:
        """The latest result, however old."""
        with reachable():
            text = await self._redis.get(keys.result(question))
        return _kept(str(text)) if text else None

    async def report(self, request_id: str) -> Kept | None:
        """The report that a request was answered with, for the buttons under it."""
        with reachable():
            text = await self._redis.get(keys.report(request_id))
        return _kept(str(text)) if text else None

    async def shown(self, request_id: str, question: str) -> Kept | None:
        """The report that stands under a request; while its answer is being told, the question's latest.

        Looked up in one step: an answer is recorded at any moment, and between two looks it would be in neither.
        """
        names = [keys.report(request_id), keys.done(request_id), keys.result(question)]
        with reachable():
            report, done, latest = await self._redis.mget(names)
        text = report or (None if done else latest)
        return _kept(str(text)) if text else None


def _waiter(name: str, text: str) -> Waiter:
    at, _, request = text.partition(" ")
    return Waiter(int(at) if at.isdigit() else 0, request, name)


def _packed(text: str) -> str:
    """A tenth of the size: thousands of reports are kept for a month."""
    return _ZLIB + b85encode(compress(text.encode(errors="surrogatepass"))).decode()


def _kept(text: str) -> Kept | None:
    """The latest report on a question is not packed, nor are those of earlier versions. One that cannot be unpacked is
    not there."""
    at, _, rest = text.partition(" ")
    try:
        if rest.startswith(_ZLIB):
            rest = decompress(b85decode(rest.removeprefix(_ZLIB))).decode(errors="surrogatepass")
        return Kept(int(at), rest)
    except (ValueError, error) as why:
        unreadable("the report of a check", text, why)
        return None


def _ms(span: timedelta) -> int:
    return int(span.total_seconds() * 1000)
