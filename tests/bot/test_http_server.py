"""Listening addresses: configurable, with health checks separate from external traffic."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import aiohttp
import pytest
from aiohttp import web

from bot import settings
from bot.http.readiness import Standing
from bot.http.server import Site, serving
from bot.metrics import Metrics
from handlers.problem import Exit, Problem

HERE = "127.0.0.1"
ELSEWHERE = "127.0.0.2"
OPS = ("/healthz", "/readyz", "/metrics")
DOOR = "/alerts/alertmanager"


def served(*, host: str = HERE, port: int = 0, ops_port: int | None) -> AbstractAsyncContextManager[Site]:
    return serving(host, port, ops_port, _ready, Metrics(), [web.post(DOOR, _taken)])


async def _ready() -> Standing:
    return Standing(True, "ready")


async def _taken(request: web.Request) -> web.Response:
    return web.Response(status=202)


@asynccontextmanager
async def taken_port() -> AsyncIterator[int]:
    with socket.create_server((HERE, 0)) as other:
        yield other.getsockname()[1]


async def statuses(port: int, host: str = HERE) -> list[int]:
    """Of health, readiness and metrics, and of the door for alerts."""
    async with aiohttp.ClientSession(f"http://{host}:{port}") as session:
        found = []
        for method, path in (*(("GET", one) for one in OPS), ("POST", DOOR)):
            async with session.request(method, path) as answer:
                found.append(answer.status)
    return found


async def test_with_a_port_of_their_own_health_and_metrics_are_nowhere_else() -> None:
    async with served(ops_port=0) as site:
        assert await statuses(site.port) == [404, 404, 404, 202]
        assert await statuses(site.ops_port) == [200, 200, 200, 404]


async def test_without_one_they_stay_where_the_others_come_in() -> None:
    async with served(ops_port=None) as site:
        assert site.port == site.ops_port
        assert await statuses(site.port) == [200, 200, 200, 202]


async def test_only_the_address_that_was_set_is_listened_on() -> None:
    async with served(host=ELSEWHERE, ops_port=0) as site:
        for port in (site.port, site.ops_port):
            await statuses(port, ELSEWHERE)
            with pytest.raises(aiohttp.ClientConnectorError):
                await statuses(port)


async def test_a_port_that_is_taken_is_named_with_its_setting() -> None:
    async with taken_port() as taken:
        for port, ops_port, setting in ((taken, None, "AKSBOT_HTTP_PORT"), (0, taken, "AKSBOT_OPS_PORT")):
            with pytest.raises(Problem) as refused:
                async with served(port=port, ops_port=ops_port):
                    pass
            assert setting in refused.value.do
            assert (str(taken) in refused.value.what, refused.value.code) == (True, Exit.USAGE)


async def test_an_address_that_is_not_of_this_machine_is_refused_with_its_setting() -> None:
    with pytest.raises(Problem) as refused:
        async with served(host="192.0.2.1", ops_port=None):
            pass
    assert "AKSBOT_HTTP_HOST" in refused.value.do


def test_only_this_machine_is_listened_to_unless_somebody_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = settings.load()
    assert (chosen.http_host, chosen.http_port, chosen.ops_port) == (HERE, 8080, None)
    for name, value in {"AKSBOT_HTTP_HOST": "0.0.0.0", "AKSBOT_OPS_PORT": "8081"}.items():
        monkeypatch.setenv(name, value)
    chosen = settings.load()
    assert (chosen.http_host, chosen.ops_port) == ("0.0.0.0", 8081)
