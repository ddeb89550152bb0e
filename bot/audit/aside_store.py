"""Recovery from a broken audit: a person sets it aside under another key, and a new one begins that refers to it."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from bot.audit.aside import Digest, SetAside
from bot.audit.chain import Verdict
from bot.audit.record import GENESIS, Actor, Entry, What, seal
from bot.audit.store import PAGE, Audit, rows
from bot.store import keys
from bot.store.away import StoreAway, reachable
from bot.store.codec import kept
from bot.store.dedicated_connection import own_connection
from bot.store.durable import wait_until_durable
from handlers.problem import Exit, Problem

log = logging.getLogger("aksbot.audit")

_TRIES = 20

_SHAPE = """
local t = redis.call('TIME')
local now = string.format('%.0f', t[1] * 1000 + math.floor(t[2] / 1000))
local kind = redis.call('TYPE', KEYS[1]).ok
if kind ~= 'stream' then return {kind, '0', '', now} end
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
return {kind, tostring(redis.call('XLEN', KEYS[1])), last[1] and last[1][1] or '', now}
"""

# A record appended since the digest was taken would be set aside without being covered by it.
_MOVE = """
local kind, count, last = redis.call('TYPE', KEYS[1]).ok, '0', ''
if kind == 'stream' then
  local latest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
  count, last = tostring(redis.call('XLEN', KEYS[1])), latest[1] and latest[1][1] or ''
end
if kind ~= ARGV[1] or count ~= ARGV[2] or last ~= ARGV[3] or redis.call('EXISTS', KEYS[5]) == 1 then return 0 end
redis.call('RPUSH', KEYS[4], ARGV[4])
if kind ~= 'none' then redis.call('RENAME', KEYS[1], KEYS[5]) end
if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('RENAME', KEYS[2], KEYS[6]) end
redis.call('DEL', KEYS[3])
redis.call('XADD', KEYS[1], '*', 'number', '1', 'at_ms', ARGV[5], 'previous', ARGV[6], 'body', ARGV[7], 'hash', ARGV[8])
redis.call('HSET', KEYS[2], 'number', '1', 'hash', ARGV[8])
redis.call('HSET', KEYS[3], 'number', '1', 'hash', ARGV[8])
return 1
"""


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of the audit: for the start, for doctor, for `audit verify`."""

    verdict: Verdict
    aside: tuple[SetAside, ...] = ()
    changed: tuple[SetAside, ...] = ()
    """Those that are not any more what they were when they were set aside."""


class AuditAside:
    """Every call may raise StoreAway."""

    def __init__(self, redis: Redis) -> None:
        self._redis, self._audit = redis, Audit(redis)
        self._shape = redis.register_script(_SHAPE)
        self._move = redis.register_script(_MOVE)

    async def standing(self) -> Standing:
        aside, named = await self.all(), await self._named()
        changed = [
            changed_one
            for changed_one in aside
            if await self._digest(changed_one.key) != (changed_one.digest, changed_one.records)
        ]
        if named and named.digest not in [earlier.digest for earlier in aside]:
            changed.append(named)
        return Standing(await self._audit.verify(), aside, tuple(changed))

    async def _named(self) -> SetAside | None:
        """The audit that the current one refers to in its first record: their list may have been tampered with."""
        try:
            first = await self._audit.first()
            entry = first.entry if first else {}
        except (ResponseError, ValueError):
            return None
        details = entry.get("details") if entry.get("what") == What.SET_ASIDE else None
        return SetAside.from_dict(details) if details else None

    async def all(self) -> tuple[SetAside, ...]:
        """Oldest first."""
        with reachable():
            found = await self._redis.lrange(keys.AUDIT_ASIDE, 0, -1)
        return tuple(filter(None, (_read(str(text)) for text in found)))

    async def rows(self, aside: SetAside) -> AsyncIterator[tuple[str, dict[str, str]]]:
        """Every record as found, with its position in the stream."""
        async for row in self._rows(aside.key):
            yield row

    async def set_aside(self, by: str, reason: str) -> SetAside:
        """Begin a new audit. Only a broken one can be set aside; the person must give a reason."""
        for _ in range(_TRIES):
            verdict = await self._audit.verify()
            if verdict.whole:
                what, why = "cannot set the audit aside", "it is whole, and fixes are not refused because of it"
                raise Problem(
                    what, why, "nothing needs to be done: `aksbot audit verify` says so, too", code=Exit.USAGE
                )
            with reachable():
                kind, count, last, now_ms = (str(value) for value in await self._shape(keys=[keys.AUDIT]))
            key, _ = keys.audit_aside(int(now_ms))
            digest, records = await self._digest(keys.AUDIT)
            made = SetAside(
                key,
                digest,
                records,
                verdict.broken_at or 1,
                verdict.why,
                kept(reason),
                kept(by),
                int(now_ms),
                await self._tip(),
            )
            if await self._moved(made, [kind, count, last]):
                return made
        raise StoreAway("the audit is written to by so many at once that it could not be set aside")

    async def _moved(self, made: SetAside, shape: list[str]) -> bool:
        earlier = [aside.digest for aside in await self.all()]
        details = asdict(made) | ({"earlier": earlier} if earlier else {})
        entry = Entry(What.SET_ASIDE, Actor(name=made.by), "", digest=made.digest, reason=made.reason, details=details)
        first = seal(1, made.at_ms, GENESIS, entry.as_json())
        names = [keys.AUDIT, keys.AUDIT_TIP, keys.AUDIT_WITNESS, keys.AUDIT_ASIDE, *keys.audit_aside(made.at_ms)]
        values: list[str | int] = [*shape, made.as_json(), first.at_ms, first.previous, first.body, first.hash]
        async with own_connection(self._redis) as connection:
            with reachable():
                moved = bool(await self._move(keys=names, args=values, client=connection))
            if moved:
                log.info("%s", json.dumps(first.as_dict(), separators=(",", ":")))
                await wait_until_durable(connection, "the audit")
        return moved

    async def _digest(self, key: str) -> tuple[str, int]:
        digest = Digest()
        try:
            async for place, fields in self._rows(key):
                digest.add(place, fields)
        except ResponseError as wrong:
            digest.add("", {"unreadable": str(wrong)})
            return digest.value, 0
        return digest.value, digest.records

    async def _rows(self, key: str) -> AsyncIterator[tuple[str, dict[str, str]]]:
        after = "-"
        while True:
            with reachable():
                page = rows(await self._redis.xrange(key, min=after, count=PAGE))
            for row in page:
                yield row
            if len(page) < PAGE:
                return
            after = f"({page[-1][0]}"

    async def _tip(self) -> str:
        try:
            return (await self._audit.tip()).hash
        except (ResponseError, ValueError):
            return ""


def _read(text: str) -> SetAside | None:
    try:
        return SetAside.from_dict(json.loads(text))
    except (ValueError, TypeError, KeyError):
        log.exception("what is said of an audit that was set aside cannot be read")
        return None
