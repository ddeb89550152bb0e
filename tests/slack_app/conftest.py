"""The whole bot, set up as in `aksbot serve`, with the sandbox's Slack and Azure."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Protocol

import pytest

from bot import settings
from bot.app import Bot, running
from bot.fixes.times import Times
from bot.incidents.spans import Spans
from bot.store.connect import Connection, connected
from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario
from sandbox.slack.cast import on_call_workspace
from sandbox.slack.control import Control
from sandbox.slack.server import SlackServer
from tests.checking import azure
from tests.clean_slate import collected, let_coredis_break, nobodys_settings
from tests.deploy.slack_manifests import shipped

SCENARIO = "quota-blocks-upgrade"
SHIPPED = shipped()
PATIENT = Spans(ping=timedelta(seconds=60))
"""Generous timeouts, so that connections survive on a busy machine."""


class Start(Protocol):
    """Starts the bot in Socket Mode, or over HTTP."""

    def __call__(
        self, *, over_http: bool = False, times: Times | None = None, spans: Spans = ...
    ) -> AbstractAsyncContextManager[Bot]: ...


__all__ = ["collected", "nobodys_settings"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    let_coredis_break(items, Path(__file__).parent)


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    """A Slack that grants only the shipped manifest's scopes, so that tests fail if one is missing."""
    async with SlackServer(on_call_workspace(), manifest=SHIPPED) as server:
        yield server


@pytest.fixture
def control(slack: SlackServer) -> Control:
    return slack.control


@pytest.fixture
async def arm() -> AsyncIterator[ArmServer]:
    async with azure(Scenario.load(SCENARIO).world) as server:
        yield server


@pytest.fixture
def start(slack: SlackServer, arm: ArmServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Start:
    @asynccontextmanager
    async def started(
        *, over_http: bool = False, times: Times | None = None, spans: Spans = PATIENT
    ) -> AsyncIterator[Bot]:
        environment = {**arm.environment("reader"), **slack.environment, "AKSBOT_DATA_DIR": str(tmp_path / "data")}
        if over_http:
            environment["SLACK_APP_TOKEN"] = ""
        for name, value in {**environment, "AKSBOT_HTTP_PORT": "0"}.items():
            monkeypatch.setenv(name, value)
        async with running(settings.load(), host="127.0.0.1", times=times, spans=spans) as bot:
            if over_http:
                await slack.connect_http(f"http://127.0.0.1:{bot.site.port}/slack/events")
            yield bot

    return started


@pytest.fixture
async def bot(start: Start) -> AsyncIterator[Bot]:
    """The bot in Socket Mode."""
    async with start() as running_bot:
        yield running_bot


@pytest.fixture
async def redis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Connection]:
    """A Redis shared by the bot, other processes and the test."""
    async with connected(None, tmp_path / "redis") as server:
        monkeypatch.setenv("REDIS_URL", server.url)
        yield server
