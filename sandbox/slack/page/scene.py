"""The view model of the page: everything one person currently sees."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from sandbox.slack.control import Control
from sandbox.slack.message import Message
from sandbox.slack.page.look import Face, Look, clock_time, day, long_time
from sandbox.slack.workspace import Channel, Person, Workspace

_TOGETHER_S = 300
"""Messages of one author within five minutes are grouped under one name."""


@dataclass
class Line:
    """One displayed message."""

    message: Message
    face: Face
    time: str
    long_time: str
    day: str = ""
    """The date heading, if this message starts a new day."""
    follows: bool = False
    """Whether the author is already shown above; the first reply of a thread always shows its author."""
    replies: int = 0
    last_reply: str = ""
    repliers: list[Face] = field(default_factory=list)

    @property
    def version(self) -> str:
        return f"{self.message.version}.{self.replies}.{int(self.follows)}.{self.day}"


@dataclass
class Entry:
    """A channel in the sidebar."""

    channel: Channel
    name: str
    unread: int = 0
    mentions: int = 0
    member: bool = True


class Reading:
    """Read markers by person."""

    def __init__(self) -> None:
        self._until: dict[tuple[str, str, str], Decimal] = {}

    def mark(self, team: Workspace, person: Person, channel: Channel) -> None:
        if channel.messages:
            self._until[team.id, person.id, channel.id] = Decimal(channel.messages[-1].ts)

    def unread(self, team: Workspace, person: Person, channel: Channel) -> list[Message]:
        since = self._until.get((team.id, person.id, channel.id), Decimal(0))
        mine = (
            message
            for message in channel.messages
            if message.only_for in (None, person.id) and message.user != person.id
        )
        return [
            message for message in mine if Decimal(message.ts) > since and (not message.is_reply or message.broadcast)
        ]


@dataclass
class Scene:
    """The page as seen by one person in one channel, thread or view."""

    control: Control
    person: Person
    reading: Reading
    channel: Channel | None = None
    thread_ts: str | None = None
    home: bool = False

    @property
    def team(self) -> Workspace:
        return self.control.team

    @property
    def look(self) -> Look:
        return Look(self.team)

    @property
    def base(self) -> str:
        return f"/w/{self.team.domain}/{self.person.name}"

    @property
    def place(self) -> str:
        """The URL of the current view, without a thread."""
        if self.home or self.channel is None:
            return f"{self.base}/home" if self.home else self.base
        return f"{self.base}/c/{self.channel.id}"

    def persons(self) -> list[Person]:
        return [person for person in self.team.people if not person.deleted]

    def entries(self) -> list[Entry]:
        shown = [
            channel
            for channel in self.team.channels
            if channel.kind != "im" and self.control.may_see(self.person.id, channel)
        ]
        return [self._entry(channel) for channel in shown if not channel.archived or channel is self.channel]

    def direct(self) -> Entry:
        return self._entry(self.team.direct(self.person.id))

    def _entry(self, channel: Channel) -> Entry:
        member = self.person.id in channel.members
        unread = self.reading.unread(self.team, self.person, channel) if member else []
        called = [
            message
            for message in unread
            if f"<@{self.person.id}>" in message.text or message.only_for or channel.kind == "im"
        ]
        name = self.look.place(channel, self.person.id)
        return Entry(channel, name, len(unread), len(called), member)

    @property
    def member(self) -> bool:
        return self.channel is not None and self.person.id in self.channel.members

    # -- messages ---------------------------------------------------------------------------------------------

    def lines(self) -> list[Line]:
        """The messages of the channel."""
        if self.channel is None:
            return []
        mine = [message for message in self.channel.messages if message.only_for in (None, self.person.id)]
        return self._drawn([message for message in mine if not message.is_reply or message.broadcast])

    def thread(self) -> list[Line]:
        """The messages of the open thread, including this person's ephemeral ones."""
        if self.channel is None or self.thread_ts is None:
            return []
        ts = self.thread_ts
        mine = [message for message in self.channel.messages if message.only_for in (None, self.person.id)]
        return self._drawn([message for message in mine if ts in (message.ts, message.thread_ts)], counting=False)

    def _drawn(self, messages: list[Message], *, counting: bool = True) -> list[Line]:
        lines: list[Line] = []
        now = self.control.site.clock.now()
        for message in messages:
            line = Line(message, self.look.author(message), clock_time(message.ts), long_time(message.ts))
            before = lines[-1].message if lines else None
            today = day(message.ts, now)
            if counting and (before is None or day(before.ts, now) != today):
                line.day = today
            elif before is not None and before.ts != message.thread_ts and _together(before, message):
                line.follows = lines[-1].face == line.face
            if counting:
                self._count(line)
            lines.append(line)
        return lines

    def _count(self, line: Line) -> None:
        if self.channel is None or line.message.only_for or line.message.is_reply:
            return
        replies = [message for message in self.channel.thread(line.message.ts) if message.is_reply]
        if replies:
            line.replies, line.last_reply = len(replies), clock_time(replies[-1].ts)
            people = dict.fromkeys(self.look.author(reply) for reply in replies)
            line.repliers = list(people)[:4]


def _together(before: Message, after: Message) -> bool:
    near = Decimal(after.ts) - Decimal(before.ts) < _TOGETHER_S
    return near and bool(before.only_for) == bool(after.only_for) and not after.broadcast
