"""The HTTP ports of the process: Slack and alerts on one, health and metrics on the same or another."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from bot.http.readiness import Standing
from bot.metrics import Metrics
from handlers.problem import Exit, Problem

IDLE_S = 120.0
"""A connection without a request is closed; proxies close theirs sooner (nginx after 60 s), so none is cut off."""
LINGER_S = 1.0
"""For which the rest of a refused body is read and forgotten, so that its sender gets to the answer."""

Ready = Callable[[], Awaitable[Standing]]
"""Whether the process is ready, and what a probe is told."""


class _OurErrors(logging.Filter):
    """A request that is not HTTP is answered with 400 and not logged: it may have broken off inside a secret header."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


_requests = logging.getLogger(f"{__name__}.requests")
_requests.addFilter(_OurErrors())


@asynccontextmanager
async def serving(
    host: str,
    port: int,
    ops_port: int | None,
    ready: Ready,
    metrics: Metrics,
    doors: Iterable[web.RouteDef] = (),
) -> AsyncIterator[Site]:
    """Listens while the context is open. Health and metrics have their own port, or share the first one."""
    site = Site(host, ready, metrics)
    async with AsyncExitStack() as stack:
        if ops_port is None:
            routes = (*site.routes, *doors)
            site.port = site.ops_port = await _listen(stack, host, port, routes, "AKSBOT_HTTP_PORT")
        else:
            site.ops_port = await _listen(stack, host, ops_port, site.routes, "AKSBOT_OPS_PORT")
            site.port = await _listen(stack, host, port, doors, "AKSBOT_HTTP_PORT")
        yield site


async def _listen(stack: AsyncExitStack, host: str, port: int, routes: Iterable[web.RouteDef], setting: str) -> int:
    """Open the port until the stack is closed."""
    web_app = web.Application()
    web_app.router.add_routes(routes)
    # aiohttp would decompress a body before its sender is known, and read on after a refusal.
    runner = web.AppRunner(
        web_app,
        access_log=None,
        logger=_requests,
        shutdown_timeout=5.0,
        auto_decompress=False,
        keepalive_timeout=IDLE_S,
        lingering_time=LINGER_S,
    )
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    try:
        await web.TCPSite(runner, host, port).start()
    except OSError as taken:
        why = taken.strerror or str(taken)
        do = f"set {setting} to another port, or to 0 for a free one; AKSBOT_HTTP_HOST is an address of this machine"
        raise Problem(f"cannot serve on {host}, port {port}", why, do, code=Exit.USAGE) from taken
    return int(runner.addresses[0][1])


class Site:
    """The endpoints about the process itself."""

    def __init__(self, host: str, ready: Ready, metrics: Metrics) -> None:
        self._host, self._ready, self._metrics = host, ready, metrics
        self.port = self.ops_port = 0

    def __str__(self) -> str:
        return f"{self._host}, port {self.port} (health and metrics: {self.ops_port})"

    @property
    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/healthz", self.health),
            web.get("/readyz", self.readiness),
            web.get("/metrics", self.measurements),
        ]

    async def health(self, request: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def readiness(self, request: web.Request) -> web.Response:
        standing = await self._ready()
        return web.Response(status=200 if standing.ready else 503, text=f"{standing.said}\n")

    async def measurements(self, request: web.Request) -> web.Response:
        await self._ready()  # Computing the metrics updates the gauges first.
        return web.Response(
            body=self._metrics.text(), headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}
        )
