"""Reads the messages of one gap in the connection. What cannot be read is reported in the channel, or in the log."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bot.address import Address
from bot.incidents.store import Incidents
from bot.incidents.turns import Turns
from bot.metrics import Metrics
from bot.policy.channels import Channels
from bot.slack.api.calls import Body, CallFailed, Refused
from bot.slack.api.history import MOST_CHANNELS, Channel, History, Read
from bot.slack.api.poster import Poster, Reply
from bot.slack.api.sockets import Gap
from bot.slack.gaps import text as gaps_text
from bot.slack.inbound import message_reader
from bot.slack.inbound.message_reader import Me
from bot.slack.kit.message import Message
from bot.store.away import StoreAway

log = logging.getLogger(__name__)

ANSWERED = timedelta(minutes=10)
MOST_THREADS = 40
MESSAGE_TRIES = 3
"""What is refused so often, while the memory takes writes, would be refused for ever."""
_GONE = frozenset({"channel_not_found", "is_archived", "not_in_channel", "thread_not_found"})
"""There is nothing to read any more, or nobody who waits for us."""


@dataclass(frozen=True, slots=True)
class Installed:
    """The workspace, and the bot's user there."""

    team: str
    me: Me


Hear = Callable[[Body], Awaitable[bool]]
"""Takes in an event as if Slack had sent it; False where it could not be kept."""


@dataclass(frozen=True)
class Sources:
    """Where messages are read, and where reports are posted."""

    history: History
    incidents: Incidents
    turns: Turns
    message_poster: Poster
    channels: Channels
    installed: Callable[[], Awaitable[Installed]]
    hear: Hear
    metrics: Metrics
    writable: Callable[[], Awaitable[object]]
    """Raises StoreAway where the memory takes no writes."""


@dataclass(frozen=True, slots=True)
class _MissedMessages:
    """The messages of one channel or thread."""

    channel: Channel
    said: Read[Body]
    thread_ts: str = ""


class Reading:
    """Keeps its progress over several attempts: a channel is read once; a failing one does not delay the others."""

    def __init__(self, gap: Gap, at: Sources) -> None:
        self._gap, self._at = gap, at
        self._since = max(gap.since, gap.until - message_reader.OLDEST.total_seconds())
        self._done: set[str] = set()
        self._refused: Counter[str] = Counter()
        self.left: list[str] = []
        """The channels that are still to be read, by name."""

    async def go(self) -> None:
        """Raises StoreAway or CallFailed if another attempt is needed."""
        to = await self._at.installed()
        if not to.team:
            raise CallFailed("Slack does not say who the bot is")
        channels = await self._at.history.channels()
        if channels.cut:
            self._unread("channels", f"the bot is in more than {MOST_CHANNELS} channels: the others are not read")
        self.left = [channel.name for channel in channels.found if channel.id not in self._done]
        failed: CallFailed | None = None
        for channel in (channel for channel in channels.found if channel.id not in self._done):
            try:
                if not await self._channel(to, channel):
                    continue
            except CallFailed as lost:
                failed = lost
                log.warning("#%s cannot be read yet: %s", channel.name, lost)
                continue
            self._done.add(channel.id)
            self.left.remove(channel.name)
        if self.left:
            raise failed or StoreAway("a message could not be kept")

    async def _channel(self, to: Installed, channel: Channel) -> bool:
        """Whether the channel is done."""
        history, gap = self._at.history, self._gap
        said = await self._readable(channel, history.said(channel.id, self._since, gap.until))
        whole = await self._heard(to, _MissedMessages(channel, said))
        began = [
            Address(channel=channel.id, thread_ts=str(item["ts"])) for item in said.found if item.get("reply_count")
        ]
        for spot in dict.fromkeys([*await self._open_threads(to.team, channel), *began]):
            replies = await self._readable(channel, history.replies(spot, self._since, gap.until))
            whole = await self._heard(to, _MissedMessages(channel, replies, spot.thread_ts)) and whole
        return whole

    async def _open_threads(self, team: str, channel: Channel) -> list[Address]:
        """Where an incident is spoken of that is not over, the latest first."""
        found = await self._at.incidents.open_threads(team, channel.id)
        if len(found) > MOST_THREADS:
            self._unread("threads", f"#{channel.name}: {len(found) - MOST_THREADS} threads of open incidents")
        return found[:MOST_THREADS]

    async def _readable(self, channel: Channel, asked: Awaitable[Read[Body]]) -> Read[Body]:
        """None if the bot may not read there or the thread is gone."""
        try:
            return await asked
        except Refused as refused:
            if refused.error == "ratelimited":
                raise
            if refused.error not in _GONE:
                self._unread("refused", f"#{channel.name}: {refused}")
            return Read([])

    async def _heard(self, to: Installed, spoken: _MissedMessages) -> bool:
        edge = self._gap.until - ANSWERED.total_seconds()
        whole, unread = True, False
        for message in spoken.said.found:
            if float(message["ts"]) < edge:
                unread = unread or await self._is_unread(to, spoken.channel, message)
            else:
                whole = await self._taken_in(to, spoken, message) and whole
        await self._tell_cut(to, spoken, unread)
        return whole

    async def _tell_cut(self, to: Installed, spoken: _MissedMessages, unread: bool) -> None:
        """Report that the beginning (of a long thread: the end) was not read."""
        since, until, text = self._gap.deaf_since, self._gap.until, spoken.said
        edge = until - ANSWERED.total_seconds()
        if text.cut and spoken.thread_ts:
            self._unread("messages", f"#{spoken.channel.name}: the end of a long thread")
            await self._tell(to, spoken, "cut", gaps_text.cut_off(since, until))
        elif text.cut:
            self._unread("messages", f"#{spoken.channel.name}: more messages than are read")
            edge = max([edge, *(float(message["ts"]) for message in text.found[:1])])
        if unread or (text.cut and not spoken.thread_ts):
            await self._tell(to, spoken, "not-read", gaps_text.not_read(since, until, edge))

    async def _taken_in(self, to: Installed, spoken: _MissedMessages, message: Body) -> bool:
        """Whether nothing is left to do: the message was handled, or it cannot be and that was reported."""
        name = f"{spoken.channel.id} {message['ts']}"
        if self._refused[name] >= MESSAGE_TRIES or all(
            [await self._hear(event) for event in events_of(to, spoken, message)]
        ):
            return True
        await self._at.writable()  # The store is away: that is the reason, and another attempt may work.
        self._refused[name] += 1
        if self._refused[name] < MESSAGE_TRIES:
            return False
        self._unread("message", f"#{spoken.channel.name}: the message {message['ts']} is refused again and again")
        await self._tell(to, spoken, f"not-taken-{message['ts']}", gaps_text.not_taken_in(float(message["ts"])))
        return True

    async def _hear(self, event: Body) -> bool:
        try:
            return await self._at.hear(event)
        except (StoreAway, CallFailed):
            raise
        except Exception:
            # The edge: one malformed message must not cost the others.
            log.exception("a message of the history could not be processed")
            return False

    async def _tell(self, to: Installed, spoken: _MissedMessages, part: str, text: str) -> None:
        place = Address(to.team, spoken.channel.id, thread_ts=spoken.thread_ts)
        # Connections and processes that were lost together each tell of their own gap, seconds apart.
        where = Reply(f"gap-{int(self._gap.until // ANSWERED.total_seconds())}", place, datetime.now(UTC))
        try:
            await self._at.message_poster.once(where, f"{part}-{spoken.channel.id}-{spoken.thread_ts}", Message(text))
        except Refused as refused:
            self._unread("unsaid", f"#{spoken.channel.name}: nothing can be posted there ({refused})")

    async def _is_unread(self, to: Installed, channel: Channel, message: Body) -> bool:
        """Whether it should have been read (the bot reads along there, or was mentioned), and was not."""
        if float(message["ts"]) < self._gap.deaf_since:
            return False  # Another connection existed; Slack repeats there what was not acknowledged.
        body = event_of(to, channel, message)
        read = await message_reader.read_aside(body, to.me, 0.0)
        if read is message_reader.Ignored.TO_US:
            return not await self._at.turns.knows(message_reader.mention(body))
        reads = self._at.channels.reads_everything or self._at.channels.reads(channel.name)
        if not reads or isinstance(read, message_reader.Ignored):
            return False
        return not await self._at.turns.knows(message_reader.original(read))

    def _unread(self, why: str, what: str) -> None:
        self._at.metrics.unread.labels(why).inc()
        log.warning("not read after a gap in the connection to Slack: %s", what)


def events_of(to: Installed, spoken: _MissedMessages, message: Body) -> list[Body]:
    """The events as Slack would have sent them: a mention comes as two events."""
    body = event_of(to, spoken.channel, message)
    mention = f"<@{to.me.user}>"
    if mention not in str(message.get("text") or ""):
        return [body]
    event = {name: value for name, value in body["event"].items() if name not in ("channel_type", "subtype")}
    return [body, {**body, "event_id": f"{body['event_id']}-mention", "event": {**event, "type": "app_mention"}}]


def event_of(to: Installed, channel: Channel, message: Body) -> Body:
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
