"""If no worker was running for a while between the check and the first write, the state is checked again."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.drill.repair import writes
from bot.fixes import moves
from bot.fixes.proposal import End
from bot.fixes.store.proposals import Proposals
from bot.playground.hurried import ShortenedPauses
from bot.store.connect import Connection
from handlers.remedy.execution import Execution
from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from sandbox.world import Change
from tests.slack_app.conftest import Start
from tests.slack_app.fixes.steps import Desk, approved, ended, kept


@pytest.fixture
def scenario() -> str:
    return "upgrade-runs-long"


@pytest.mark.usefixtures("configured")
@pytest.mark.parametrize("moved", [True, False], ids=["another one runs", "it still runs"])
async def test_an_operation_that_nobody_has_looked_at_is_not_aborted(
    start: Start, desk: Desk, control: Control, arm: ArmServer, redis: Connection, moved: bool
) -> None:
    async with start(times=ShortenedPauses()):
        await desk.asked()
    one = await approved(redis, control)
    here = replace(Execution.begin(one.id, one.plan), began=datetime.now(UTC) - timedelta(minutes=20))
    await kept(redis, here)
    await Proposals(redis.redis).move(one.id, moves.start)
    if moved:
        arm.world.apply(Change(one.plan.target, {"properties": {"provisioningState": "RotatingClusterCertificates"}}))
    async with start(times=ShortenedPauses()):
        after = await ended(redis)
        if moved:
            assert after.end is End.STALE, (after.end, after.why)
            await desk.says("out of date: nothing was done", "RotatingClusterCertificates")
    assert len(writes(arm)) == (0 if moved else 1), (after.end, after.why, writes(arm))
