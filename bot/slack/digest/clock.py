"""Puts each day's digest into the queue when it is due: once, however many processes there are and restarts.

A digest of a day has one id. The queue takes a job of an id once, the store knows whether its message stands, and a
worker that is killed in between does the same job again, which says nothing twice.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from bot.address import Address
from bot.policy.digests import DigestRule
from bot.queue.cancel import end
from bot.queue.job import Job
from bot.queue.priority import Priority
from bot.slack.digest.handlers import DIGEST, rule_name
from bot.slack.inbound.asks import Ask, What
from bot.store.away import StoreAway
from bot.store.state import State

log = logging.getLogger(__name__)

EVERY_S = 30.0
LATE = timedelta(hours=3)
"""A bot that was down at the time still posts it then; later in the day it is no morning's digest any more."""

Submit = Callable[[Job[Ask]], Awaitable[object]]


@dataclass
class DigestClock:
    """One in each worker."""

    rules: tuple[DigestRule, ...]
    team: Callable[[], Awaitable[str]]
    state: State
    submit: Submit
    every_s: float = EVERY_S
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    _done: set[str] = field(default_factory=set)

    @asynccontextmanager
    async def ticking(self, *, works: bool) -> AsyncIterator[None]:
        """Open while the process serves."""
        if not (works and self.rules):
            yield
            return
        task = asyncio.create_task(self._keep_on(), name="the clock of digests")
        try:
            yield
        finally:
            await end(task)

    async def _keep_on(self) -> None:
        while True:
            try:
                await self.once()
            except StoreAway as away:
                log.info("no look at the digests for now: %s", away)
            except Exception:  # the edge of a loop: what failed this time is tried again
                log.exception("looking whether a digest is due failed this time")
            await asyncio.sleep(self.every_s)

    async def once(self) -> list[str]:
        """What was put into the queue."""
        now = self.now()
        due = [(rule, at) for rule in self.rules if (at := rule.due(now)) <= now < at + LATE]
        return [name for rule, at in due if (name := await self._begin(rule, at))]

    async def _begin(self, rule: DigestRule, due: datetime) -> str:
        name = job_name(rule, due)
        if name in self._done:
            return ""
        if await self.state.posted(name, DIGEST) is None:
            place = Address(await self.team(), rule.channel)
            await self.submit(Job(name, Ask(name, What.DIGEST, place, pressed=rule_name(rule)), Priority.TRIAGE))
            log.info("the digest for %s, due %s, is begun", rule.channel, due)
        self._done.add(name)
        return name


def job_name(rule: DigestRule, due: datetime) -> str:
    """One for a rule and a day there."""
    return f"digest-{sha256(rule_name(rule).encode()).hexdigest()[:16]}-{due:%Y-%m-%d}"
