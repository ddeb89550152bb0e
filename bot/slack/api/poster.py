"""Says the parts of a job's answer, each once: announced before, recorded after, looked for when unsure."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from weakref import WeakValueDictionary

from bot.address import Address
from bot.checks.request import CheckRequest
from bot.render.pictures.picture import Picture
from bot.render.pictures.process import Drawing
from bot.slack.api.calls import Refused, Uncertain
from bot.slack.api.messages import Mark, SlackMessages
from bot.slack.api.pictures import Pictures
from bot.slack.kit import sentences
from bot.slack.kit.message import INVITE, AnswerMessages, Message, Pressed, actions, button, context
from bot.store.away import StoreAway
from bot.store.state import Posting, State

log = logging.getLogger(__name__)

NOT_IN_CHANNEL = frozenset({"channel_not_found", "not_in_channel"})
_RESTRICTED = frozenset(
    f"restricted_action{kind}"
    for kind in ("", "_read_only_channel", "_thread_only_channel", "_non_threadable_channel", "_thread_locked")
)
NO_PLACE = NOT_IN_CHANNEL | _RESTRICTED | {"is_archived", "thread_not_found", "messages_tab_disabled"}
"""Here nothing can be said, now or later."""
_GONE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed", "thread_not_found"})
_URL_GONE = frozenset({"used_url", "expired_url", "no_service", "is_archived"})
PICTURE = "picture"
_MOST_PRIVATE = 4
"""Messages over one response URL, which takes five."""


@dataclass(frozen=True, slots=True)
class Reply:
    """Whose answer it is and where it belongs."""

    job: str
    place: Address
    asked_at: datetime

    @classmethod
    def of(cls, request: CheckRequest) -> Reply:
        return cls(request.id, request.place, request.asked_at)


class Poster:
    """Raises CallFailed."""

    def __init__(
        self, slack_messages: SlackMessages, state: State, drawing: Drawing | None = None, *, draws: bool = True
    ) -> None:
        """`draws`: whether the policy wants pictures."""
        self._slack_messages, self._state, self._draws = slack_messages, state, draws
        self._pictures = Pictures(slack_messages, drawing or Drawing())
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def once(self, where: Reply, part: str, message: Message, *, fallback: bool = True) -> tuple[Address, bool]:
        """The message of this part, and whether it says this: one that stood there already may say something else."""
        async with self._locks.setdefault(f"{where.job} {part}", asyncio.Lock()):
            return await self._once(where, part, message, fallback=fallback)

    async def standing(self, where: Reply, part: str) -> Address | None:
        """Where a part stands, as far as anybody knows."""
        with suppress(StoreAway):
            return await self._state.posted(where.job, part)
        return None

    async def _once(self, where: Reply, part: str, message: Message, *, fallback: bool) -> tuple[Address, bool]:
        place = where.place
        known = await self._known(where, part)
        if isinstance(known, Address):
            return known, False
        mark = Mark(where.job, part)
        if known is Posting.UNSURE:
            found = await self._slack_messages.find(place, mark, where.asked_at)
            if found:
                return await self._recorded(where, part, found), False
        try:
            posted = await self._slack_messages.post(place, message, mark, fallback=fallback)
        except Refused:
            with suppress(StoreAway):
                await self._state.not_posted(where.job, part)
            raise
        except Uncertain:
            found = await self._slack_messages.find(place, mark, where.asked_at)
            if found is None:
                raise
            posted = found
        first = await self._recorded(where, part, posted)
        if first != posted:
            # Another process said it at the same moment, and was recorded first.
            await self._slack_messages.take_back(posted)
        return first, first == posted

    async def change_or_repeat(self, where: Reply, posted: Address, part: str, message: Message) -> Address:
        """Other words for a message; where somebody has deleted it, it is said anew."""
        try:
            await self._slack_messages.change(posted, message, Mark(where.job, part))
        except Refused as refused:
            if refused.error not in _GONE:
                raise
            log.info("the message of %s is gone and said anew: %s", where.job, refused)
            again, new = await self.once(where, f"{part}-again", message)
            if not new:
                await self._slack_messages.change(again, message, Mark(where.job, f"{part}-again"))
            return again
        return posted

    async def in_thread(self, where: Reply, head: Address, said: AnswerMessages, name: str = "thread") -> None:
        """What belongs under the head. A head inside a thread has no thread of its own."""
        thread_ts = where.place.thread_ts or head.message_ts
        inside = replace(where, place=replace(where.place, channel=head.channel, thread_ts=thread_ts))
        for number, message in enumerate(said.thread):
            await self.once(inside, f"{name}-{number}", message)
        if said.file and not await self._has_file(inside, said.file.name):
            try:
                await self._slack_messages.upload(inside.place, said.file)
            except Refused as refused:
                log.warning("a file was refused: %s", refused)
                await self.once(inside, f"{name}-file-refused", Message(sentences.file_refused(refused.error)))

    async def pictures(self, where: Reply, head: Address, pictures: Sequence[Picture]) -> None:
        """Drawn and shown under a head whose answer stands. It never raises CallFailed: a picture is an extra."""
        place = replace(where.place, channel=head.channel, thread_ts=where.place.thread_ts or head.message_ts)
        inside = replace(where, place=place)
        for number, picture in enumerate(pictures):
            await self._picture(inside, f"{PICTURE}-{number}" if number else PICTURE, picture)

    async def _picture(self, inside: Reply, part: str, picture: Picture) -> None:
        async def post(message: Message) -> object:
            return await self.once(inside, part, message, fallback=False)

        if self._draws and await self.standing(inside, part) is None:
            await self._pictures.show(inside.place, inside.asked_at, picture, post)

    async def elsewhere(self, where: Reply, said: AnswerMessages, why: str) -> None:
        """Only the person who asked sees it: over the response URL, or in a direct message."""
        all_of_it = [said.head, *said.thread]
        if where.place.response_url:
            private = [_noted(said.head, why, where), *said.thread][:_MOST_PRIVATE]
            left = len(all_of_it) - len(private) + bool(said.file)
            if left:
                last = private[-1]
                private[-1] = Message(last.text, (*last.blocks, context(sentences.rest_elsewhere(left))))
            try:
                await self._respond(where, private)
            except Refused as refused:
                if refused.error not in _URL_GONE:
                    raise
            else:
                return
        direct = replace(where, place=Address(where.place.team, where.place.user, where.place.user))
        intro = context(sentences.answered_elsewhere(where.place.channel, why))
        head, _ = await self.once(direct, "direct", Message(said.head.text, (intro, *said.head.blocks)))
        await self.in_thread(direct, head, said, "direct-thread")

    async def whisper(self, where: Reply, messages: Sequence[Message]) -> None:
        """In the channel, so that only the person who asked sees it."""
        place = where.place
        for number, message in enumerate(messages):
            async with self._unseen(where, f"whisper-{number}") as unsaid:
                if unsaid:
                    await self._slack_messages.whisper(place, message)

    async def _respond(self, where: Reply, messages: Sequence[Message]) -> None:
        for number, message in enumerate(messages):
            async with self._unseen(where, f"private-{number}") as unsaid:
                if unsaid:
                    await self._slack_messages.respond(where.place.response_url, message)

    @asynccontextmanager
    async def _unseen(self, where: Reply, part: str) -> AsyncIterator[bool]:
        """Whether a part is still to be said where nobody can look: it may be said twice there, rather than never."""
        if isinstance(await self._known(where, part), Address):
            yield False
            return
        yield True
        await self._recorded(where, part, Address(channel=where.place.channel, message_ts="private"))

    async def _has_file(self, where: Reply, name: str) -> bool:
        """Files carry no mark: one of that name that came after the question is ours."""
        place = where.place
        if await self._known(where, "file") is Posting.NEW or not place.thread_ts:
            return False
        return await self._slack_messages.has_file(place, name, where.asked_at)

    async def _known(self, where: Reply, part: str) -> Address | Posting:
        try:
            return await self._state.posting(where.job, part, where.asked_at)
        except StoreAway:
            return Posting.UNSURE

    async def _recorded(self, where: Reply, part: str, posted: Address) -> Address:
        try:
            return await self._state.record_posted(where.job, part, posted)
        except StoreAway:
            return posted  # whoever comes next looks


def _noted(message: Message, why: str, where: Reply) -> Message:
    """The head for one person; where it helps, with a way to bring the bot in."""
    if why not in NOT_IN_CHANNEL:
        return message
    invite = actions(button(sentences.INVITE, INVITE, Pressed(where.job, "")))
    return Message(message.text, (*message.blocks, context(sentences.NOT_A_MEMBER), invite))
