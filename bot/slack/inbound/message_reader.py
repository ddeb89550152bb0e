"""What is said in channels, read: what counts as said, by whom, and what is none of our business. Pure."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from hashlib import sha256
from typing import Any

from bot.address import Address
from bot.redaction import is_long
from bot.slack.api.attachments import Attached, attached, others
from bot.slack.inbound import payloads
from bot.triage.reading import read_message
from handlers.clients.redact import redact_text
from runbooks.linear import compile_linear

Body = dict[str, Any]

OLDEST = timedelta(hours=12)
"""Shorter than a message is known as heard, so that nothing is answered twice; Slack repeats itself for hours."""

_SPOKEN = frozenset({None, "bot_message", "file_share", "me_message", "thread_broadcast"})
_MOST_TEXT = 60_000
"""Characters read of a message, its blocks and attachments together: somebody may paste 10 MB."""
TO_US = "to us"
"""In place of an edit's moment: what is said to the bot itself stands for itself, too."""
_STOP = compile_linear(
    r"^\W*(?:aksbot\W+)?(?:please\W+)?(?:stop|be quiet|quiet|shut up|silence)(?:\W+(?:please|it))?\W*$",
    ignore_case=True,
)
_MENTION = compile_linear(r"<@([A-Z0-9]+)(?:\|[^>]*)?>")


class Ignored(Enum):
    """Why a message event is not listened to."""

    NO_CHANNEL = "it was not said in a channel"
    NOT_SAID = "nobody said anything: a join, a topic, a deletion"
    NO_NEW_TEXT = "an edit or an unfurl without new words"
    OWN = "we said it"
    TO_US = "it mentions us, and is answered as a mention"
    OLD = "it is too old"
    EMPTY = "it has no text"


@dataclass(frozen=True, slots=True)
class Me:
    """Who the bot is in this workspace."""

    user: str
    bot: str
    app: str


@dataclass(frozen=True, slots=True)
class Utterance:
    """One message, as it waits for its turn to close."""

    team: str
    channel: str
    ts: str
    text: str
    user: str = ""
    app: str = ""
    """Another bot's app; empty where a person speaks."""
    app_name: str = ""
    thread_ts: str | None = None
    stranger: bool = False
    edited: str = ""
    files: tuple[Attached, ...] = ()
    """Text files that can be fetched; what Slack shows of them is in the text."""

    @property
    def spot(self) -> Address:
        return Address(channel=self.channel, thread_ts=self.thread_ts or self.ts)

    @property
    def id(self) -> str:
        """The same for a message and its edits."""
        return _short(self.team, self.channel, self.ts)

    @property
    def turn(self) -> str:
        """What a turn is called that this message begins."""
        return _short(self.team, self.channel, self.ts, self.edited)

    @property
    def of(self) -> tuple[str, str, str]:
        """Whose turn it belongs to. A card of an app is complete in itself."""
        return (
            self.of_person if self.joins_consecutive_messages else (self.team, self.channel, f"{self.app}{self.turn}")
        )

    @property
    def of_person(self) -> tuple[str, str, str]:
        """The turn of whoever speaks here."""
        return self.team, self.channel, f"{self.thread_ts or ''} {self.user}"

    @property
    def joins_consecutive_messages(self) -> bool:
        """Whether more may follow that belongs to it."""
        return not (self.app or self.edited)

    @property
    def asks_for_silence(self) -> bool:
        return asks_for_silence(self.text)

    @property
    def to_us(self) -> bool:
        return self.edited == TO_US


def asks_for_silence(text: str) -> bool:
    return len(text) < 60 and bool(_STOP.match(_MENTION.sub("", text)))


async def read_aside(body: Body, me: Me, now: float) -> Utterance | Ignored:
    """What `read` says; a long message is read in a thread, and does not hold up the event loop."""
    return await asyncio.to_thread(read, body, me, now) if is_long(body["event"]) else read(body, me, now)


def read(body: Body, me: Me, now: float) -> Utterance | Ignored:
    """What an event says, or why it is passed over."""
    event = body["event"]
    if event.get("channel_type") not in ("channel", "group"):
        return Ignored.NO_CHANNEL
    message, edited = event, ""
    if event.get("subtype") == "message_changed":
        message = event.get("message") or {}
        edited = str(event.get("ts") or "")
        if _words(message) == _words(event.get("previous_message") or {}):
            return Ignored.NO_NEW_TEXT
    if message.get("subtype") not in _SPOKEN or not message.get("ts"):
        return Ignored.NOT_SAID
    if _is_own(message, me):
        return Ignored.OWN
    if _seconds(str(message["ts"])) < now - OLDEST.total_seconds():
        return Ignored.OLD
    # Its parts were redacted one by one; together they may say more ("Password" in a title, the rest in its value).
    text, files = redact_text(_words(message)), attached(message)
    if not text.strip() and not files:
        return Ignored.EMPTY
    if me.user and me.user in _MENTION.findall(str(message.get("text") or "")[:_MOST_TEXT]):
        return Ignored.TO_US
    app = _app(message)
    profile = message.get("bot_profile") or {}
    thread_ts = message.get("thread_ts")
    return Utterance(
        team=str(body["team_id"]),
        channel=str(event["channel"]),
        ts=str(message["ts"]),
        text=text,
        user="" if app else str(message.get("user") or ""),
        app=app,
        app_name=str(profile.get("name") or message.get("username") or "")[:80],
        thread_ts=str(thread_ts) if thread_ts else None,
        stranger=payloads.is_stranger(body),
        edited=edited,
        files=files,
    )


def names(body: Body, said: Utterance) -> tuple[str, str]:
    """By which a repetition of an event is known: Slack's id of it, and the message itself."""
    return f"event {body.get('event_id') or said.turn}", f"message {said.team} {said.channel} {said.ts} {said.edited}"


def original(said: Utterance) -> str:
    """The name of the message that was changed."""
    return f"message {said.team} {said.channel} {said.ts} "


def mention(body: Body) -> str:
    """The name of a message that mentions us, once it was taken in as a mention."""
    event = body["event"]
    return f"mention {body['team_id']} {event['channel']} {event['ts']}"


def taken_back(body: Body) -> Utterance | None:
    """What is left of a message that somebody has deleted: nothing. One with replies stays as a tombstone."""
    event = body["event"]
    changed = event.get("message") or {}
    if event.get("subtype") == "message_deleted":
        ts = event.get("deleted_ts")
    else:
        ts = changed.get("ts") if changed.get("subtype") == "tombstone" else None
    if not ts or not event.get("channel"):
        return None
    return Utterance(str(body["team_id"]), str(event["channel"]), str(ts), "", edited=str(event.get("ts") or "gone"))


def latest(turn: Sequence[Utterance]) -> list[Utterance]:
    """Each message of a turn as it reads now, in the order they were said, without those that were taken back."""
    versions: dict[str, Utterance] = {}
    for utterance in turn:
        before = versions.get(utterance.ts)
        if before is None or utterance.edited >= before.edited:
            versions[utterance.ts] = utterance
    ordered = sorted(versions.values(), key=lambda utterance: _seconds(utterance.ts))
    return [version for version in ordered if version.text.strip() or version.files]


def _is_own(message: Mapping[str, Any], me: Me) -> bool:
    ours = ((me.user, "user"), (me.bot, "bot_id"), (me.app, "app_id"))
    return any(mine and message.get(name) == mine for mine, name in ours)


def _app(message: Mapping[str, Any]) -> str:
    """Which app speaks; nobody's name is no person's either, so what comes without a user is an app's."""
    if message.get("bot_id") or message.get("subtype") == "bot_message" or not message.get("user"):
        return str(message.get("app_id") or message.get("bot_id") or f"named {message.get('username') or 'nothing'}")
    return ""


def _words(message: Mapping[str, Any]) -> str:
    """What a reader sees of it but for unfurled links, within bounds."""
    shown = {
        "text": message.get("text") or "",
        "blocks": message.get("blocks") or (),
        "attachments": [attachment for attachment in message.get("attachments") or () if not _is_unfurl(attachment)],
        "files": others(message),
    }
    return read_message(_Bounded(_MOST_TEXT).copy(shown))


def _is_unfurl(attachment: Any) -> bool:
    return not isinstance(attachment, dict) or bool(attachment.get("from_url") or attachment.get("is_msg_unfurl"))


class _Bounded:
    """Copies as much of a message as may be read."""

    def __init__(self, room: int) -> None:
        self._room = room

    def copy(self, value: Any, depth: int = 0) -> Any:
        if isinstance(value, str):
            kept = value[: max(self._room, 0)]
            self._room -= len(kept)
            return kept
        self._room -= 1
        if self._room < 0 or depth > 20:
            return "" if not isinstance(value, dict | list | tuple) else type(value)()
        if isinstance(value, dict):
            return {name: self.copy(item, depth + 1) for name, item in list(value.items())[:100]}
        if isinstance(value, list | tuple):
            return [self.copy(item, depth + 1) for item in value[:200]]
        return value


def _seconds(ts: str) -> float:
    try:
        return float(ts)
    except ValueError:
        return 0.0


def _short(*parts: str) -> str:
    return sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:24]
