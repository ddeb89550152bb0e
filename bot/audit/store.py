"""The audit in Redis: an append-only stream, extended by one record at a time, whichever replica writes."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from bot.audit.chain import NOTHING, Tip, Verdict, verify
from bot.audit.record import GENESIS, Entry, Record, seal
from bot.store import keys
from bot.store.away import StoreAway, reachable
from bot.store.dedicated_connection import own_connection
from bot.store.durable import wait_until_durable

log = logging.getLogger("aksbot.audit")

PAGE = 500
_TRIES = 50
"""Of many replicas that append at once one gets through each time."""

_TIPS = """
local t = redis.call('TIME')
local tip = redis.call('HMGET', KEYS[1], 'number', 'hash')
local witness = redis.call('HMGET', KEYS[2], 'number', 'hash', 'lost')
return {tip[1] or '0', tip[2] or '', string.format('%.0f', t[1] * 1000 + math.floor(t[2] / 1000)),
  witness[1] or '0', witness[2] or '', witness[3] or ''}
"""

# A witness never goes back. If fixes have run already, a first record is not the first that was written.
_APPEND = """
if KEYS[5] then
  local stands = redis.call('GET', KEYS[5])
  -- WAITAOF waits for what its own connection has written, so this one writes, too.
  if stands then redis.call('PEXPIRE', KEYS[5], ARGV[8]) return stands end
end
local hash = redis.call('HGET', KEYS[2], 'hash') or ''
if hash ~= ARGV[1] then return '' end
local known = tonumber(redis.call('HGET', KEYS[3], 'number') or '0')
local number = tonumber(ARGV[2])
redis.call('XADD', KEYS[1], '*', 'number', ARGV[2], 'at_ms', ARGV[3], 'previous', ARGV[4],
  'body', ARGV[5], 'hash', ARGV[6])
redis.call('HSET', KEYS[2], 'number', ARGV[2], 'hash', ARGV[6])
if number == 1 and known == 0 and redis.call('EXISTS', KEYS[4]) == 1 then
  redis.call('HSET', KEYS[3], 'lost', redis.call('GET', KEYS[4]))
end
if number > known then redis.call('HSET', KEYS[3], 'number', ARGV[2], 'hash', ARGV[6]) end
if KEYS[5] then redis.call('SET', KEYS[5], ARGV[7], 'PX', ARGV[8]) end
return ARGV[7]
"""


class AuditUnreadable(Exception):
    """The audit's keys hold something that is not an audit."""


@dataclass(frozen=True, slots=True)
class _Ends:
    """Where the chain ends, according to its tip and to the witness."""

    raw: str
    tip: Tip
    now_ms: int
    witness: Tip
    lost: str
    """How many fixes had begun before the record that is now the first."""


class Audit:
    """Every call may raise StoreAway; a caller that cannot write here must not act."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._tips = redis.register_script(_TIPS)
        self._append = redis.register_script(_APPEND)

    async def write(self, entry: Entry) -> Record:
        """Append a record, and wait until it is on disk if the server supports that. It also goes to the log."""
        return await self._written(entry, [])

    async def write_once(self, entry: Entry, name: str) -> Record:
        """The same, but an earlier record of this name is kept and returned: a writer that was cut off tries again."""
        return await self._written(entry, [keys.audit_once(name)])

    async def _written(self, entry: Entry, once: list[str]) -> Record:
        try:
            for _ in range(_TRIES):
                if (record := await self._try(entry.as_json(), once)) is not None:
                    return record
        except (ResponseError, ValueError) as wrong:
            raise StoreAway(f"the audit cannot be written: {wrong}") from wrong
        raise StoreAway("the audit is written to by so many at once that this record found no place")

    async def _try(self, body: str, once: list[str]) -> Record | None:
        """None: another writer was faster."""
        ends = await self._ends()
        record = seal(ends.tip.number + 1, ends.now_ms, ends.tip.hash, body)
        line = json.dumps(record.as_dict(), separators=(",", ":"))
        names = [keys.AUDIT, keys.AUDIT_TIP, keys.AUDIT_WITNESS, keys.FENCE, *once]
        values: list[str | int] = [ends.raw, record.number, record.at_ms, record.previous, record.body, record.hash]
        values += [line, int(keys.AUDIT_KNOWN.total_seconds() * 1000)]
        # One connection, because WAITAOF waits for the writes of its own connection.
        async with own_connection(self._redis) as connection:
            with reachable():
                stands = str(await self._append(keys=names, args=values, client=connection))
            if not stands:
                return None
            if stands == line:
                log.info("%s", line)
            # Also if the record existed already: its writer may have died before it was on disk.
            await wait_until_durable(connection, "the audit")
        return Record(**json.loads(stands))

    async def records(self, since_ms: int = 0) -> AsyncIterator[Record]:
        """Oldest to newest."""
        after = "-"
        while True:
            with reachable():
                page = rows(await self._redis.xrange(keys.AUDIT, min=after, count=PAGE))
            for _, fields in page:
                record = _record(fields)
                if record.at_ms >= since_ms:
                    yield record
            if len(page) < PAGE:
                return
            after = f"({page[-1][0]}"

    async def backwards(self, before: str = "") -> AsyncIterator[tuple[str, Record]]:
        """Newest to oldest, each with its position; only those before `position`, if given."""
        until = f"({before}" if before else "+"
        while True:
            try:
                with reachable():
                    page = rows(await self._redis.xrevrange(keys.AUDIT, max=until, count=PAGE))
            except ResponseError as wrong:
                raise AuditUnreadable(str(wrong)) from wrong
            for place, fields in page:
                yield place, _record(fields)
            if len(page) < PAGE:
                return
            until = f"({page[-1][0]}"

    async def latest(self, count: int) -> list[Record]:
        """Newest first."""
        with reachable():
            found = rows(await self._redis.xrevrange(keys.AUDIT, count=count))
        return [_record(fields) for _, fields in found]

    async def first(self) -> Record | None:
        with reachable():
            found = rows(await self._redis.xrange(keys.AUDIT, count=1))
        return _record(found[0][1]) if found else None

    async def tip(self) -> Tip:
        return (await self._ends()).tip

    async def verify(self) -> Verdict:
        """Whether it is intact. Records appended meanwhile are left for the next time."""
        try:
            ends = await self._ends()
            if ends.lost:
                return Verdict(0, 1, f"{ends.lost} fixes had begun before its first record: what was written is gone")
            return await verify(self._until(ends.tip), ends.tip, ends.witness)
        except (ResponseError, ValueError) as wrong:
            # The keys hold something that is not an audit.
            return Verdict(0, 1, f"its records cannot be read: {wrong}")

    async def _until(self, tip: Tip) -> AsyncIterator[Record]:
        async for record in self.records():
            yield record
            if record.number >= tip.number and record.hash == tip.hash:
                return

    async def _ends(self) -> _Ends:
        with reachable():
            found = await self._tips(keys=[keys.AUDIT_TIP, keys.AUDIT_WITNESS])
        number, raw, now_ms, known, known_hash, lost = (str(value) for value in found)
        witness = Tip(int(known), known_hash) if known_hash else NOTHING
        return _Ends(raw, Tip(int(number), raw or GENESIS), int(now_ms), witness, lost)


def rows(answer: Any) -> list[tuple[str, dict[str, str]]]:
    """The client decodes to text, but its types do not say so."""
    return list(answer or ())


def _record(fields: dict[str, str]) -> Record:
    try:
        number, at_ms = int(fields.get("number", "")), int(fields.get("at_ms", ""))
    except ValueError:
        number, at_ms = -1, 0  # Tampered with: the chain reports where.
    return Record(number, at_ms, fields.get("previous", ""), fields.get("body", ""), fields.get("hash", ""))
