"""A bot that may repair what is broken in a scenario: a failed node pool, if the test does not say otherwise."""

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
    """What the policy says besides."""
    return {}


@pytest.fixture
def configured(control: Control, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rules: dict[str, Any]) -> None:
    """Whoever starts has a policy."""
    file = tmp_path / "policy.yaml"
    file.write_text(policy(control, **rules))
    monkeypatch.setenv("AKSBOT_POLICY", str(file))


@pytest.fixture
async def redis(redis: Connection) -> AsyncIterator[Connection]:
    """However a test ends: what was kept of fixes is plain text, nothing that only Slack can read."""
    yield redis
    with suppress(StoreAway), reachable():  # some tests take it away
        assert {said: marks for said in await kept_sentences(redis) if (marks := markup_in(said))} == {}


@pytest.fixture
async def bot(start: Start, redis: Connection, configured: None) -> AsyncIterator[Bot]:
    async with start(times=ShortenedPauses()) as running:
        yield running


@pytest.fixture
def desk(control: Control, staged: Scenario) -> Desk:
    """Of the cluster that can be repaired."""
    return Desk(control, next(iter(staged.repairs)))


@pytest.fixture
async def left(start: Start, configured: None, desk: Desk, control: Control, redis: Connection) -> Proposal:
    """A fix that was approved, and then no process lives any more."""
    async with start(times=ShortenedPauses()):
        await desk.asked()
    return await approved(redis, control)
