"""A bot that may repair a failed node pool."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.app import Bot
from bot.playground.hurried import HurriedTimes
from bot.store.connect import Connection
from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario
from sandbox.slack.control import Control
from tests.checking import azure
from tests.jobs.conftest import BROKEN
from tests.slack_app.conftest import Start
from tests.slack_app.fixes.steps import Desk, policy


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.filterwarnings(BROKEN))


@pytest.fixture
async def arm() -> AsyncIterator[ArmServer]:
    async with azure(Scenario.load("nodepool-failed").world) as server:
        yield server


@pytest.fixture
def rules() -> dict[str, Any]:
    """What the policy says besides."""
    return {}


@pytest.fixture
async def bot(
    start: Start,
    control: Control,
    redis: Connection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rules: dict[str, Any],
) -> AsyncIterator[Bot]:
    file = tmp_path / "policy.yaml"
    file.write_text(policy(control, **rules))
    monkeypatch.setenv("AKSBOT_POLICY", str(file))
    async with start(times=HurriedTimes()) as running:
        yield running


@pytest.fixture
def desk(control: Control) -> Desk:
    return Desk(control)
