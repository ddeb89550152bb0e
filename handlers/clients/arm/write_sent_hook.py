"""Calls back when a write is sent: token acquired, connected, headers on the wire. The executor stops late ones."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import SimpleNamespace

import aiohttp

WRITE = "write"
"""What a request is marked with. Reads on the way to a write, and the token's own request, are none."""
_READS = frozenset({"GET", "HEAD"})
_HeadersSent = Callable[
    [aiohttp.ClientSession, SimpleNamespace, aiohttp.TraceRequestHeadersSentParams], Coroutine[None, None, None]
]

_notice: ContextVar[Callable[[], None] | None] = ContextVar("notice", default=None)


@contextmanager
def on_write_sent(notice: Callable[[], None]) -> Iterator[None]:
    """Call `notice` at the moment the write inside this block is sent."""
    before = _notice.set(notice)
    try:
        yield
    finally:
        _notice.reset(before)


def trace_marked_writes() -> aiohttp.TraceConfig:
    """For a session whose writes are marked with `WRITE`."""

    async def headers_sent(
        session: aiohttp.ClientSession, context: SimpleNamespace, sent: aiohttp.TraceRequestHeadersSentParams
    ) -> None:
        if context.trace_request_ctx == WRITE:
            _tell()

    return _config(headers_sent)


def trace_all_writes() -> aiohttp.TraceConfig:
    """For a session whose writes are recognised by their HTTP method."""

    async def headers_sent(
        session: aiohttp.ClientSession, context: SimpleNamespace, sent: aiohttp.TraceRequestHeadersSentParams
    ) -> None:
        if sent.method not in _READS:
            _tell()

    return _config(headers_sent)


def _tell() -> None:
    if notice := _notice.get():
        notice()


def _config(headers_sent: _HeadersSent) -> aiohttp.TraceConfig:
    config = aiohttp.TraceConfig()
    config.on_request_headers_sent.append(headers_sent)
    return config
