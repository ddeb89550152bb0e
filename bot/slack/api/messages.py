"""How messages get into Slack: paced, marked with their job, and as plain text where a workspace refuses blocks."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from bot.address import Address
from bot.redaction import redacted
from bot.render.packet.archive import Archive
from bot.render.pictures.picture import Picture
from bot.slack.api import outgoing
from bot.slack.api.calls import LONGEST_WAIT_S, Body, Calls, Refused
from bot.slack.api.pace import Pace
from bot.slack.kit import escaping, limits, sentences
from bot.slack.kit.message import Attachment, Message, context, section
from bot.slack.kit.rich_text import entity_of

log = logging.getLogger(__name__)

EVENT_TYPE = "aksbot_job"
BLOCKS_REFUSED = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long"})
WORTH_SAYING_S = 5.0
"""A shorter delay nobody notices."""
_CHANNEL_BURST = 3
_PAGES = 5
_CLOCKS_DIFFER = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Mark:
    """Which part of which job's answer a message is."""

    job: str
    part: str

    def metadata(self) -> Body:
        return {"event_type": EVENT_TYPE, "event_payload": {"job": self.job, "part": self.part}}

    def is_on(self, message: Mapping[str, Any]) -> bool:
        found = message.get("metadata") or {}
        payload = found.get("event_payload") or {}
        return found.get("event_type") == EVENT_TYPE and (payload.get("job"), payload.get("part")) == (
            self.job,
            self.part,
        )


class SlackMessages:
    """What the bot can do with messages. Raises CallFailed."""

    def __init__(self, calls: Calls) -> None:
        self._calls, self._client = calls, calls.client
        self._channels = Pace(_CHANNEL_BURST, 60)

    async def post(self, to: Address, message: Message, mark: Mark, *, fallback: bool = True) -> Address:
        """Say something in a channel or a thread, or to a person by their id. Without `fallback`, refused blocks are
        the caller's matter."""
        await self._channels.of(to.channel).take()

        async def ask(waited_s: float, said: Message) -> Any:
            content = _content(_with_delay(said, waited_s))
            where: Body = {"channel": to.channel, "thread_ts": to.thread_ts or None, "metadata": mark.metadata()}
            return await self._client.chat_postMessage(**where, **content, unfurl_links=False, unfurl_media=False)

        answer = await self._said("chat.postMessage", ask, message, fallback=fallback)
        return Address(channel=str(answer["channel"]), message_ts=str(answer["ts"]))

    async def change(
        self,
        posted: Address,
        message: Message,
        mark: Mark,
        *,
        fallback: bool = True,
        longest_wait_s: float = LONGEST_WAIT_S,
    ) -> None:
        """Put other words into a message of ours. Without `fallback`, refused blocks are the caller's matter."""

        async def ask(waited_s: float, said: Message) -> Any:
            where: Body = {"channel": posted.channel, "ts": posted.message_ts, "metadata": mark.metadata()}
            return await self._client.chat_update(**where, **_content(_with_delay(said, waited_s), change=True))

        await self._said("chat.update", ask, message, fallback=fallback, longest_wait_s=longest_wait_s)

    async def take_back(self, posted: Address) -> None:
        """Delete a message of ours."""

        async def ask(waited_s: float) -> Any:
            return await self._client.chat_delete(channel=posted.channel, ts=posted.message_ts)

        await self._calls.read("chat.delete", ask)

    async def respond(self, url: str, message: Message) -> None:
        """Say it to the one person who asked; nothing else works where the bot is not a member."""
        try:
            await self._calls.respond(url, lambda waited_s: _private(_with_delay(message, waited_s)))
        except Refused as refused:
            if refused.error not in BLOCKS_REFUSED:
                raise
            log.warning("blocks were refused and go out as text: %s", refused)
            await self._calls.respond(url, lambda waited_s: _private(_with_delay(as_text(message), waited_s)))

    async def upload(self, to: Address, file: Attachment | Archive) -> None:
        """Add a file to a thread."""
        name, content = await _redacted(file)

        async def ask(waited_s: float) -> Any:
            return await self._client.files_upload_v2(
                content=content, filename=name, title=name, channel=to.channel, thread_ts=to.thread_ts
            )

        await self._calls.do("files.upload", ask)

    async def upload_picture(self, picture: Picture, png: bytes, to: Address | None = None) -> str:
        """Give Slack a picture, and get its id. Without a place nobody sees it before a block shows it."""

        async def ask(waited_s: float) -> Any:
            return await self._client.files_upload_v2(
                content=png,
                filename=picture.name,
                title=picture.name,
                alt_txt=escaping.cut(picture.alt, limits.FILE_ALT_TEXT),
                channel=to.channel if to else None,
                thread_ts=to.thread_ts or None if to else None,
            )

        answer = await self._calls.do("files.upload", ask)
        return str(answer["files"][0]["id"])

    async def upload_recording(self, to: Address, name: str, content: bytes) -> None:
        """Add a recording (`bot.checks.recording`): its answers were redacted as they were read."""
        name = str(redacted(name))

        async def ask(waited_s: float) -> Any:
            return await self._client.files_upload_v2(content=content, filename=name, title=name, channel=to.channel)

        await self._calls.do("files.upload", ask)

    async def is_processed(self, file_id: str) -> bool:
        """Whether a block may show it: Slack takes files apart after the upload, and knows their type only then."""

        async def ask(waited_s: float) -> Any:
            return await self._client.files_info(file=file_id)

        answer = await self._calls.read("files.info", ask)
        return str((answer.get("file") or {}).get("mimetype") or "").startswith("image/")

    async def find(self, to: Address, mark: Mark, since: datetime) -> Address | None:
        """The message with this mark, if it stands there."""
        async for item in self._read(to, since):
            if mark.is_on(item):
                return Address(channel=to.channel, message_ts=str(item["ts"]))
        return None

    async def has_file(self, to: Address, name: str, since: datetime) -> bool:
        """Whether a file of that name is in the thread since then."""
        return any(
            [file.get("name") == name async for message in self._read(to, since) for file in message.get("files") or ()]
        )

    async def open_view(self, trigger_id: str, view: Body) -> str:
        """Open a window; its id is for whoever fills it."""

        async def ask(waited_s: float) -> Any:
            return await self._client.views_open(trigger_id=trigger_id, view=outgoing.view(view))

        answer = await self._calls.do("views.open", ask, longest_wait_s=limits.TRIGGER_LIVES_S / 3)
        return str(answer["view"]["id"])

    async def fill_view(self, view_id: str, view: Body) -> None:
        """Put this into a window; as text, where its blocks are refused."""

        def ask(shown: Body) -> Any:
            return lambda waited_s: self._client.views_update(view_id=view_id, view=outgoing.view(shown))

        try:
            await self._calls.read("views.update", ask(view))
        except Refused as refused:
            if refused.error not in BLOCKS_REFUSED | {"invalid_arguments"}:
                raise
            log.warning("blocks were refused and go out as text: %s", refused)
            said = section(as_text(Message("", tuple(view["blocks"]))).text)
            await self._calls.read("views.update", ask({**view, "blocks": [said]}))

    async def show_home(self, user: str, view: Body) -> None:
        """Put it into this person's App Home."""

        async def ask(waited_s: float) -> Any:
            return await self._client.views_publish(user_id=user, view=outgoing.view(view))

        await self._calls.read("views.publish", ask)

    async def whisper(self, to: Address, message: Message) -> None:
        """Say something in a channel that only one person there sees."""

        async def ask(waited_s: float, said: Message) -> Any:
            where: Body = {"channel": to.channel, "user": to.user, "thread_ts": to.thread_ts or None}
            return await self._client.chat_postEphemeral(**where, **_content(_with_delay(said, waited_s)))

        await self._said("chat.postEphemeral", ask, message)

    async def join(self, channel: str) -> None:
        async def ask(waited_s: float) -> Any:
            return await self._client.conversations_join(channel=channel)

        await self._calls.read("conversations.join", ask)

    async def _read(self, to: Address, since: datetime) -> Any:
        """Messages since then; nothing where the bot may not read, which is said in the log."""
        where: Body = {
            "channel": to.channel,
            "oldest": f"{(since - _CLOCKS_DIFFER).timestamp():.6f}",
            "limit": 200,
            "include_all_metadata": True,
        }
        method = "conversations.replies" if to.thread_ts else "conversations.history"
        for _ in range(_PAGES):

            async def ask(waited_s: float) -> Any:
                if to.thread_ts:
                    return await self._client.conversations_replies(**where, ts=to.thread_ts)
                return await self._client.conversations_history(**where)

            try:
                answer = await self._calls.read(method, ask)
            except Refused as refused:
                log.warning("cannot look whether a message stands: %s", refused)
                return
            for message in answer.get("messages", ()):
                yield message
            where["cursor"] = (answer.get("response_metadata") or {}).get("next_cursor")
            if not where["cursor"]:
                return

    async def _said(
        self,
        method: str,
        ask: Any,
        message: Message,
        *,
        fallback: bool = True,
        longest_wait_s: float = LONGEST_WAIT_S,
    ) -> Body:
        try:
            return await self._calls.do(method, lambda waited_s: ask(waited_s, message), longest_wait_s=longest_wait_s)
        except Refused as refused:
            if refused.error not in BLOCKS_REFUSED or not message.blocks or not fallback:
                raise
            log.warning("blocks were refused and go out as text: %s", refused)
            return await self._calls.do(
                method, lambda waited_s: ask(waited_s, as_text(message)), longest_wait_s=longest_wait_s
            )


def as_text(message: Message) -> Message:
    """The same without blocks."""
    spoken = "\n".join(filter(None, (_spoken(block) for block in message.blocks)))
    return Message(escaping.fits(spoken or message.text, limits.MESSAGE_TEXT))


def _spoken(element: Any) -> str:
    """What a reader sees of a block, as mrkdwn: our own mrkdwn stays, everything else is escaped."""
    if isinstance(element, list):
        return "".join(map(_spoken, element))
    if not isinstance(element, dict) or element.get("type") == "actions":
        return ""
    entity = entity_of(element)
    if entity is not None:
        return entity
    own = element.get("text")
    if isinstance(own, str):
        return own if element.get("type") == "mrkdwn" else escaping.escape(own)
    inner = own if isinstance(own, dict) else element.get("elements")
    said = _spoken(inner)
    return f"{said}\n" if element.get("type", "").startswith("rich_text_") else said


def _with_delay(message: Message, waited_s: float) -> Message:
    if waited_s < WORTH_SAYING_S:
        return message
    said = sentences.delayed(waited_s)
    if not message.blocks:
        return Message(escaping.fits(f"{message.text}\n{said}", limits.MESSAGE_TEXT))
    if len(message.blocks) >= limits.BLOCKS_IN_MESSAGE:
        return message
    return Message(message.text, (*message.blocks, context(said)))


def _content(message: Message, *, change: bool = False) -> Body:
    shown = outgoing.message(message)
    content: Body = {"text": shown.text, "parse": "none", "link_names": False}
    # An empty list takes blocks away that stand there.
    return content | ({"blocks": list(shown.blocks)} if shown.blocks or change else {})


def _private(message: Message) -> Body:
    return {"response_type": "ephemeral", "replace_original": False, **_content(message)}


async def _redacted(file: Attachment | Archive) -> tuple[str, str | bytes]:
    """Its name and its content, as they may go out."""
    if isinstance(file, Archive):
        return await outgoing.archive(file)
    shown = await outgoing.file(file)
    return shown.name, shown.text
