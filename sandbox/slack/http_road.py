"""Delivery over HTTP: signed requests to the app's request URL."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import time
from urllib.parse import urlencode

import aiohttp

from sandbox.slack.clock import Clock
from sandbox.slack.outbox import ACK_WITHIN_S, Body, Delivery, NotAcked
from sandbox.slack.waiting import within


class UnverifiedUrl(Exception):
    """The app did not answer the challenge that Slack sends to a new request URL."""


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Slack's v0 request signature."""
    base = b"v0:" + timestamp.encode() + b":" + body
    return "v0=" + hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()


def signed_headers(secret: str, body: bytes, *, content_type: str, at: float | None = None) -> dict[str, str]:
    """The headers of a request. The timestamp is real time, because the receiver compares it with its own clock."""
    timestamp = str(int(time.time() if at is None else at))
    return {
        "Content-Type": content_type,
        "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
        "X-Slack-Request-Timestamp": timestamp,
        "X-Slack-Signature": signature(secret, timestamp, body),
    }


class HttpRoad:
    """Delivers to an app that listens at a URL."""

    def __init__(self, url: str, secret: str, clock: Clock, session: aiohttp.ClientSession) -> None:
        self.url = url
        self._secret, self._clock, self._session = secret, clock, session

    async def verify(self) -> None:
        """Send the challenge that a new request URL must answer."""
        challenge = secrets.token_urlsafe(24)
        body = json.dumps({"token": "unused", "challenge": challenge, "type": "url_verification"}).encode()
        headers = signed_headers(self._secret, body, content_type="application/json")
        async with self._session.post(self.url, data=body, headers=headers) as response:
            text = await response.text()
        if response.status != 200 or challenge not in text:
            raise UnverifiedUrl(f"{self.url} answered {response.status}: {text[:200]}")

    async def carry(self, delivery: Delivery) -> Body:
        body, content_type = _encoded(delivery)
        headers = signed_headers(self._secret, body, content_type=content_type)
        if delivery.attempt:
            headers |= {"X-Slack-Retry-Num": str(delivery.attempt), "X-Slack-Retry-Reason": delivery.reason}
        try:
            return await within(self._clock, ACK_WITHIN_S, self._post(body, headers))
        except TimeoutError as error:
            raise NotAcked("http_timeout") from error
        except aiohttp.ClientError as error:
            raise NotAcked("connection_failed") from error

    async def _post(self, body: bytes, headers: dict[str, str]) -> Body:
        async with self._session.post(self.url, data=body, headers=headers, allow_redirects=False) as response:
            text = await response.text()
        if not 200 <= response.status < 300:
            raise NotAcked("http_error", final=response.headers.get("X-Slack-No-Retry") == "1")
        if not text:
            return {}
        if response.content_type == "application/json":
            answer = json.loads(text)
            return answer if isinstance(answer, dict) else {}
        return {"text": text}


def _encoded(delivery: Delivery) -> tuple[bytes, str]:
    form = "application/x-www-form-urlencoded"
    if delivery.kind == "slash_commands":
        return urlencode(delivery.payload).encode(), form
    text = json.dumps(delivery.payload)
    if delivery.kind == "interactive":
        return urlencode({"payload": text}).encode(), form
    return text.encode(), "application/json"
