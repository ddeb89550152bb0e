"""After a gap in the connection to Slack: reads the messages of that time from the channels' history and handles them.

A message that was handled before is recognised by channel and timestamp. Messages older than ten minutes are not
answered: the problem may be over, and people have asked elsewhere. The channel is told that they were not read.
Commands and clicks are not in any history.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from uuid import uuid4

from bot.incidents.store import Incidents
from bot.incidents.turns import Turns
from bot.metrics import Metrics
from bot.policy.channels import Channels
from bot.queue.cancel import end
from bot.slack.api.calls import CallFailed
from bot.slack.api.history import History
from bot.slack.api.poster import Poster
from bot.slack.api.sockets import Gap, Sockets
from bot.slack.gaps.reader import Hear, Installed, Reading, Sources
from bot.store.away import StoreAway
from bot.store.gaps import RENEWED_EVERY_S, Gaps

__all__ = ["BUSY", "CatchUp", "Hear", "Installed", "catching_up"]

log = logging.getLogger(__name__)

AGAIN_S = 5.0
"""After a memory or a Slack that was away, too."""
_TRIES = 60
_CONNECTED_EVERY_S = 2.0
BUSY = 500
"""The statuses from here on say that an event was not taken in."""


class CatchUp:
    """One per process; `missed` reports a gap, `keep_up` works on them."""

    def __init__(
        self,
        *,
        history: History,
        gaps: Gaps,
        incidents: Incidents,
        turns: Turns,
        message_poster: Poster,
        channels: Channels,
        installed: Callable[[], Awaitable[Installed]],
        hear: Hear,
        metrics: Metrics,
        writable: Callable[[], Awaitable[object]],
    ) -> None:
        self._gaps, self._metrics, self._name = gaps, metrics, uuid4().hex
        self._sources = Sources(history, incidents, turns, message_poster, channels, installed, hear, metrics, writable)
        self._missed: asyncio.Queue[Gap] = asyncio.Queue()

    async def missed(self, gap: Gap) -> None:
        await self._missed.put(gap)

    async def note(self, alive_at: Callable[[], float | None]) -> None:
        """Record the time of the last connection, until cancelled. The previous process's record is read first: since
        then there was no connection.
        """
        began, known = time.time(), False
        while True:
            with suppress(StoreAway):
                if not known:
                    if last := await self._gaps.last_connected():
                        await self.missed(Gap(last, began))
                    known = True
                if at := alive_at():
                    await self._gaps.connected(at)
            await asyncio.sleep(_CONNECTED_EVERY_S)

    async def keep_up(self) -> None:
        """Work on gaps until cancelled."""
        while True:
            await self._take_care_of(await self._missed.get())

    async def _take_care_of(self, gap: Gap) -> None:
        """If several processes lost their connections, one of them reads; the others wait for its result."""
        reading, tries = Reading(gap, self._sources), 0
        while tries < _TRIES:
            try:
                mine = await self._gaps.take(gap.since, gap.until, self._name)
                if mine:
                    await self._read(reading, gap)
                if mine is not None:
                    return
            except (StoreAway, CallFailed) as away:
                tries += 1
                log.warning("messages of a connection gap cannot be read yet: %s", away)
            except Exception:
                # The edge: a failure here must not stop the reading of the next gap.
                tries += 1
                log.exception("messages of a connection gap cannot be read")
            await asyncio.sleep(AGAIN_S)
        self._metrics.unread.labels("given up").inc()
        left = ", ".join(f"#{channel}" for channel in reading.left) or "any channel"
        log.error("messages from %s to %s were not read in %s", gap.since, gap.until, left)

    async def _read(self, reading: Reading, gap: Gap) -> None:
        renewing = asyncio.create_task(self._renew(), name="the lock for reading a connection gap")
        try:
            await reading.go()
            await self._gaps.done(gap.since, gap.until, self._name)
        finally:
            await end(renewing)
            with suppress(StoreAway):
                await self._gaps.release(self._name)

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(RENEWED_EVERY_S)
            with suppress(StoreAway):
                await self._gaps.renew(self._name)


@asynccontextmanager
async def catching_up(catch_up: CatchUp, sockets: Sockets) -> AsyncIterator[None]:
    """Runs while the context is open, with open connections."""
    tasks = (
        asyncio.create_task(catch_up.note(lambda: sockets.alive_at), name="when Slack was connected"),
        asyncio.create_task(catch_up.keep_up(), name="what was said meanwhile"),
    )
    try:
        yield
    finally:
        await end(*tasks)
