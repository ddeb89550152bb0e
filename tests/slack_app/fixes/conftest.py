"""A bot that may fix what is broken in a scenario: by default, a failed node pool."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from bot.app import Bot
from bot.fixes.proposal import Proposal
from bot.playground.hurried import ShortenedPauses
from bot.store.away import StoreAway, reachable
from bot.store.connect import Connection
from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario
from sandbox.slack.control import Control
from tests.checking import azure
from tests.clean_slate import let_coredis_break
from tests.fixes.markup import markup_in
from tests.slack_app.conftest import Start
from tests.slack_app.fixes.steps import Desk, approved, kept_sentences, policy


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    let_coredis_break(items, Path(__file__).parent)


@pytest.fixture
def scenario() -> str:
    return "nodepool-failed"


@pytest.fixture
def staged(scenario: str) -> Scenario:
    return Scenario.load(scenario)


@pytest.fixture
async def arm(staged: Scenario) -> AsyncIterator[ArmServer]:
    async with azure(staged.world) as server:
        yield server


@pytest.fixture
def rules() -> dict[str, Any]:
    """Additional policy rules."""
    return {}


@pytest.fixture
def configured(control: Control, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rules: dict[str, Any]) -> None:
    """Every bot starts with a policy."""
    file = tmp_path / "policy.yaml"
    file.write_text(policy(control, **rules))
    monkeypatch.setenv("AKSBOT_POLICY", str(file))


@pytest.fixture
async def redis(redis: Connection) -> AsyncIterator[Connection]:
    """On teardown, asserts that stored texts about fixes are plain text without Slack markup."""
    yield redis
    with suppress(StoreAway), reachable():  # some tests remove it
        assert {said: marks for said in await kept_sentences(redis) if (marks := markup_in(said))} == {}


@pytest.fixture
async def bot(start: Start, redis: Connection, configured: None) -> AsyncIterator[Bot]:
    async with start(times=ShortenedPauses()) as running:
        yield running


@pytest.fixture
def desk(control: Control, staged: Scenario) -> Desk:
    """The Desk of the cluster that can be fixed."""
    return Desk(control, next(iter(staged.repairs)))


@pytest.fixture
async def left(start: Start, configured: None, desk: Desk, control: Control, redis: Connection) -> Proposal:
    """An approved fix with no process running."""
    async with start(times=ShortenedPauses()):
        await desk.asked()
    return await approved(redis, control)
