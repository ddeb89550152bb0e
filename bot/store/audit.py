"""The audit in Redis: a stream that is only appended to, one link at a time, whichever replica writes."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from bot.audit.chain import Tip, Verdict, verify
from bot.audit.record import GENESIS, Entry, Record, seal
from bot.store import keys
from bot.store.away import StoreAway, reachable
from bot.store.lasting import must_last

log = logging.getLogger("aksbot.audit")

_PAGE = 500
_TRIES = 50
"""Of many replicas that append at once one gets through each time."""

_TIP = """
local t = redis.call('TIME')
local tip = redis.call('HMGET', KEYS[1], 'number', 'hash')
return {tip[1] or '0', tip[2] or '', string.format('%.0f', t[1] * 1000 + math.floor(t[2] / 1000))}
"""

_APPEND = """
local hash = redis.call('HGET', KEYS[2], 'hash') or ''
if hash ~= ARGV[1] then return 0 end
redis.call('XADD', KEYS[1], '*', 'number', ARGV[2], 'at_ms', ARGV[3], 'previous', ARGV[4],
  'body', ARGV[5], 'hash', ARGV[6])
redis.call('HSET', KEYS[2], 'number', ARGV[2], 'hash', ARGV[6])
return 1
"""


class Audit:
    """Every call may raise StoreAway; whoever cannot write here must not act."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._tip = redis.register_script(_TIP)
        self._append = redis.register_script(_APPEND)

    async def write(self, entry: Entry) -> Record:
        """Append, and see that it is on disk where the server can say so. One line goes to the log as well."""
        body = entry.as_json()
        try:
            return await self._written(body)
        except ResponseError as wrong:
            raise StoreAway(f"the audit cannot be written: {wrong}") from wrong

    async def _written(self, body: str) -> Record:
        for _ in range(_TRIES):
            with reachable():
                number, tip, now_ms = await self._tip(keys=[keys.AUDIT_TIP])
                record = seal(int(number) + 1, int(now_ms), str(tip) or GENESIS, body)
                values = [tip, record.number, record.at_ms, record.previous, record.body, record.hash]
            # One connection: what is waited for afterwards is what this one wrote.
            async with self._redis.client() as connection:
                with reachable():
                    appended = await self._append(keys=[keys.AUDIT, keys.AUDIT_TIP], args=values, client=connection)
                if appended:
                    log.info("%s", json.dumps(record.as_dict(), separators=(",", ":")))
                    await must_last(connection, "the audit")
                    return record
        raise StoreAway("the audit is written to by so many at once that this record found no place")

    async def records(self, since_ms: int = 0) -> AsyncIterator[Record]:
        """From the oldest to the latest."""
        after = "-"
        while True:
            with reachable():
                page = _rows(await self._redis.xrange(keys.AUDIT, min=after, count=_PAGE))
            for _, fields in page:
                record = _record(fields)
                if record.at_ms >= since_ms:
                    yield record
            if len(page) < _PAGE:
                return
            after = f"({page[-1][0]}"

    async def latest(self, count: int) -> list[Record]:
        """The latest first."""
        with reachable():
            rows = _rows(await self._redis.xrevrange(keys.AUDIT, count=count))
        return [_record(fields) for _, fields in rows]

    async def tip(self) -> Tip:
        with reachable():
            number, tip, _ = await self._tip(keys=[keys.AUDIT_TIP])
        return Tip(int(number), str(tip) or GENESIS)

    async def verify(self) -> Verdict:
        """Whether it is whole. What is appended while it is walked is left for the next time."""
        tip = await self.tip()

        async def until_tip() -> AsyncIterator[Record]:
            async for record in self.records():
                yield record
                if record.number >= tip.number and record.hash == tip.hash:
                    return

        try:
            return await verify(until_tip(), tip)
        except ResponseError as wrong:
            # Somebody has put something else into its place.
            return Verdict(0, 1, f"its records cannot be read: {wrong}")


def _rows(answer: Any) -> list[tuple[str, dict[str, str]]]:
    """The client decodes; its types do not say so."""
    return list(answer or ())


def _record(fields: dict[str, str]) -> Record:
    try:
        number, at_ms = int(fields.get("number", "")), int(fields.get("at_ms", ""))
    except ValueError:
        number, at_ms = -1, 0  # tampered with: the chain says where
    return Record(number, at_ms, fields.get("previous", ""), fields.get("body", ""), fields.get("hash", ""))
