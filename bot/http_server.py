"""The port of the process: health, metrics, and where Slack comes over HTTP, its signed requests."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp

from bot.metrics import Metrics
from bot.readiness import Standing
from bot.slack.replays import Replays
from handlers.problem import Exit, Problem

log = logging.getLogger(__name__)

SLACK_PATH = "/slack/events"
LARGEST = 1024 * 1024
"""Slack's requests are far smaller."""

Ready = Callable[[], Awaitable[Standing]]
"""Whether the process is ready, and what a probe is told."""


@asynccontextmanager
async def serving(
    host: str | None,
    port: int,
    ready: Ready,
    metrics: Metrics,
    bolt: AsyncApp | None = None,
    replays: Replays | None = None,
    more: Iterable[web.RouteDef] = (),
) -> AsyncIterator[Site]:
    """Listens while the context is open. With `bolt` it takes Slack's requests too."""
    site = Site(ready, metrics, bolt, replays)
    web_app = web.Application(client_max_size=LARGEST)
    web_app.router.add_get("/healthz", site.health)
    web_app.router.add_get("/readyz", site.readiness)
    web_app.router.add_get("/metrics", site.measurements)
    web_app.router.add_post(SLACK_PATH, site.slack)
    web_app.router.add_routes(more)
    runner = web.AppRunner(web_app, access_log=None, shutdown_timeout=5.0)
    await runner.setup()
    try:
        await _listen(web.TCPSite(runner, host, port), port)
        site.port = runner.addresses[0][1]
        yield site
    finally:
        await runner.cleanup()


async def _listen(tcp: web.TCPSite, port: int) -> None:
    try:
        await tcp.start()
    except OSError as taken:
        why, do = taken.strerror or str(taken), "set AKSBOT_HTTP_PORT to another port, or to 0 for a free one"
        raise Problem(f"cannot serve on port {port}", why, do, code=Exit.USAGE) from taken


class Site:
    """What answers there."""

    def __init__(self, ready: Ready, metrics: Metrics, bolt: AsyncApp | None, replays: Replays | None) -> None:
        self._ready, self._metrics, self._bolt, self._replays = ready, metrics, bolt, replays
        self.port = 0

    async def health(self, request: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def readiness(self, request: web.Request) -> web.Response:
        standing = await self._ready()
        return web.Response(status=200 if standing.ready else 503, text=f"{standing.said}\n")

    async def measurements(self, request: web.Request) -> web.Response:
        await self._ready()  # what it finds is measured, too
        return web.Response(
            body=self._metrics.text(), headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}
        )

    async def slack(self, request: web.Request) -> web.StreamResponse:
        if self._bolt is None:
            return web.Response(status=404)
        asked = await to_bolt_request(request)
        answer = await self._bolt.async_dispatch(asked)
        if self._replays and answer.status >= 500:
            await self._replays.forget(asked.headers)
        return await to_aiohttp_response(answer)
