"""The whole bot, as people run it, with a Slack that we have not written and the sandbox's Azure."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario
from tests.checking import azure
from tests.clean_slate import collected, nobodys_settings
from tests.second_slack.serving import serving
from tests.second_slack.slack import EXECUTABLE, SecondSlack, second_slack, why_not

SCENARIO = "nodepool-failed"

__all__ = ["collected", "nobodys_settings"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = [item for item in items if item.path.parent == Path(__file__).parent]
    if here and (reason := why_not(EXECUTABLE)):
        for item in here:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture
async def arm() -> AsyncIterator[ArmServer]:
    async with azure(Scenario.load(SCENARIO).world) as server:
        yield server


@pytest.fixture
async def slack(arm: ArmServer, tmp_path: Path) -> AsyncIterator[SecondSlack]:
    """The second Slack, with the bot in its only channel."""
    async with second_slack(tmp_path) as server, serving(server, arm, tmp_path):
        yield server
