"""The whole bot is killed (SIGKILL) while it is handling a click, and the next one completes it."""

from __future__ import annotations

import os
import signal
from asyncio.subprocess import Process
from collections import Counter

from bot.audit.store import Audit
from bot.drill.repair import writes
from bot.fixes.proposal import End
from bot.fixes.store.executions import Executions
from bot.fixes.store.proposals import Proposals
from sandbox.world import Change
from tests.slack_app.fixes.steps import CHANNEL, asked_proposal, audited, pool_of
from tests.slack_app.reading import buttons, seen
from tests.whole_bot_killed.conftest import Another
from tests.whole_bot_killed.moments import AUDITED, MOVED, AtRedis, Trap
from tests.whole_bot_killed.stage import Stage


async def stands_still(stage: Stage, process: Process, trap: Trap) -> None:
    await trap.sprung()
    os.kill(process.pid, signal.SIGSTOP)
    await stage.is_killed(process)


async def test_a_request_that_was_kept_and_not_posted_is_posted_and_can_be_approved(
    stage: Stage, another: Another
) -> None:
    desk, control = stage.desk, stage.desk.control
    async with stage.serving(None) as process:
        await desk.planned(await desk.offered())
        trap = AtRedis(f'{AUDITED}.*"what":"requested"')
        trap.lay(stage.arm, stage.gate)
        await control.submit_view("requester", {"reason": "the pool cannot scale"})
        await stands_still(stage, process, trap)
        assert desk.find() is None
        async with another():
            proposal = await desk.says("waits for approval", "the pool cannot scale")
            assert control.ephemerals("requester", CHANNEL)[1:] == []
            await control.press("approver", proposal, "fix_approve")
            assert (await stage.over()).end is End.FIXED
    assert Counter(await audited(stage.redis))["requested"] == 1


async def test_a_no_that_was_kept_and_not_told_is_told(stage: Stage, another: Another) -> None:
    desk, control = stage.desk, stage.desk.control
    async with stage.serving(None) as process:
        proposal = await desk.asked()
        trap = AtRedis(f'{MOVED}.*"end":"denied"', done=True)
        trap.lay(stage.arm, stage.gate)
        await desk.declined(proposal)
        await stands_still(stage, process, trap)
        async with another():
            assert (await stage.over()).end is End.DENIED
            await desk.says("declined", "Declined by")
    one = await asked_proposal(stage.redis)
    assert len(stage.outcomes(one)) == 1
    assert control.ephemerals("approver", CHANNEL) == []
    assert await audited(stage.redis) == ["requested", "declined"]
    assert writes(stage.arm) == []


async def test_a_world_that_has_moved_is_told_with_the_new_plan_and_the_cluster_is_free(
    stage: Stage, another: Another
) -> None:
    desk, control = stage.desk, stage.desk.control
    async with stage.serving(None) as process:
        proposal = await desk.asked()
        stage.arm.world.apply(Change(pool_of(stage.arm), {"properties": {"eTag": "another"}}))
        trap = AtRedis(f'{MOVED}.*"end":"stale"', done=True)
        trap.lay(stage.arm, stage.gate)
        await control.press("approver", proposal, "fix_approve")
        await stands_still(stage, process, trap)
        async with another():
            one = await stage.over()
    assert one.end is End.STALE
    assert await Executions(stage.redis.redis).holder(one.plan.cluster) is None
    (outcome,) = stage.outcomes(one)
    assert "out of date" in seen(outcome)
    assert "fix_0_0" in buttons(outcome)
    assert writes(stage.arm) == []
    assert Counter(await audited(stage.redis))["ended"] == 1


async def test_a_fix_that_did_not_work_counts_as_a_try_also_where_the_bot_died_before_it_counted(
    stage: Stage, another: Another
) -> None:
    pool = pool_of(stage.arm)
    rule = next(one for one in stage.arm.world.writes if one.id.lower() == pool.lower())
    still = Change(pool, {"properties": {"provisioningState": "Failed"}})
    stage.arm.world.writes.insert(0, type(rule)("PUT", pool, then=(still,)))
    async with stage.serving(0.0) as process:
        proposal = await stage.desk.asked()
        trap = AtRedis(f'{MOVED}.*"end":"not-fixed"', done=True)
        trap.lay(stage.arm, stage.gate)
        await stage.desk.control.press("approver", proposal, "fix_approve")
        await stands_still(stage, process, trap)
        async with another():
            one = await stage.over()
    assert one.end is End.NOT_FIXED
    assert await Proposals(stage.redis.redis).failed_tries(one.plan) == 1
    assert (await Audit(stage.redis.redis).verify()).whole
