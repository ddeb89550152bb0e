"""What the processes of one bot remember together: seen events, posted messages, reports, settings of channels.

Whatever two processes could decide at the same time is decided by the server in one step.
"""

from __future__ import annotations

from datetime import datetime
from enum import Enum
from uuid import uuid4

from redis.asyncio import Redis

from bot.address import Address
from bot.store import keys
from bot.store.away import reachable
from bot.store.codec import kept

_INTENT, _CLUSTER = ":meant", "cluster"

_EPOCH = """
local t = redis.call('TIME')
redis.call('SETNX', KEYS[1], string.format('%.0f', t[1] * 1000 + math.floor(t[2] / 1000)) .. ' ' .. ARGV[1])
local epoch = redis.call('GET', KEYS[1])
"""

_POSTING = f"""
{_EPOCH}
local stands = redis.call('HGET', KEYS[2], ARGV[2])
local first = redis.call('HSETNX', KEYS[2], ARGV[3], '1')
redis.call('EXPIRE', KEYS[2], ARGV[4])
return {{stands or '', first, epoch}}
"""


class Posting(Enum):
    """What is known of a message that is about to be posted."""

    NEW = "nobody has tried to post it"
    UNSURE = "someone meant to and did not say that it worked: look for it before posting"


class State:
    """All of it but the checks that run (see `bot.checks.store.running`). Every call may raise StoreAway."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._epoch = redis.register_script(f"{_EPOCH}\nreturn epoch")
        self._posting = redis.register_script(_POSTING)

    async def epoch(self) -> str:
        """The life of the data: another value than before means that the server has lost them."""
        with reachable():
            return str(await self._epoch(keys=[keys.EPOCH], args=[uuid4().hex]))

    async def first_use(self, signature: str) -> bool:
        """Whether a signed request comes for the first time."""
        with reachable():
            return bool(await self._redis.set(keys.signature(signature), "1", nx=True, ex=keys.SIGNATURE_TTL))

    async def forget_use(self, signature: str) -> None:
        """For a request that could not be taken after all."""
        with reachable():
            await self._redis.delete(keys.signature(signature))

    async def posting(self, job: str, part: str, asked_at: datetime) -> Address | Posting:
        """Say that a part of a job's answer is about to be posted, and learn whether it stands already.

        A server that has lost its data since the question cannot know that nobody has posted it.
        """
        values: list[str | int] = [uuid4().hex, part, part + _INTENT, int(keys.POSTED_TTL.total_seconds())]
        with reachable():
            stands, first, epoch = await self._posting(keys=[keys.EPOCH, keys.posted(job)], args=values)
        if stands:
            return _posted(str(stands))
        began_ms = int(str(epoch).partition(" ")[0])
        return Posting.NEW if first and began_ms <= asked_at.timestamp() * 1000 else Posting.UNSURE

    async def record_posted(self, job: str, part: str, message: Address) -> Address:
        """Where a part stands. Who comes second is told what the first one said."""
        key = keys.posted(job)
        with reachable():
            async with self._redis.pipeline(transaction=True) as together:
                together.hsetnx(key, part, f"{message.channel} {message.message_ts}")
                together.expire(key, keys.POSTED_TTL)
                together.hget(key, part)
                *_, stands = await together.execute()
        return _posted(str(stands))

    async def posted(self, job: str, part: str) -> Address | None:
        """Where a part of a job's answer stands, if it does."""
        with reachable():
            stands = await self._redis.hget(keys.posted(job), part)
        return _posted(str(stands)) if stands else None

    async def not_posted(self, job: str, part: str) -> None:
        """Slack has refused the message: it certainly does not stand."""
        with reachable():
            await self._redis.hdel(keys.posted(job), part + _INTENT)

    async def default_cluster(self, team: str, channel: str) -> str | None:
        """The cluster that a channel means when it names none."""
        with reachable():
            cluster = await self._redis.hget(keys.channel(team, channel), _CLUSTER)
        return str(cluster) if cluster else None

    async def set_default_cluster(self, team: str, channel: str, cluster: str | None) -> None:
        with reachable():
            if cluster:
                await self._redis.hset(keys.channel(team, channel), _CLUSTER, kept(cluster))
            else:
                await self._redis.hdel(keys.channel(team, channel), _CLUSTER)

    async def readers(self, team: str, channel: str) -> str | None:
        """What was said lately of who reads a channel."""
        with reachable():
            found = await self._redis.get(keys.readers(team, channel))
        return str(found) if found else None

    async def set_readers(self, team: str, channel: str, found: str) -> None:
        with reachable():
            await self._redis.set(keys.readers(team, channel), found, ex=keys.READERS_TTL)

    async def forget_readers(self, team: str, channel: str) -> None:
        """Whoever has joined may be a guest that nobody knew."""
        with reachable():
            await self._redis.delete(keys.readers(team, channel), keys.guests(team))

    async def guests(self, team: str) -> frozenset[str] | None:
        """The guests of a workspace, where they were listed lately."""
        with reachable():
            found = await self._redis.get(keys.guests(team))
        return None if found is None else frozenset(str(found).split())

    async def set_guests(self, team: str, users: frozenset[str]) -> None:
        with reachable():
            await self._redis.set(keys.guests(team), " ".join(sorted(users)), ex=keys.READERS_TTL)


def _posted(text: str) -> Address:
    channel, _, ts = text.partition(" ")
    return Address(channel=channel, message_ts=ts)
