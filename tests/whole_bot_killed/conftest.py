"""A Slack, an Azure and a Redis that survive when the bot is killed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol

import pytest

from bot import settings
from bot.app import Bot, running
from bot.playground.hurried import ShortenedPauses
from bot.store.connect import Connection, connected
from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario
from sandbox.slack.cast import on_call_workspace
from sandbox.slack.server import SlackServer
from tests.checking import azure
from tests.clean_slate import collected, let_coredis_break, nobodys_settings
from tests.slack_app.conftest import SHIPPED
from tests.slack_app.fixes.steps import Desk, policy
from tests.whole_bot_killed.redis_gate import RedisGate, gated
from tests.whole_bot_killed.stage import Stage

CLUSTERS = {"nodepool-failed": "staging-neu", "pdb-blocks-drain": "prod-weu"}


class Another(Protocol):
    """Starts another bot on the same Redis."""

    def __call__(self, role: str = "all") -> AbstractAsyncContextManager[Bot]: ...


__all__ = ["collected", "nobodys_settings"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    let_coredis_break(items, Path(__file__).parent)


@pytest.fixture
def scenario() -> str:
    """The scenario; tests override it with a parameter of this name."""
    return "nodepool-failed"


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    async with SlackServer(on_call_workspace(), manifest=SHIPPED) as server:
        yield server


@pytest.fixture
async def arm(scenario: str) -> AsyncIterator[ArmServer]:
    async with azure(Scenario.load(scenario).world) as server:
        yield server


@pytest.fixture
async def redis(tmp_path: Path) -> AsyncIterator[Connection]:
    async with connected(None, tmp_path / "redis") as server:
        yield server


@pytest.fixture
async def gate(redis: Connection) -> AsyncIterator[RedisGate]:
    async with gated(redis) as opened:
        yield opened


@pytest.fixture
def stage(
    slack: SlackServer,
    arm: ArmServer,
    redis: Connection,
    gate: RedisGate,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    scenario: str,
) -> Stage:
    file = tmp_path / "policy.yaml"
    file.write_text(policy(slack.control))
    monkeypatch.setenv("AKSBOT_POLICY", str(file))
    return Stage(slack, arm, redis, gate, Desk(slack.control, CLUSTERS[scenario]), tmp_path)


@pytest.fixture
def another(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Another:
    @asynccontextmanager
    async def started(role: str = "all") -> AsyncIterator[Bot]:
        own = {"AKSBOT_HTTP_PORT": "0", "AKSBOT_DATA_DIR": str(stage.folder / "another"), "AKSBOT_ROLE": role}
        everything = {**stage.arm.environment("reader"), **stage.slack.environment, **own}
        for name, value in {**everything, "REDIS_URL": stage.redis.url}.items():
            monkeypatch.setenv(name, value)
        async with running(settings.load(), host="127.0.0.1", times=ShortenedPauses()) as bot:
            yield bot

    return started
