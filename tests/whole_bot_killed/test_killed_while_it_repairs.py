"""The whole bot is killed (SIGKILL) during a fix that was approved in Slack, and another one finishes it."""

from __future__ import annotations

from contextlib import AsyncExitStack

import pytest

from bot.drill.repair import writes
from bot.fixes.proposal import End
from tests.slack_app.fixes.test_every_remedy import budgets
from tests.whole_bot_killed.conftest import Another
from tests.whole_bot_killed.moments import BUDGET, POOL, Moment
from tests.whole_bot_killed.stage import Stage

WALK = [("nodepool-failed", name) for name in POOL] + [("pdb-blocks-drain", name) for name in BUDGET]


def _moment(scenario: str, name: str) -> Moment:
    return (POOL if scenario == "nodepool-failed" else BUDGET)[name]


@pytest.mark.parametrize("another_lives", [False, True], ids=["a new one comes", "a worker lives"])
@pytest.mark.parametrize(("scenario", "name"), WALK, ids=[name for _, name in WALK])
async def test_killed_in_this_moment_it_ends_once_and_is_told_once(
    stage: Stage, another: Another, scenario: str, name: str, another_lives: bool
) -> None:
    moment, before = _moment(scenario, name), budgets(stage.arm)
    async with AsyncExitStack() as stack, stage.serving(moment.pace) as process:
        await stage.approved_until(moment, process)
        if another_lives:
            await stack.enter_async_context(another("worker"))
        await stage.is_killed(process)
        if not another_lives:
            await stack.enter_async_context(another())
        await stage.over()
    await stage.assert_well_ended(moment, before)


async def test_of_a_web_and_a_worker_the_worker_is_killed_and_the_next_one_ends_it(
    stage: Stage, another: Another
) -> None:
    moment, before = POOL["sent and accepted, no answer"], budgets(stage.arm)
    async with another("web"):
        async with stage.serving(None, "worker") as process:
            await stage.approved_until(moment, process)
            await stage.is_killed(process)
        async with another("worker"):
            await stage.over()
    await stage.assert_well_ended(moment, before)


async def test_killed_after_it_asked_who_may_the_next_one_asks_again_before_it_writes(
    stage: Stage, another: Another
) -> None:
    moment = POOL["asked who may, intent not recorded"]
    async with stage.serving(moment.pace) as process:
        await stage.approved_until(moment, process)
        await stage.is_killed(process)
    stage.desk.control.team.person("approver").deleted = True
    async with another():
        one = await stage.over()
    assert one.end is End.CANCELLED
    assert writes(stage.arm) == []
    await stage.desk.says("*stopped*", "approver has a guest account, one of another company, or none any more")


@pytest.mark.parametrize("scenario", ["pdb-blocks-drain"])
async def test_what_has_begun_is_put_back_although_its_approver_is_gone_by_then(
    stage: Stage, another: Another, scenario: str
) -> None:
    moment, before = BUDGET["budget relaxed, next step not begun"], budgets(stage.arm)
    async with stage.serving(moment.pace) as process:
        await stage.approved_until(moment, process)
        await stage.is_killed(process)
    assert budgets(stage.arm) != before
    stage.desk.control.team.person("approver").deleted = True
    async with another():
        await stage.over()
    await stage.assert_well_ended(moment, before)
