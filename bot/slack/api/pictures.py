"""Shows a picture under an answer: as an image where Slack is ready for it, else as a file in the thread, else not."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime

from bot.address import Address
from bot.render.pictures.picture import Picture
from bot.render.pictures.process import Drawing
from bot.slack.api import outgoing
from bot.slack.api.calls import CallFailed, Refused
from bot.slack.api.messages import BLOCKS_REFUSED, SlackMessages
from bot.slack.kit import escaping, limits
from bot.slack.kit.message import Message, image

log = logging.getLogger(__name__)

LOOK_AGAIN_S = (0.2, 0.3, 0.5, 1.0, 1.0, 2.0)
"""Slack needs a moment for an uploaded file, a second as a rule; after five it is shared as a file."""

Post = Callable[[Message], Awaitable[object]]
"""Says the message with the image, once, and raises CallFailed."""


def picture_message(file_id: str, alt: str) -> Message:
    """A picture that Slack holds, as a message; its words are the notification, too."""
    return Message(escaping.fits(escaping.escape(alt), limits.MESSAGE_TEXT), (image(file_id, alt),))


class Pictures:
    """A picture is an extra: whatever goes wrong with one is in the log, and the answer stands without it."""

    def __init__(self, slack_messages: SlackMessages, drawing: Drawing) -> None:
        self._slack_messages, self._drawing = slack_messages, drawing

    async def show(self, place: Address, asked_at: datetime, picture: Picture, post: Post) -> None:
        """Draw it, and show it in the thread of this place."""
        clean = outgoing.picture(picture)
        png = await self._drawing.png(clean.chart)
        if png is None:
            return
        try:
            if not await self._as_image(clean, png, post):
                await self._as_file(place, asked_at, clean, png)
        except CallFailed as failed:
            log.warning("a picture was not shown: %s", failed)

    async def _as_image(self, picture: Picture, png: bytes, post: Post) -> bool:
        """Whether Slack took it as a part of a message."""
        file_id = await self._slack_messages.upload_picture(picture, png)
        if not await self._processed(file_id):
            return False
        try:
            await post(picture_message(file_id, picture.alt))
        except Refused as refused:
            if refused.error not in BLOCKS_REFUSED:
                raise
            log.info("an image was refused and is shared as a file: %s", refused)
            return False
        return True

    async def _processed(self, file_id: str) -> bool:
        for wait_s in (*LOOK_AGAIN_S, None):
            try:
                if await self._slack_messages.is_processed(file_id):
                    return True
            except Refused as refused:  # the app may lack files:read
                log.info("Slack does not say whether a picture is ready: %s", refused)
                return False
            if wait_s is not None:
                await asyncio.sleep(wait_s)
        return False

    async def _as_file(self, place: Address, asked_at: datetime, picture: Picture, png: bytes) -> None:
        """Files carry no mark: one of that name that came after the question is ours."""
        if place.thread_ts and await self._slack_messages.has_file(place, picture.name, asked_at):
            return
        await self._slack_messages.upload_picture(picture, png, place)
