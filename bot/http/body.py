"""Reads a request body within limits. A refusal explains itself and closes the connection."""

from __future__ import annotations

import asyncio
from typing import TypeVar

from aiohttp import web

PLAIN = ("", "identity")

Refusal = TypeVar("Refusal", bound=web.HTTPException)


async def read_body(request: web.Request, largest: int, within_s: float) -> bytes:
    """The complete raw body, or raises the response that says why not.

    The size is checked while it arrives, since a chunked body does not announce it.
    """
    _must_be_plain(request)
    if (request.content_length or 0) > largest:
        raise _too_large(largest)
    try:
        async with asyncio.timeout(within_s):
            return await _counted(request, largest)
    except TimeoutError as slow:
        raise closing(web.HTTPRequestTimeout(text=f"the body did not arrive within {within_s:g} s\n")) from slow
    except (web.RequestPayloadError, ConnectionError) as cut:
        raise closing(web.HTTPBadRequest(text="the body is incomplete\n")) from cut


def closing(refusal: Refusal) -> Refusal:
    """For a request whose body was not read: nothing else on this connection is processed."""
    refusal.force_close()
    return refusal


async def _counted(request: web.Request, largest: int) -> bytes:
    body = bytearray()
    async for part in request.content.iter_any():
        body += part
        if len(body) > largest:
            raise _too_large(largest)
    return bytes(body)


def _must_be_plain(request: web.Request) -> None:
    """A few compressed bytes can become gigabytes, and no sender we know compresses."""
    encodings = request.headers.getall("Content-Encoding", [])
    if any(encoding.strip().lower() not in PLAIN for encoding in encodings):
        raise closing(web.HTTPUnsupportedMediaType(text="send the body without Content-Encoding\n"))


def _too_large(largest: int) -> web.HTTPException:
    return closing(web.HTTPRequestEntityTooLarge(largest, 0, text=f"a body has at most {largest} bytes\n"))
