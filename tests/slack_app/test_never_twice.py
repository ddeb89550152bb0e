"""A process is killed (SIGKILL) at the worst moments: the thread ends with an answer, and with exactly one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from bot.store.connect import Connection, connected
from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario
from sandbox.slack.control import Control
from sandbox.slack.server import Fault, SlackServer
from tests.checking import azure
from tests.slack_app.conftest import SCENARIO, Start
from tests.slack_app.reading import heads
from tests.slack_app.serve_process import Stage, all_told, crowd, hit, kill, said_once

CAUSES = 40
"""More than fit into one message of the thread, so that there are several messages, and a file."""

POST, UPDATE, SHARE = "chat.postMessage", "chat.update", "files.completeUploadExternal"
MOMENTS = {
    "before the head": (POST, 0, False),
    "head posted, not recorded": (POST, 0, True),
    "progress edited": (UPDATE, 0, True),
    "first part of the thread posted, not recorded": (POST, 1, True),
    "between two parts of the thread": (POST, 2, False),
    "second part of the thread posted, not recorded": (POST, 2, True),
    "file uploaded, not recorded": (SHARE, 0, True),
}
"""The call that hangs, after how many of its kind, and whether Slack has executed it."""
EACH_TIME = ("head posted, not recorded", True)
"""The cases for every run; the soak has all. Each needs a process, and the delay before a job is picked up again."""


@pytest.fixture
async def arm() -> AsyncIterator[ArmServer]:
    world = Scenario.load(SCENARIO).world
    crowd(world, "prod-weu", CAUSES)
    async with azure(world) as server:
        yield server


@pytest.fixture
async def redis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Connection]:
    async with connected(None, tmp_path / "redis") as server:
        monkeypatch.setenv("REDIS_URL", server.url)
        yield server


@pytest.fixture
def stage(slack: SlackServer, arm: ArmServer, redis: Connection, tmp_path: Path) -> Stage:
    return Stage(slack, arm, redis, tmp_path)


def _every_moment() -> list[object]:
    walk = [(name, alive) for name in MOMENTS for alive in (False, True)]
    return [
        pytest.param(name, alive, id=f"{name}, {'another lives' if alive else 'a new one comes'}", marks=marks)
        for name, alive in walk
        for marks in [[] if (name, alive) == EACH_TIME else [pytest.mark.soak]]
    ]


@pytest.mark.parametrize(("moment", "another_lives"), _every_moment())
async def test_killed_while_it_speaks(
    stage: Stage, start: Start, control: Control, moment: str, another_lives: bool
) -> None:
    method, before, done = MOMENTS[moment]
    fault = Fault("timeout", method, times=1, skip=before, executed=done)
    stage.slack.faults.append(fault)
    stage.arm.latency_s = 0.3 if method == UPDATE else 0.0  # else nothing is edited before the answer
    async with AsyncExitStack() as stack, stage.serving() as process:
        await control.slash("requester", "incidents", "/aks", "check prod-weu")
        await hit(fault)
        if another_lives:
            await stack.enter_async_context(start())
        await kill(process)
        if not another_lives:
            await stack.enter_async_context(start())
        await all_told(stage.redis)
    assert len(said_once(control)) >= 4


@pytest.mark.soak
@pytest.mark.parametrize("another_lives", [True, False])
async def test_killed_in_the_middle_of_a_check(
    stage: Stage, start: Start, control: Control, another_lives: bool
) -> None:
    stage.arm.latency_s = 5.0
    async with AsyncExitStack() as stack, stage.serving() as process:
        await control.slash("requester", "incidents", "/aks", "check prod-weu")
        await control.until(lambda: len(heads(control)) == 1 and len(stage.arm.calls) > 0, 60)
        if another_lives:
            await stack.enter_async_context(start())
        await kill(process)
        stage.arm.latency_s = 0.0
        if not another_lives:
            await stack.enter_async_context(start())
        await all_told(stage.redis)
    said_once(control)


async def test_killed_between_the_acknowledgement_and_the_work(stage: Stage, start: Start, control: Control) -> None:
    async with stage.serving("web") as process:
        await control.slash("requester", "incidents", "/aks", "check prod-weu")
        assert len(control.ephemerals("requester")) == 1
        await kill(process)
    assert heads(control) == []
    async with start():
        await all_told(stage.redis)
    said_once(control)
