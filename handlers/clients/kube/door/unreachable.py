"""Why a connection failed, as a sentence; and the code for that sentence, because a recording keeps only the text."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl

import aiohttp

from handlers.clients.errors import ArmError, Garbled, TimedOut, Unreachable
from handlers.clients.kube.door.sent_once import Redirected
from handlers.clients.redact import redact_text

SERVER = "the cluster's API server"
READ_S = 30.0
NO_HOST, REFUSED, NO_ANSWER, TLS, OTHER = "no such host", "connection refused", "no connection within", "TLS", "no way"
CODES = {NO_HOST: "dns", REFUSED: "refused", NO_ANSWER: "connect-timeout", TLS: "tls"}
ROADBLOCKS = frozenset({"dns", "refused", "connect-timeout", "network"})
"""Codes that mean: the server is out of reach from here. A certificate that is wrong is none of them."""


def code_of(detail: str) -> str:
    """`dns`, `refused`, `connect-timeout`, `tls` or `network`."""
    return next((code for words, code in CODES.items() if detail.startswith(words)), "network")


def unreachable(detail: str) -> Unreachable:
    """The value for everything that was to be read from a server that could not be reached."""
    return Unreachable(SERVER, detail, code=code_of(detail))


def as_error(error: Exception, wanted: str, host: str, connect_s: float) -> ArmError:
    """Turn an aiohttp error into an ArmError."""
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return unreachable(f"{NO_ANSWER} {connect_s:g} s: {host}")
    if isinstance(error, TimeoutError):
        return TimedOut(wanted, f"no answer within {READ_S:.0f} s")
    if isinstance(error, (aiohttp.ClientSSLError, ssl.SSLError)):
        return unreachable(f"{TLS}: {_short(error)}")
    if isinstance(error, aiohttp.ClientConnectorError):
        return unreachable(_no_connection(error, host))
    if isinstance(error, Redirected):
        return Garbled(wanted, str(error))
    if isinstance(error, aiohttp.InvalidURL):
        return unreachable(f"not an address: {host}")
    how = "in the middle" if isinstance(error, aiohttp.ClientPayloadError) else _short(error)
    half = Garbled(wanted, f"the answer broke off: {how}")
    half.again = True
    return half


def _no_connection(error: aiohttp.ClientConnectorError, host: str) -> str:
    cause = error.os_error
    if isinstance(error, aiohttp.ClientConnectorDNSError) or isinstance(cause, socket.gaierror):
        again = isinstance(cause, socket.gaierror) and cause.errno == socket.EAI_AGAIN
        return f"{NO_HOST}: {host}" + (" (the name server did not answer)" if again else "")
    if isinstance(cause, ConnectionRefusedError) or cause.errno == errno.ECONNREFUSED:
        return f"{REFUSED}: {host}:{error.port}"
    return f"no connection: {_short(error)}"


def _short(error: Exception) -> str:
    return redact_text(" ".join((str(error) or type(error).__name__).split()))[:300]


CAUGHT: tuple[type[Exception], ...] = (aiohttp.ClientError, OSError, ssl.SSLError, asyncio.TimeoutError)
