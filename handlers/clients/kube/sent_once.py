"""A write goes over the wire once. The HTTP library would send a PUT or DELETE again when a connection breaks, and
any write again to wherever a redirect leads; here it cannot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import aiohttp


class SentBefore(aiohttp.ClientError):
    """The HTTP library was about to send a write for the second time."""


@dataclass
class Sending:
    """One write. `begun`: it was handed over to be sent; whether it got there is another question."""

    begun: bool = False


_write: ContextVar[Sending | None] = ContextVar("write", default=None)


@contextmanager
def sent_once() -> Iterator[Sending]:
    """Whatever is sent inside is sent once."""
    write = Sending()
    before = _write.set(write)
    try:
        yield write
    finally:
        _write.reset(before)


async def refuse_second(request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Stands between the HTTP library's own retries and the wire."""
    write = _write.get()
    if write is not None:
        if write.begun:
            raise SentBefore("the connection broke")
        write.begun = True
    return await send(request)


def found_no_connection(error: BaseException) -> bool:
    """Whether this means for certain that nothing reached the server."""
    return isinstance(
        error.__cause__, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError | aiohttp.InvalidURL
    )
