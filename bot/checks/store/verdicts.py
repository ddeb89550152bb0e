"""How each cluster was found, check by check: for the fleet's list, a cluster's history and the morning's digest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from redis.asyncio import Redis

from bot.store import keys
from bot.store.away import reachable
from bot.store.codec import decode, encode, kept, prepare
from handlers.model import Diagnosis, Severity, State

MOST = 200
"""Of one cluster. Each is a few hundred bytes."""
_MOST_ROOTS = 20


@dataclass(frozen=True, slots=True)
class PastVerdict:
    """What a whole check of a cluster came to."""

    cluster: str
    id: str
    at: datetime
    state: State
    severity: str = ""
    """The worst of its root causes; empty where nothing was found."""
    roots: tuple[tuple[str, str], ...] = ()
    """Code and subject of each root cause, as far as they are kept."""
    more: int = 0
    """Root causes that are not kept."""
    checked: bool = True
    """False where no check applies to such a cluster."""

    @classmethod
    def of(cls, diagnosis: Diagnosis, at: datetime, *, checked: bool) -> PastVerdict:
        roots = [ranked.finding for ranked in diagnosis.findings if ranked.root]
        worst = next((severity.value for severity in Severity if severity in {root.severity for root in roots}), "")
        named = tuple((root.code, root.subject) for root in roots[:_MOST_ROOTS])
        target = diagnosis.target
        return cls(
            target.name, str(target.id), at, diagnosis.state, worst, named, len(roots) - len(named), checked=checked
        )

    @property
    def found(self) -> frozenset[tuple[str, str]]:
        """To compare with another one: subjects are written in any case."""
        return frozenset((code, subject.lower()) for code, subject in self.roots)

    @property
    def codes(self) -> tuple[str, ...]:
        """Each code once, the first root first."""
        return tuple(dict.fromkeys(code for code, _ in self.roots))


class Verdicts:
    """Every call may raise StoreAway."""

    def __init__(self, redis: Redis) -> None:
        prepare(PastVerdict)
        self._redis = redis

    async def add(self, verdict: PastVerdict) -> None:
        key, at = keys.verdicts(verdict.id), verdict.at.timestamp()
        with reachable():
            async with self._redis.pipeline(transaction=True) as together:
                together.zadd(key, {kept(encode(verdict)): at})
                together.zremrangebyscore(key, "-inf", at - keys.VERDICT_TTL.total_seconds())
                together.zremrangebyrank(key, 0, -MOST - 1)
                together.expire(key, keys.VERDICT_TTL)
                await together.execute()

    async def of(self, cluster: str) -> list[PastVerdict]:
        """Those of one cluster, by its id, the latest first."""
        with reachable():
            found = await self._redis.zrange(keys.verdicts(cluster), 0, -1, desc=True)
        return [decode(PastVerdict, str(text)) for text in found]

    async def latest(self, clusters: Sequence[str], before: datetime | None = None) -> dict[str, PastVerdict]:
        """The last one of each, by id in small letters; those that were never checked are missing."""
        highest = f"({before.timestamp()}" if before else "+inf"
        with reachable():
            async with self._redis.pipeline(transaction=False) as together:
                for cluster in clusters:
                    together.zrange(keys.verdicts(cluster), highest, "-inf", desc=True, byscore=True, offset=0, num=1)
                found = await together.execute() if clusters else []
        return {
            cluster.lower(): decode(PastVerdict, str(texts[0]))
            for cluster, texts in zip(clusters, found, strict=True)
            if texts
        }
