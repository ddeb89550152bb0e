"""An unproven fix is not reported as fixed, and a partial one is not reported as having done nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.app import Bot
from bot.drill.repair import writes
from bot.fixes import moves
from bot.fixes.proposal import End
from bot.fixes.store.proposals import Proposals
from bot.playground.hurried import ShortenedPauses
from bot.store.connect import Connection
from handlers.remedy.execution import Call, Execution
from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from sandbox.world import Change
from tests.checking import cluster_id
from tests.slack_app.conftest import Start
from tests.slack_app.fixes.steps import Desk, approved, ended, kept
from tests.slack_app.reading import seen


@pytest.fixture
def scenario() -> str:
    return "drain-error-lost-pod"


async def test_a_cluster_that_somebody_stops_meanwhile_is_not_repaired(
    bot: Bot, desk: Desk, control: Control, arm: ArmServer, redis: Connection
) -> None:
    """Of a cluster that stands still nobody asks what its drains do: that is no answer."""
    await control.press("approver", await desk.asked(), "fix_approve")
    await control.until(lambda: bool(writes(arm)), 60)
    cluster = str(cluster_id(arm.world, "staging-neu"))
    arm.world.apply(Change(cluster, {"properties": {"powerState": {"code": "Stopped"}}}))
    one = await ended(redis)
    assert one.end is End.UNVERIFIED, (one.end, one.why)
    await desk.says("could not be verified", "stopped")


@pytest.mark.usefixtures("configured")
@pytest.mark.parametrize("scenario", ["pdb-blocks-drain"])
async def test_what_the_world_stops_half_way_is_not_said_to_have_done_nothing(
    start: Start, desk: Desk, control: Control, arm: ArmServer, redis: Connection
) -> None:
    async with start(times=ShortenedPauses()):
        await desk.asked()
    one = await approved(redis, control)
    relaxed = Call("PATCH", one.plan.steps[0].target, "3f0b7a52-6c1e-4d0a-9b53-0e6f5c1d2a77", "200")
    here = replace(Execution.begin(one.id, one.plan), step=1, calls=(relaxed,))
    await kept(redis, here)
    await Proposals(redis.redis).move(one.id, moves.start)
    arm.world.apply(Change(one.plan.steps[1].target, {"properties": {"eTag": "another"}}))
    async with start(times=ShortenedPauses()):
        after = await ended(redis)
        proposal = await desk.says("eTag was")
    assert after.end is End.NOT_FIXED, (after.end, after.why)
    assert "nothing was done" not in seen(proposal)
    assert "half way" in seen(proposal)
