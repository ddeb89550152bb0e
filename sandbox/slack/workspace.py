"""A workspace: its people, user groups, channels and messages."""

from __future__ import annotations

import hashlib
from base64 import b32encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from sandbox.slack.blocks.layout import PLAN_BLOCKS
from sandbox.slack.message import Message

Guest = Literal["", "multi-channel", "single-channel"]
ChannelKind = Literal["public", "private", "im"]


def make_id(prefix: str, *parts: str) -> str:
    """A deterministic id that looks like Slack's."""
    digest = hashlib.sha256("/".join(parts).encode()).digest()
    return prefix + b32encode(digest).decode()[: 11 - len(prefix)]


@dataclass
class Person:
    """A user: a member, a guest, or an external user in a shared channel."""

    name: str
    id: str = ""
    title: str = ""
    """The job title shown next to the name."""
    email: str = ""
    guest: Guest = ""
    home_team: str = ""
    """The home workspace of an external user in a shared channel; empty for this workspace's own members."""
    deleted: bool = False
    is_bot: bool = False


@dataclass
class Group:
    """A user group that can be mentioned."""

    handle: str
    members: list[str]
    id: str = ""
    name: str = ""


@dataclass
class Channel:
    """A channel or direct message. Members are ids; names are replaced by ids when the workspace is built."""

    name: str
    members: list[str] = field(default_factory=list)
    kind: ChannelKind = "public"
    id: str = ""
    topic: str = ""
    archived: bool = False
    shared_with: str = ""
    """The other workspace of a Slack Connect channel."""
    sharing_pending: bool = False
    """Another workspace has been invited, and has not accepted yet."""
    messages: list[Message] = field(default_factory=list)

    def find(self, ts: str) -> Message | None:
        return next((message for message in self.messages if message.ts == ts and message.only_for is None), None)

    def thread(self, ts: str) -> list[Message]:
        """The message and its replies, oldest first."""
        return [
            message for message in self.messages if message.only_for is None and ts in (message.ts, message.thread_ts)
        ]

    def top(self) -> list[Message]:
        """The top-level messages of the channel."""
        return [
            message
            for message in self.messages
            if message.only_for is None and (not message.is_reply or message.broadcast)
        ]


@dataclass
class Workspace:
    """One team, in which the app is installed."""

    name: str
    people: list[Person]
    channels: list[Channel]
    groups: list[Group] = field(default_factory=list)
    id: str = ""
    domain: str = ""
    features: frozenset[str] = frozenset({PLAN_BLOCKS})
    """Optional features enabled in this workspace."""
    bot: Person = field(default_factory=lambda: Person("aksbot", is_bot=True))

    def __post_init__(self) -> None:
        self.domain = self.domain or self.name.lower().replace(" ", "-")
        self.id = self.id or make_id("T", self.domain)
        for person in (*self.people, self.bot):
            person.id = person.id or make_id("U", self.domain, person.name)
            person.email = person.email or ("" if person.is_bot else f"{person.name}@{self.domain}.example")
        for group in self.groups:
            group.id = group.id or make_id("S", self.domain, group.handle)
            group.members = self._ids(group.members)
        for channel in self.channels:
            channel.id = channel.id or make_id("C", self.domain, channel.name)
            channel.members = self._ids(channel.members)

    def _ids(self, names: Iterable[str]) -> list[str]:
        return [self.person(name).id for name in names]

    # -- lookup -----------------------------------------------------------------------------------------------

    def everybody(self) -> Iterator[Person]:
        yield from self.people
        yield self.bot

    def person(self, who: str) -> Person:
        """Find a person by id or name."""
        for member in self.everybody():
            if who in (member.id, member.name):
                return member
        known = ", ".join(person.name for person in self.everybody())
        raise LookupError(f"nobody called {who!r} in {self.name}; there are {known}")

    def find_person(self, user_id: str) -> Person | None:
        return next((person for person in self.everybody() if person.id == user_id), None)

    def channel(self, where: str) -> Channel:
        """Find a channel by id, or by name with or without `#`."""
        found = self.find_channel(where) or self.find_channel(where.lstrip("#"), by_name=True)
        if found is None:
            known = ", ".join(channel.name for channel in self.channels)
            raise LookupError(f"no channel {where!r} in {self.name}; there are {known}")
        return found

    def find_channel(self, channel_id: str, *, by_name: bool = False) -> Channel | None:
        return next(
            (channel for channel in self.channels if channel_id == (channel.name if by_name else channel.id)), None
        )

    def direct(self, user_id: str) -> Channel:
        """The direct message channel between the app and a person, created on first use."""
        identity = make_id("D", self.domain, user_id)
        found = self.find_channel(identity)
        if found is None:
            found = Channel(name="", kind="im", id=identity, members=[user_id, self.bot.id])
            self.channels.append(found)
        return found

    def has_bot(self, channel: Channel) -> bool:
        return self.bot.id in channel.members
