"""Whether this process can do its work, for load balancers and probes.

While Redis is away or full, the web process still runs checks itself and says so: it stays ready, because nobody would
answer otherwise.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from bot.checks.service import Role
from bot.metrics import Metrics
from bot.slack.api.calls import Calls
from bot.slack.api.sockets import Sockets
from bot.store.away import StoreAway, TakesNoWrites
from bot.store.writes import Writes

MEMORY_WITHIN_S = 2.0
"""A probe gives up after 5 s."""
REMEMBERED_S = 1.0
"""Anybody who reaches the port may ask, as often as they like; each answer costs a write to the disk."""

T = TypeVar("T")


class Cached(Generic[T]):
    """Caches the answer to a question for a number of seconds, whoever asks."""

    def __init__(self, ask: Callable[[], Awaitable[T]], seconds: float = REMEMBERED_S) -> None:
        self._ask, self._seconds = ask, seconds
        self._lock = asyncio.Lock()
        self._known: tuple[float, T] | None = None

    async def __call__(self) -> T:
        async with self._lock:
            now = asyncio.get_running_loop().time()
            if self._known is None or now >= self._known[0]:
                text = await self._ask()
                self._known = asyncio.get_running_loop().time() + self._seconds, text
            return self._known[1]


@dataclass(frozen=True, slots=True)
class Standing:
    """What a probe is told."""

    ready: bool
    said: str


@dataclass
class Readiness:
    """Asked by probes and by readers of the metrics."""

    writes: Writes
    calls: Calls
    role: Role
    metrics: Metrics
    sockets: Sockets | None = None
    leaving: bool = False
    """It still answers, and nobody new should be sent here."""
    _why_forgetful: Cached[StoreAway | None] = field(init=False)
    _why_locked_out: Cached[str] = field(init=False)

    def __post_init__(self) -> None:
        self._why_forgetful = Cached(self._try_memory)
        self._why_locked_out = Cached(self.calls.why_locked_out)

    async def standing(self) -> Standing:
        lost = await self._why_forgetful()
        self.metrics.redis_reachable.set(lost is None or isinstance(lost, TakesNoWrites))
        self.metrics.redis_writable.set(lost is None)
        if self.leaving:
            return Standing(ready=False, said="told to stop: nobody new should be sent here")
        if why := await self._why_cut_off():
            return Standing(ready=False, said=why)
        if lost is None:
            half = await self.sockets.why_down() if self.sockets else None
            return Standing(ready=True, said=f"degraded: {half}" if half else "ready")
        text = f"{lost.what} (REDIS_URL): {lost.why}"
        if not self.role.listens:
            return Standing(ready=False, said=text)
        return Standing(ready=True, said=f"degraded: {text}; checks are done here, fixes are refused")

    async def _why_cut_off(self) -> str | None:
        if self.sockets and not await self.sockets.up():
            return await self.sockets.why_down()
        if refused := await self._why_locked_out():
            return f"Slack refuses the bot's token ({refused}): install the app again and set SLACK_BOT_TOKEN"
        return None

    async def _try_memory(self) -> StoreAway | None:
        """Why nothing can be stored: a full server still answers reads, so this writes."""
        try:
            await self.writes.now_ms(MEMORY_WITHIN_S)
        except StoreAway as away:
            return away
        return None
