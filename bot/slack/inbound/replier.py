"""Answers what is asked besides checks, where it was asked, or so that only the one who asked sees it."""

from __future__ import annotations

from bot.queue.retry import CannotTell
from bot.slack.api.calls import CallFailed, Refused
from bot.slack.api.poster import NO_PLACE, Poster
from bot.slack.inbound.asks import Ask
from bot.slack.inbound.outside import Outside
from bot.slack.kit.message import AnswerMessages, Message

_CANNOT_WHISPER = NO_PLACE | {"user_not_in_channel", "channel_is_archived"}


class Replier:
    """Raises CannotTell."""

    def __init__(self, message_poster: Poster, outside: Outside) -> None:
        self._message_poster, self._outside = message_poster, outside

    async def reply(self, ask: Ask, said: Message, part: str = "reply") -> None:
        await self.say(ask, AnswerMessages(said, ()), part)

    async def say(self, ask: Ask, said: AnswerMessages, part: str) -> None:
        """In the thread where it was asked; to the one who asked, where there is no thread, no place for us, or where
        someone reads along who may not look."""
        alone = not ask.place.thread_ts and ask.place.response_url
        if alone or await self._outside.covers(ask.place):
            await self.privately(ask, said)
            return
        await self.openly(ask, said, part)

    async def in_channel(self, ask: Ask, said: AnswerMessages, part: str) -> None:
        """Where everybody sees it; only to the one who asked, where somebody reads along who may not look."""
        if await self._outside.covers(ask.place):
            await self.privately(ask, said)
        else:
            await self.openly(ask, said, part)

    async def openly(self, ask: Ask, said: AnswerMessages, part: str) -> None:
        """Where everybody sees it; only to the one who asked, where we are not."""
        try:
            try:
                head, _ = await self._message_poster.once(ask.where, part, said.head)
                await self._message_poster.in_thread(ask.where, head, said, part)
                await self._message_poster.pictures(ask.where, head, said.pictures)
            except Refused as refused:
                if refused.error not in NO_PLACE:
                    raise
                await self._message_poster.elsewhere(ask.where, said, refused.error)
        except CallFailed as failed:
            raise CannotTell(str(failed)) from failed

    async def privately(self, ask: Ask, said: AnswerMessages) -> None:
        """Only to the one who asked, wherever that was."""
        place = ask.place
        if not place.response_url and place.channel.startswith(("D", "U", "W")):
            await self.openly(ask, said, "reply")  # nobody else is there
            return
        try:
            if place.response_url:
                await self._message_poster.elsewhere(ask.where, said, "")
                return
            try:
                await self._message_poster.whisper(ask.where, (said.head, *said.thread))
            except Refused as refused:
                if refused.error not in _CANNOT_WHISPER:
                    raise
                await self._message_poster.elsewhere(ask.where, said, refused.error)
        except CallFailed as failed:
            raise CannotTell(str(failed)) from failed
