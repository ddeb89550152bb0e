"""A small local HTTP server whose responses are set by the test."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import trustme
from aiohttp import web
from azure.core.credentials import AccessToken

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Asked:
    """One received request."""

    method: str
    raw_path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class LocalAzure:
    """Answers each request with the next of `answers` for its path, or with `always`."""

    ca_file: Path
    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    on: dict[str, list[Handler]] = field(default_factory=dict)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    runner: web.AppRunner | None = None

    def reply(self, path: str, *handlers: Handler) -> None:
        """The next response; the last one repeats."""
        self.on.setdefault(path.lower(), []).extend(handlers)

    def count(self, path: str) -> int:
        return sum(one.raw_path.partition("?")[0].lower() == path.lower() for one in self.asked)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        self.asked.append(Asked(request.method, request.raw_path, dict(request.headers), body))
        self.arrived.set()
        line = self.on.get(request.path.lower())
        if not line:
            return web.json_response({"error": {"code": "NotFound", "message": "nothing here"}}, status=404)
        handler = line.pop(0) if len(line) > 1 else line[0]
        return await handler(request)

    async def start(self, certificate: ssl.SSLContext) -> None:
        app = web.Application(client_max_size=2**24)
        app.router.add_route("*", "/{rest:.*}", self.serve)
        self.runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
        await self.runner.setup()
        site = web.TCPSite(self.runner, "127.0.0.1", 0, ssl_context=certificate)
        await site.start()
        port = self.runner.addresses[0][1]
        self.url = f"https://127.0.0.1:{port}"

    async def stop(self) -> None:
        if self.runner:
            await self.runner.cleanup()


def certificate(folder: Path) -> tuple[ssl.SSLContext, Path]:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1", "localhost").configure_cert(context)
    file = folder / "ca.pem"
    authority.cert_pem.write_to_path(file)
    return context, file


def says(body: Any, status: int = 200, **headers: str) -> Handler:
    """A JSON answer. Header names: `retry_after` is `retry-after`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}

    async def answer(_: web.Request) -> web.Response:
        return web.json_response(body, status=status, headers=named)

    return answer


def raw(content: bytes, status: int = 200, content_type: str = "application/json") -> Handler:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=content, status=status, content_type=content_type)

    return answer


def refuses(status: int, code: str, message: str, **headers: str) -> Handler:
    return says({"error": {"code": code, "message": message}}, status, **headers)


def half() -> Handler:
    """A response shorter than its Content-Length."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "5000", "Content-Type": "application/json"})
        await response.prepare(request)
        await response.write(b'{"value": [{"name": "one"}')
        assert request.transport is not None
        request.transport.close()
        return response

    return answer


def hangs_up() -> Handler:
    """Accepts the request and closes the connection without a response."""

    async def answer(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    return answer


def waits_for(gate: asyncio.Event, then: Handler) -> Handler:
    async def answer(request: web.Request) -> web.StreamResponse:
        await gate.wait()
        return await then(request)

    return answer


@dataclass
class PaperCredential:
    """Returns a new token on each call, without Entra."""

    given: list[str | None] = field(default_factory=list)
    lifetime_s: float = 3600
    closed: int = 0

    async def get_token(self, *scopes: str, claims: str | None = None, **_: Any) -> AccessToken:
        await asyncio.sleep(0)
        self.given.append(claims)
        return AccessToken(f"token-{len(self.given)}", int(time.time() + self.lifetime_s))

    async def close(self) -> None:
        self.closed += 1

    async def __aenter__(self) -> PaperCredential:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


@dataclass
class QuickClock:
    """A clock that advances instantly on waits."""

    passed: float = 0.0
    waits: list[float] = field(default_factory=list)

    def now(self) -> float:
        return asyncio.get_running_loop().time() + self.passed

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.passed += seconds
        await asyncio.sleep(0)


def text_of(asked: Asked) -> Any:
    return json.loads(asked.body) if asked.body else None
