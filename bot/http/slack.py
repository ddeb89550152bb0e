"""The endpoint for Slack over HTTP: `/slack/events`. Nothing is parsed before Slack's signature is verified."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Mapping

from aiohttp import web
from pydantic import SecretStr
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest

from bot.http.body import closing, read_body
from bot.slack.inbound.replays import Replays
from handlers.clients.recording.file import DEEPEST, is_deeper

SLACK_PATH = "/slack/events"
LARGEST = 1024 * 1024
"""Slack's requests are far smaller."""
WITHIN_S = 3.0
"""After that Slack has given up on this attempt."""
MOST_AGE_S = 300
SIGNATURE, TIMESTAMP = "X-Slack-Signature", "X-Slack-Request-Timestamp"


class SlackEndpoint:
    """Verifies the raw bytes. Bolt verifies too, but parses first, in a charset that the sender chooses."""

    def __init__(self, bolt: AsyncApp, secret: SecretStr, replays: Replays) -> None:
        self._bolt, self._secret, self._replays = bolt, secret.get_secret_value().encode(), replays

    @property
    def routes(self) -> list[web.RouteDef]:
        return [web.post(SLACK_PATH, self._take)]

    async def _take(self, request: web.Request) -> web.StreamResponse:
        if not _may_be_signed(request.headers):
            raise closing(web.HTTPUnauthorized(text="this request is not signed by Slack, or too old\n"))
        body = await read_body(request, LARGEST, WITHIN_S)
        if not self._is_signed(request.headers, body):
            raise web.HTTPUnauthorized(text="the signature is not Slack's for this app\n")
        asked = _read(body, request)
        answer = await self._bolt.async_dispatch(asked)
        if answer.status >= 500:
            await self._replays.forget(asked.headers)
        return await to_aiohttp_response(answer)

    def _is_signed(self, headers: Mapping[str, str], body: bytes) -> bool:
        signed = b"v0:%b:%b" % (headers[TIMESTAMP].encode(), body)
        expected = f"v0={hmac.new(self._secret, signed, hashlib.sha256).hexdigest()}"
        return hmac.compare_digest(expected.encode(), headers[SIGNATURE].encode(errors="replace"))


def _may_be_signed(headers: Mapping[str, str]) -> bool:
    """Whether the headers allow a valid signature, so that the body is worth reading."""
    at = headers.get(TIMESTAMP, "")
    if not (at.isascii() and at.isdigit() and len(at) < 20 and SIGNATURE in headers):
        return False
    return abs(time.time() - int(at)) <= MOST_AGE_S


def _read(body: bytes, request: web.Request) -> AsyncBoltRequest:
    """The request as Bolt reads it. Bolt raises plain Python errors where fields are missing."""
    text = _text(body)
    try:
        asked = AsyncBoltRequest(body=text, query=request.query_string, headers=dict(request.headers))
    except (ValueError, RecursionError, AttributeError, LookupError, TypeError) as other:
        raise _no_request() from other
    if is_deeper(asked.body, DEEPEST):
        raise _no_request()
    return asked


def _no_request() -> web.HTTPException:
    return web.HTTPBadRequest(text="the body is no request of Slack's\n")


def _text(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError as other:
        raise web.HTTPBadRequest(text="the body is not UTF-8\n") from other
