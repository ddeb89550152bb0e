"""Fetches text files that people share, within bounds: a few seconds, the two ends of what is long, no secrets."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from datetime import timedelta

import aiohttp
from yarl import URL

from bot.slack.api.attachments import Attached
from handlers.clients.redact import redact_off_loop

log = logging.getLogger(__name__)

MOST_FILES = 5
"""Of one turn."""
LARGEST = 20 * 1024 * 1024
HEAD, TAIL = 24 * 1024, 32 * 1024
"""Bytes that are kept: what an error says stands in its first lines or in its last."""
_CHUNK = 16 * 1024
_SLACKS = (".slack.com", ".slack-gov.com")
_STRANGE = 0.05
"""A part of the characters that no text has; a file cut at both ends has two."""


class NoText(Exception):
    """Why a file is not read, in words."""


class TextFiles:
    """Reads what the bot's token may read (scope `files:read`). What cannot be read is nothing, and in the log."""

    def __init__(self, session: aiohttp.ClientSession, token: str, api: str, patience: timedelta) -> None:
        self._session, self._token = session, token
        self._patience = patience
        self._api = URL(api)

    async def read(self, files: Sequence[Attached]) -> list[str]:
        """The texts, each on its own; of what cannot be fetched, the lines that Slack shows."""
        ends = [(file, Ends()) for file in files[:MOST_FILES]]
        try:
            async with asyncio.timeout(self._patience.total_seconds()):
                for attachment, kept in ends:
                    await self._fetched(attachment, kept)
        except TimeoutError:
            log.warning("files were not read to their end within %g s", self._patience.total_seconds())
        # Five files at once are a quarter of a megabyte: read beside the event loop, which serves everybody.
        texts = await asyncio.to_thread(
            lambda: [_text(attachment, kept) or attachment.preview for attachment, kept in ends]
        )
        return [await redact_off_loop(text) for text in texts if text]

    async def _fetched(self, attachment: Attached, kept: Ends) -> None:
        try:
            await self._fetch(attachment, kept)
        except NoText as why:
            kept.clear()
            log.warning("the file %s is not read: %s", attachment.name, why)
        except (aiohttp.ClientError, OSError) as lost:
            log.warning("the file %s was not read to its end: %s", attachment.name, lost or type(lost).__name__)

    async def _fetch(self, attachment: Attached, kept: Ends) -> None:
        url = self._checked(attachment.url)
        # Unpacked it could be a thousand times as large.
        headers = {"Authorization": f"Bearer {self._token}", "Accept-Encoding": "identity"}
        forever = aiohttp.ClientTimeout(total=None)
        # A redirect leads to the sign-in page, or takes the token elsewhere.
        async with self._session.get(url, headers=headers, allow_redirects=False, timeout=forever) as answer:
            if answer.status != 200:
                raise NoText(f"Slack answers {answer.status}")
            if answer.content_type == "text/html":
                raise NoText("Slack shows its sign-in page; the app needs the scope files:read and to be there")
            async for chunk in answer.content.iter_chunked(_CHUNK):
                kept.add(chunk)
                if kept.is_binary:
                    raise NoText("it is no text")
                if kept.size > LARGEST:
                    log.warning("the file %s is longer than %d bytes: the rest is not read", attachment.name, LARGEST)
                    return

    def _checked(self, address: str) -> URL:
        """The token is for Slack alone."""
        try:
            url = URL(address)
            origin = url.origin()
        except ValueError:
            raise NoText("its address is none") from None
        ours = url.scheme == "https" and (url.host or "").lower().endswith(_SLACKS) and url.explicit_port is None
        if not ours and origin != self._api.origin():
            raise NoText("its address is not Slack's")
        return url


class Ends:
    """The first and the last bytes of something long."""

    def __init__(self) -> None:
        self.size = 0
        self._head, self._tail = bytearray(), bytearray()

    def add(self, chunk: bytes) -> None:
        self.size += len(chunk)
        room = HEAD - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        if len(self._tail) > 2 * TAIL:
            del self._tail[:-TAIL]

    def clear(self) -> None:
        self.size = 0
        self._head.clear()
        self._tail.clear()

    @property
    def is_binary(self) -> bool:
        """Windows writes logs in two bytes a letter, and says so in front."""
        return b"\0" in self._head and self._encoding == "utf-8"

    @property
    def _encoding(self) -> str:
        marks = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
        return marks.get(bytes(self._head[:2]), "utf-8")

    def text(self) -> str:
        cut = len(self._tail) > TAIL or HEAD + len(self._tail) < self.size
        if cut:
            # Two bytes a letter begin at even places.
            parts = (self._head, self._tail[len(self._tail) - TAIL + (self.size - TAIL) % 2 :])
        else:
            parts = (self._head + self._tail, bytearray())
        return "\n".join(part.decode(self._encoding, "replace").lstrip("\ufeff") for part in parts if part)


def _text(attachment: Attached, kept: Ends) -> str:
    """What was fetched, secrets and all; nothing, if it is no text."""
    text = kept.text()
    if text.count("\ufffd") > _STRANGE * len(text) + 4:
        log.warning("the file %s is not read: it is no text", attachment.name)
        return ""
    if text[:200].lstrip().lower().startswith(("<!doctype html", "<html")):
        log.warning(
            "the file %s is not read: it is a page, perhaps Slack's sign-in page (scope files:read)", attachment.name
        )
        return ""
    return text
