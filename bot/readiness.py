"""Whether this process can do its part, for whoever sends requests to it.

Where Redis is away the web process still checks by itself and says so: taken out of service it could not even do that.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler

from bot.jobs.service import Role
from bot.metrics import Metrics
from bot.slack.calls import Calls
from bot.store.state import State

MEMORY_WITHIN_S = 2.0
"""A probe gives up after 5 s."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What a probe is told."""

    ready: bool
    said: str


@dataclass
class Readiness:
    """Asked by probes, and by whoever reads the metrics."""

    state: State
    calls: Calls
    role: Role
    metrics: Metrics
    sockets: list[AsyncSocketModeHandler] = field(default_factory=list)
    leaving: bool = False
    """It still answers, and nobody new should be sent here."""

    async def standing(self) -> Standing:
        remembers = await self._remembers()
        self.metrics.memory_reachable.set(remembers)
        if self.leaving:
            return Standing(ready=False, said="told to stop: nobody new should be sent here")
        if why := await self._why_cut_off():
            return Standing(ready=False, said=why)
        if remembers:
            return Standing(ready=True, said="ready")
        lost = "the state (REDIS_URL) cannot be reached"
        if not self.role.listens:
            return Standing(ready=False, said=lost)
        return Standing(ready=True, said=f"ready, but {lost}: checks are done here, fixes are refused")

    async def _why_cut_off(self) -> str | None:
        if any([not await one.client.is_connected() for one in self.sockets]):
            return "the connection to Slack (Socket Mode) is down"
        if refused := await self.calls.why_locked_out():
            return f"Slack refuses the bot's token ({refused}): install the app again and set SLACK_BOT_TOKEN"
        return None

    async def _remembers(self) -> bool:
        try:
            async with asyncio.timeout(MEMORY_WITHIN_S):
                return await self.state.is_reachable()
        except TimeoutError:
            return False
