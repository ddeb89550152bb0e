"""Fixes that run: how far each is, and which cluster each holds. Two never hold one cluster.

A cluster is held by a fix until it has ended, however often its worker dies. Every worker that takes a fix up gets a
higher fence; what is saved with a lower one is refused, so a worker that was only slow notices that it was replaced.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta

from redis.asyncio import Redis

from bot.store import keys
from bot.store.away import reachable
from bot.store.dedicated_connection import own_connection
from bot.store.durable import wait_until_durable
from handlers.remedy.execution import Execution, Phase
from handlers.remedy.ledger import NotOurs

log = logging.getLogger(__name__)

AFTER_ITS_LIMIT = timedelta(hours=2)
"""A fix that is over its own limit for this long is not coming back, and its cluster is free again."""
KEPT = timedelta(days=30)
"""How long an ended fix can be looked at."""

_HOLD = """
local owner = redis.call('HGET', KEYS[1], 'owner')
if owner and owner ~= ARGV[1] then return {owner, 0} end
local fence = redis.call('INCR', KEYS[2])
redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'fence', fence)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return {ARGV[1], fence}
"""

_SAVE = """
local owner, fence = unpack(redis.call('HMGET', KEYS[1], 'owner', 'fence'))
if owner ~= ARGV[1] or fence ~= ARGV[2] then return 0 end
redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[4])
redis.call('SADD', KEYS[3], ARGV[1])
return 1
"""

_FREE = """
local owner, fence = unpack(redis.call('HMGET', KEYS[1], 'owner', 'fence'))
if owner == ARGV[1] and fence == ARGV[2] then redis.call('DEL', KEYS[1]) end
redis.call('SREM', KEYS[2], ARGV[1])
return 1
"""

_LET_GO = """
if redis.call('HGET', KEYS[1], 'owner') == ARGV[1] then redis.call('DEL', KEYS[1]) end
redis.call('SREM', KEYS[2], ARGV[1])
return 1
"""


@dataclass(frozen=True, slots=True)
class HeldBy:
    """Another fix runs on this cluster."""

    execution: str


class Executions:
    """Every call may raise StoreAway."""

    def __init__(self, redis: Redis) -> None:
        self.redis = redis
        self._hold = redis.register_script(_HOLD)
        self.saving = redis.register_script(_SAVE)
        self._free = redis.register_script(_FREE)
        self._let_go = redis.register_script(_LET_GO)

    async def hold(self, execution: Execution) -> RedisLedger | HeldBy:
        """Take the cluster for this fix, or carry on with it in place of a worker that is gone."""
        cluster = execution.plan.cluster
        ttl_ms = _ms(execution.plan.limit + AFTER_ITS_LIMIT)
        with reachable():
            owner, fence = await self._hold(keys=[keys.held(cluster), keys.FENCE], args=[execution.id, ttl_ms])
        if str(owner) != execution.id:
            return HeldBy(str(owner))
        return RedisLedger(self, execution.id, cluster, str(fence))

    async def load(self, name: str) -> Execution | None:
        with reachable():
            text = await self.redis.get(keys.execution(name))
        return _read(name, str(text)) if text else None

    async def running(self) -> AsyncIterator[str]:
        """The names of those that have begun and not ended: each holds its cluster.

        What does not hold it any more can save nothing, so it is over, whoever forgot to say so.
        """
        with reachable():
            names = await self.redis.smembers(keys.EXECUTING)
        for name in sorted(str(name) for name in names):
            here = await self.load(name)
            if here and await self.holder(here.plan.cluster) == name:
                yield name

    async def holder(self, cluster: str) -> str | None:
        """Which fix holds a cluster."""
        with reachable():
            owner = await self.redis.hget(keys.held(cluster), "owner")
        return str(owner) if owner else None

    async def free(self, ledger: RedisLedger) -> None:
        """The fix has ended, and what it did is verified: the cluster is free."""
        with reachable():
            await self._free(keys=[keys.held(ledger.cluster), keys.EXECUTING], args=[ledger.execution, ledger.fence])

    async def let_go(self, execution: str, cluster: str) -> None:
        """The same, of one that has ended without anybody who holds it."""
        with reachable():
            await self._let_go(keys=[keys.held(cluster), keys.EXECUTING], args=[execution])


@dataclass(frozen=True, slots=True)
class RedisLedger:
    """A `handlers.remedy.ledger.Ledger`: one worker's hold on one fix."""

    store: Executions
    execution: str
    cluster: str
    fence: str

    async def must_be_ours(self) -> None:
        """Raises NotOurs when another worker has taken over."""
        with reachable():
            owner, fence = await self.store.redis.hmget(keys.held(self.cluster), "owner", "fence")
        if (owner, fence) != (self.execution, self.fence):
            raise NotOurs(f"another worker carries on with {self.execution}")

    async def save(self, execution: Execution) -> None:
        names = [keys.held(self.cluster), keys.execution(self.execution), keys.EXECUTING]
        values: list[str | int] = [self.execution, self.fence, execution.as_json(), _ms(KEPT)]
        async with own_connection(self.store.redis) as connection:
            with reachable():
                saved = await self.store.saving(keys=names, args=values, client=connection)
            if not saved:
                raise NotOurs(f"another worker carries on with {self.execution}")
            if execution.phase is Phase.INTENDED:
                # A server that forgets an intent when it is killed would have the write sent a second time.
                await wait_until_durable(connection, "what is about to be sent")


def _read(name: str, text: str) -> Execution | None:
    """What cannot be read is lost: whoever carries on must not guess how far it was."""
    try:
        return Execution.from_json(text)
    except (ValueError, KeyError, TypeError, AttributeError):
        log.exception("how far fix %s is cannot be read", name)
        return None


def _ms(span: timedelta) -> int:
    return int(span.total_seconds() * 1000)
