"""Stops the HTTP library from sending a write twice, or following a redirect.

It would repeat a PUT or DELETE when a connection breaks, and repeat any request at the target of a redirect: the answer
of another host would be taken for the API server's. Every session of the API server uses both guards.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from urllib.parse import urlsplit

import aiohttp

READS = frozenset({"GET", "HEAD"})
FOLLOWED = frozenset({301, 302, 303, 307, 308})
"""The statuses that aiohttp follows. It can be told not to for one request only, and that request is made elsewhere."""
LONGEST_HOST = 253


class SentBefore(aiohttp.ClientError):
    """The HTTP library tried to send a write a second time."""


class Redirected(aiohttp.ClientError):
    """The API server answered with a redirect. The text names the host alone: a path or a query may hold secrets."""


@dataclass
class Sending:
    """One write. `begun`: it was handed to the connection; whether it arrived is not known."""

    begun: bool = False


_write: ContextVar[Sending | None] = ContextVar("write", default=None)


@contextmanager
def sent_once() -> Iterator[Sending]:
    """Everything sent in this block is one write, sent once. A nested block belongs to the same write."""
    write = _write.get() or Sending()
    before = _write.set(write)
    try:
        yield write
    finally:
        _write.reset(before)


async def refuse_second(request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """The guard between the HTTP library's own retries and the wire."""
    write = _write.get()
    if write is not None:
        if write.begun:
            raise SentBefore("the connection broke")
        write.begun = True
    return await send(request)


async def refuse_redirect(request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Fails a request that is redirected."""
    answer = await send(request)
    if answer.status in FOLLOWED:
        answer.close()
        raise Redirected(f"{answer.status}, a redirect{_to(answer.headers.get('Location', ''))}; not followed")
    return answer


def _to(location: str) -> str:
    try:
        host = urlsplit(location).hostname
    except ValueError:
        return ""
    return f" to {host[:LONGEST_HOST]}" if host else ""


def found_no_connection(error: BaseException) -> bool:
    """Whether this error proves that nothing reached the server."""
    return isinstance(
        error.__cause__, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError | aiohttp.InvalidURL
    )
