"""Offered fixes in Redis. A move is one compare-and-set by the server's clock, whichever replica makes it."""

from __future__ import annotations

import logging
import secrets
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta

from redis.asyncio import Redis

from bot.address import Address
from bot.fixes.moves import Moved, NotMoved, Why
from bot.fixes.proposal import End, Proposal, Rules, State
from bot.store import keys
from bot.store.away import StoreAway, reachable
from bot.store.codec import decode, encode, kept, prepare
from handlers.remedy.plan import Plan

log = logging.getLogger(__name__)

KEPT = timedelta(days=30)
"""How long an old button still gets a clear answer."""
COUNTED = timedelta(hours=24)
"""How long a fix that did not work counts against the next try."""
MOST_TRIES = 3
"""After so many tries within that time that did not work, another one is refused."""
_TRIES = 100

_READ = """
local t = redis.call('TIME')
return {redis.call('GET', KEYS[1]) or '', string.format('%.0f', t[1] * 1000 + math.floor(t[2] / 1000))}
"""

_WRITE = """
local before = redis.call('GET', KEYS[1]) or ''
if before ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
if ARGV[4] == 'ended' then redis.call('ZREM', KEYS[2], ARGV[5]) else redis.call('ZADD', KEYS[2], ARGV[6], ARGV[5]) end
return 1
"""

_NOW = "local t = redis.call('TIME') local now = t[1] * 1000 + math.floor(t[2] / 1000)"
_COUNT = f"""{_NOW}
redis.call('ZADD', KEYS[1], 'NX', now, ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
"""
_COUNTED = f"{_NOW} return redis.call('ZCOUNT', KEYS[1], now - ARGV[1], '+inf')"


class Proposals:
    """Every call may raise StoreAway."""

    def __init__(self, redis: Redis) -> None:
        prepare(Proposal)
        self._redis = redis
        self._read = redis.register_script(_READ)
        self._write = redis.register_script(_WRITE)
        self._count = redis.register_script(_COUNT)
        self._counted = redis.register_script(_COUNTED)

    async def offer(self, plan: Plan, team: str, spot: Address, rules: Rules) -> Proposal:
        """Keep a plan that people can be asked about. Nobody can guess its id."""
        name = secrets.token_urlsafe(18)
        _, now_ms = await self._look(name)
        made = Proposal(name, plan, team, spot, rules, now_ms, now_ms + rules.lasts_ms)
        if not await self._replace("", made):
            raise StoreAway("an offer of this name stands there already")
        return made

    async def load(self, name: str) -> Proposal | None:
        text, _ = await self._look(name)
        return _read(name, text)

    async def move(self, name: str, change: Callable[[Proposal, int], Moved]) -> Moved:
        """Make one move. What several want at once is decided here, one after the other."""
        for _ in range(_TRIES):
            text, now_ms = await self._look(name)
            before = _read(name, text)
            if before is None:
                return NotMoved(Why.UNKNOWN)
            after = change(before, now_ms)
            if isinstance(after, NotMoved) or after == before:
                return after
            after = replace(after, version=before.version + 1)
            if await self._replace(text, after):
                return after
        raise StoreAway("so many want to move this offer at once that none gets through")

    async def now_ms(self) -> int:
        """What time it is for all replicas: the server's clock."""
        _, now_ms = await self._look("")
        return now_ms

    async def open(self, team: str) -> list[Proposal]:
        """Those that have not ended, the next to expire first."""
        with reachable():
            names = await self._redis.zrange(keys.proposals(team), 0, -1)
        found = []
        for name in map(str, names):
            text, _ = await self._look(name)
            if not text:
                await self._forget(team, name)
            elif (proposal := _read(name, text)) and proposal.state is not State.ENDED:
                found.append(proposal)
        return found

    async def _forget(self, team: str, name: str) -> None:
        """Its time was over before anybody ended it."""
        with reachable():
            await self._redis.zrem(keys.proposals(team), name)

    async def teams(self) -> AsyncIterator[str]:
        """The workspaces that have offers."""
        with reachable():
            names = await self._redis.smembers(keys.PROPOSAL_TEAMS)
        for name in names:
            yield str(name)

    async def count_ended(self, proposal: Proposal) -> None:
        """Remember how often this very fix has not worked."""
        key = keys.tries(proposal.plan.cluster, proposal.plan.remedy, proposal.plan.target)
        with reachable():
            if proposal.end is End.FIXED:
                await self._redis.delete(key)
            elif proposal.end in (End.NOT_FIXED, End.FAILED, End.UNVERIFIED):
                await self._count(keys=[key], args=[proposal.id, _ms(COUNTED)])

    async def failed_tries(self, plan: Plan) -> int:
        """How often this very fix was tried and has not worked lately."""
        with reachable():
            key = keys.tries(plan.cluster, plan.remedy, plan.target)
            return int(await self._counted(keys=[key], args=[_ms(COUNTED)]))

    async def _look(self, name: str) -> tuple[str, int]:
        with reachable():
            text, now_ms = await self._read(keys=[keys.proposal(name)])
        return str(text), int(now_ms)

    async def _replace(self, before: str, after: Proposal) -> bool:
        names = [keys.proposal(after.id), keys.proposals(after.team)]
        state = after.state.value
        values: list[str | int] = [before, kept(encode(after)), _ms(KEPT), state, after.id, after.expires_ms]
        with reachable():
            done = bool(await self._write(keys=names, args=values))
            if done and not before:
                await self._redis.sadd(keys.PROPOSAL_TEAMS, after.team)
        return done


def _read(name: str, text: str) -> Proposal | None:
    """What cannot be read, such as one that another version of the bot has written, is no offer, and stops no other."""
    if not text:
        return None
    try:
        return decode(Proposal, text)
    except (ValueError, KeyError, TypeError, AttributeError):
        log.exception("offer %s cannot be read", name)
        return None


def _ms(span: timedelta) -> int:
    return int(span.total_seconds() * 1000)
