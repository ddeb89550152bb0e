"""The wire: one aiohttp session and one TLS context for everything that one reader or writer sends.

azure-core's own aiohttp transport rewrites URLs (signed polling links must stay unchanged), builds a TLS context for
every request when given a CA bundle, and does not tell whether a request was sent at all.
"""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import aiohttp
from azure.core.pipeline.transport import AsyncHttpTransport
from azure.core.rest import AsyncHttpResponse, HttpRequest
from yarl import URL

from handlers.clients.addresses import wanted_at
from handlers.clients.arm.policies.refuse_writes import is_read
from handlers.clients.arm.write_sent_hook import WRITE, trace_marked_writes
from handlers.clients.errors import ArmError, Garbled, TimedOut, Unreachable
from handlers.clients.redact import redact_text
from handlers.clients.response import SeenResponse

CONNECT_S = 5.0
READ_S = 30.0
CONNECTIONS = 50
"""A check makes about 30 calls at once."""


class Wire(AsyncHttpTransport[HttpRequest, AsyncHttpResponse]):
    """Sends a request once and reads the complete answer."""

    def __init__(self, ca_bundle: Path | None = None, *, read_s: float = READ_S) -> None:
        self._ca_bundle = ca_bundle
        self._read_s = read_s
        self._session: aiohttp.ClientSession | None = None

    @property
    def session(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = _session(self._ca_bundle, self._read_s)
        return self._session

    async def open(self) -> None:
        """Nothing to open: connections are opened on demand."""

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def send(self, request: HttpRequest, **_: Any) -> AsyncHttpResponse:
        try:
            sending = self.session.request(
                request.method,
                _verbatim(request.url),
                headers=request.headers,
                data=request.content,
                allow_redirects=False,
                skip_auto_headers=() if request.content else ("Content-Type",),
                trace_request_ctx=None if is_read(request.method, request.url) else WRITE,
            )
            async with sending as answer:
                content = await answer.read()
                return SeenResponse(request, answer.status, answer.headers, content, reason=answer.reason or "")
        except (aiohttp.ClientError, OSError) as error:
            raise self._as_error(request, error) from error

    def _as_error(self, request: HttpRequest, error: Exception) -> ArmError:
        wanted = wanted_at(request.url)
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            return Unreachable(wanted, f"no connection within {CONNECT_S:.0f} s", again=True)
        if isinstance(error, TimeoutError):
            return TimedOut(wanted, f"no answer within {self._read_s:g} s")
        if isinstance(error, aiohttp.ClientSSLError):
            return Unreachable(wanted, f"TLS: {redact_text(str(error))[:300]}")
        if isinstance(error, (aiohttp.ClientConnectorError, aiohttp.ClientProxyConnectionError)):
            return Unreachable(wanted, f"no connection: {redact_text(str(error))[:300]}", again=True)
        if isinstance(error, aiohttp.InvalidURL):
            return Unreachable(wanted, f"not an address: {redact_text(str(error))[:300]}")
        half = Garbled(wanted, f"the answer broke off: {redact_text(str(error) or type(error).__name__)[:300]}")
        half.again = True
        return half


def _session(ca_bundle: Path | None, read_s: float) -> aiohttp.ClientSession:
    trusted = ssl.create_default_context(cafile=str(ca_bundle) if ca_bundle else None)
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=trusted, limit=CONNECTIONS, keepalive_timeout=60.0),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S, sock_read=read_s),
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=True,
        trace_configs=[trace_marked_writes()],
    )
    # aiohttp repeats a PUT or DELETE by itself after a lost connection; reads have our own retry.
    session._retry_connection = False
    return session


def _verbatim(url: str) -> URL:
    """Keep the URL as it is: a signed token must not be encoded again. Only invalid characters are."""
    sendable = url.isascii() and url.isprintable() and " " not in url
    return URL(url, encoded=sendable)
