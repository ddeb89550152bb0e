"""How people, channels and timestamps are displayed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime

from sandbox.slack.interactions import SLACKBOT
from sandbox.slack.message import Message
from sandbox.slack.workspace import Channel, Workspace

HUES = 10


@dataclass(frozen=True)
class Face:
    """The author shown next to a message."""

    name: str
    initials: str
    hue: int
    title: str = ""
    is_app: bool = False


@dataclass(frozen=True)
class Look:
    """Resolves display names in one workspace."""

    team: Workspace

    def user(self, user_id: str) -> str:
        person = self.team.find_person(user_id)
        return person.name if person else "somebody"

    def group(self, group_id: str) -> str:
        return next((group.handle for group in self.team.groups if group.id == group_id), "a group")

    def channel(self, channel_id: str) -> str:
        found = self.team.find_channel(channel_id)
        return found.name if found else "a channel"

    def author(self, message: Message) -> Face:
        if message.user == SLACKBOT:
            return face("Slackbot", is_app=True)
        if message.author:
            return face(message.author, is_app=True)
        return self.face(message.user)

    def face(self, user_id: str) -> Face:
        person = self.team.find_person(user_id)
        if person is None:
            return face("somebody")
        return face(person.name, title=person.title, is_app=person.is_bot)

    def place(self, channel: Channel, user_id: str) -> str:
        """A channel's name as this person sees it; a direct message has the name of the other side."""
        if channel.kind != "im":
            return channel.name
        return self.user(next((user for user in channel.members if user != user_id), user_id))


def face(name: str, *, title: str = "", is_app: bool = False) -> Face:
    words = [word for word in name.replace("-", " ").replace("_", " ").split() if word]
    initials = "".join(word[0] for word in words[:2]).upper() or "?"
    hue = hashlib.sha256(name.encode()).digest()[0] % HUES
    return Face(name, initials, hue, title, is_app)


def moment(ts: str) -> datetime:
    """A message timestamp as a datetime in the machine's time zone."""
    return datetime.fromtimestamp(float(ts), tz=UTC).astimezone()


def clock_time(ts: str) -> str:
    return moment(ts).strftime("%H:%M")


def long_time(ts: str) -> str:
    return moment(ts).strftime("%A, %d %B %Y at %H:%M:%S")


def day(ts: str, now: float) -> str:
    date, today = moment(ts).date(), moment(str(now)).date()
    words = {0: "Today", 1: "Yesterday"}
    return words.get((today - date).days, date.strftime("%A, %d %B"))
