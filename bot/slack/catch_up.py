"""After a time without a connection to Slack: what was said meanwhile is read in its history, and heard.

A message that was heard before is known by its channel and its time, and is not answered again. What is older than ten
minutes is not answered: what it speaks of may be over, and its people have asked elsewhere. That it was not read is
said where it stands. Commands and clicks are in no history.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from bot.incidents.model import Spot
from bot.jobs.ending import end
from bot.jobs.request import Place
from bot.policy.channels import Channels
from bot.slack import hearing, words_gap
from bot.slack.calls import Body, CallFailed, Refused
from bot.slack.hearing import Me
from bot.slack.history import Channel, History
from bot.slack.message import Message
from bot.slack.sockets import Gap, Sockets
from bot.slack.speaker import Speaker, Where
from bot.store.away import StoreAway
from bot.store.gaps import Gaps
from bot.store.incidents import Incidents
from bot.store.turns import Turns

log = logging.getLogger(__name__)

ANSWERED = timedelta(minutes=10)
AGAIN_S = 5.0
"""After a memory or a Slack that was away, too."""
_TRIES = 60
_MOST_THREADS = 40
_CONNECTED_EVERY_S = 2.0


@dataclass(frozen=True, slots=True)
class Installed:
    """The workspace, and who the bot is there."""

    team: str
    me: Me


BUSY = 500
"""The statuses from here on say that an event was not taken in."""
Hear = Callable[[Body], Awaitable[bool]]
"""Takes in an event as if Slack had sent it; False where it could not be kept."""


class CatchUp:
    """One for a process; `missed` tells it of a gap, `keep_up` works on them."""

    def __init__(
        self,
        *,
        history: History,
        gaps: Gaps,
        incidents: Incidents,
        turns: Turns,
        speaker: Speaker,
        channels: Channels,
        installed: Callable[[], Awaitable[Installed]],
        hear: Hear,
    ) -> None:
        self._history, self._gaps, self._speaker = history, gaps, speaker
        self._incidents, self._turns = incidents, turns
        self._channels, self._installed, self._hear = channels, installed, hear
        self._missed: asyncio.Queue[Gap] = asyncio.Queue()
        self._name = uuid4().hex

    async def missed(self, gap: Gap) -> None:
        await self._missed.put(gap)

    async def since_the_last_process(self) -> None:
        """Whatever was connected before, it was not after that."""
        with suppress(StoreAway):
            if last := await self._gaps.last_connected():
                await self.missed(Gap(last, time.time()))

    async def note(self, alive_at: Callable[[], float | None]) -> None:
        """Keep in mind until when there was a connection, until cancelled."""
        while True:
            if at := alive_at():
                with suppress(StoreAway):
                    await self._gaps.connected(at)
            await asyncio.sleep(_CONNECTED_EVERY_S)

    async def keep_up(self) -> None:
        """Until cancelled."""
        while True:
            gap = await self._missed.get()
            for _ in range(_TRIES):
                try:
                    if await self._taken_care_of(gap):
                        break
                except (StoreAway, CallFailed) as away:
                    log.warning("what was said meanwhile cannot be read yet: %s", away)
                except Exception:
                    # The edge: what Slack sends next time is read all the same.
                    log.exception("what was said meanwhile cannot be read")
                await asyncio.sleep(AGAIN_S)
            else:
                log.error("what was said from %s to %s was not read", gap.since, gap.until)

    async def _taken_care_of(self, gap: Gap) -> bool:
        """Of several processes that have lost their connections one reads."""
        mine = await self._gaps.take(gap.since, gap.until, self._name)
        if not mine:
            return mine is False
        try:
            await self._read(gap)
        except (StoreAway, CallFailed):
            with suppress(StoreAway):
                await self._gaps.release(self._name)
            raise
        await self._gaps.done(gap.since, gap.until, self._name)
        return True

    async def _read(self, gap: Gap) -> None:
        installed = await self._installed()
        if not installed.team:
            raise CallFailed("Slack does not say who the bot is")
        since = max(gap.since, gap.until - hearing.OLDEST.total_seconds())
        for channel in await self._history.channels():
            messages = await _readable(self._history.said(channel.id, since, gap.until))
            began = [Spot(channel.id, str(one["ts"])) for one in messages if one.get("reply_count")]
            await self._heard(installed, gap, channel, messages)
            for spot in dict.fromkeys([*await self._open_threads(installed.team, channel.id), *began]):
                replies = await _readable(self._history.replies(spot, since, gap.until))
                await self._heard(installed, gap, channel, replies, spot.thread_ts)

    async def _open_threads(self, team: str, channel: str) -> list[Spot]:
        """Where an incident is spoken of that is not over, the latest first."""
        found = await self._incidents.open_threads(team, channel)
        return found[:_MOST_THREADS]

    async def _heard(
        self, to: Installed, gap: Gap, channel: Channel, messages: Iterable[Body], thread_ts: str | None = None
    ) -> None:
        edge, unread = gap.until - ANSWERED.total_seconds(), False
        for message in messages:
            if float(message["ts"]) < edge:
                unread = unread or await self._is_unread(to, channel, message)
                continue
            for event in _events(to, channel, message):
                if not await self._hear(event):
                    raise StoreAway("a message could not be kept")
        if unread:
            said = Message(words_gap.not_read(gap.since, gap.until, edge))
            place = Place(to.team, channel.id, "", thread_ts=thread_ts)
            # Connections and processes that were lost together each tell of their own gap, seconds apart.
            where = Where(f"gap-{int(gap.until // ANSWERED.total_seconds())}", place, datetime.now(UTC))
            with suppress(Refused):  # where nothing can be said, nobody waits for it either
                await self._speaker.once(where, f"not-read-{channel.id}-{thread_ts or ''}", said)

    async def _is_unread(self, to: Installed, channel: Channel, message: Body) -> bool:
        """Whether it would have been read: where the bot reads along, or where it is spoken to."""
        read = await hearing.read_aside(_body(to, channel, message), to.me, 0.0)
        if read is hearing.Ignored.TO_US:
            return True
        reads = self._channels.reads_everything or self._channels.reads(channel.name)
        if not reads or isinstance(read, hearing.Ignored):
            return False
        return not await self._turns.knows(hearing.original(read))


@asynccontextmanager
async def catching_up(catch_up: CatchUp, sockets: Sockets) -> AsyncIterator[None]:
    """While the context is, with connections that are open."""
    await catch_up.since_the_last_process()
    tasks = (
        asyncio.create_task(catch_up.note(lambda: sockets.alive_at), name="when Slack was connected"),
        asyncio.create_task(catch_up.keep_up(), name="what was said meanwhile"),
    )
    try:
        yield
    finally:
        await end(*tasks)


async def _readable(asked: Awaitable[list[Body]]) -> list[Body]:
    """Nothing, where the bot may not read or the thread is gone."""
    try:
        return await asked
    except Refused as refused:
        if refused.error == "ratelimited":
            raise
        log.info("not read: %s", refused)
        return []


def _events(to: Installed, channel: Channel, message: Body) -> list[Body]:
    """As Slack would have sent it: a mention comes twice."""
    body = _body(to, channel, message)
    mention = f"<@{to.me.user}>"
    if mention not in str(message.get("text") or ""):
        return [body]
    event = {name: one for name, one in body["event"].items() if name not in ("channel_type", "subtype")}
    return [body, {**body, "event_id": f"{body['event_id']}-mention", "event": {**event, "type": "app_mention"}}]


def _body(to: Installed, channel: Channel, message: Body) -> Body:
    home = {"user_team": message["team"]} if message.get("team") else {}
    event = {**home, **message, "channel": channel.id, "channel_type": channel.kind, "event_ts": message["ts"]}
    return {
        "type": "event_callback",
        "team_id": to.team,
        "api_app_id": to.me.app,
        "event_id": f"history-{channel.id}-{message['ts']}",
        "event_time": int(float(message["ts"])),
        "event": event,
    }
