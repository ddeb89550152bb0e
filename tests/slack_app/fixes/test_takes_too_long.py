"""A long operation that outlives its plan: it is given up, said to go on by itself, and never taken for a repair."""

from __future__ import annotations

import json

import pytest

from bot.app import Bot
from bot.drill.repair import writes
from bot.fixes.proposal import End
from bot.store.connect import Connection
from handlers.evidence.budgets import RELAXED_FROM
from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from sandbox.world import Change, WriteRule
from tests.slack_app.fixes.steps import Desk, ended, pool_of
from tests.slack_app.fixes.test_every_remedy import budgets

FOR_EVER = ("ScalingAgentPool: 0/1 nodes completed",) * 5_000


def never_ends(arm: ArmServer, pool: str) -> None:
    arm.world.writes.insert(0, WriteRule("PUT", pool, interim=FOR_EVER))


async def test_an_operation_that_outlives_its_plan_is_no_repair_while_it_runs(
    bot: Bot, desk: Desk, control: Control, arm: ArmServer, redis: Connection
) -> None:
    pool = pool_of(arm)
    never_ends(arm, pool)
    await control.press("approver", await desk.asked(), "fix_approve")
    one = await ended(redis, 120)
    assert one.end is End.UNVERIFIED, (one.end, one.why)
    await desk.says("could not be verified", "not done within", "what was sent goes on by itself", "Look at")
    assert writes(arm) == [("PUT", pool)]
    assert arm.world.resources[pool.lower()]["properties"]["provisioningState"] not in ("Failed", "Succeeded")


@pytest.mark.parametrize("scenario", ["pdb-blocks-drain"])
async def test_a_relaxed_budget_is_put_back_when_the_time_is_over(
    bot: Bot, desk: Desk, control: Control, arm: ArmServer, redis: Connection
) -> None:
    before, proposal = budgets(arm), await desk.asked()
    never_ends(arm, pool_of(arm, "apps"))
    await control.press("approver", proposal, "fix_approve")
    one = await ended(redis, 120)
    assert one.end is End.UNVERIFIED, (one.end, one.why)
    await desk.says("not done within", "what was sent goes on by itself")
    assert [method for method, _ in writes(arm)] == ["PATCH", "PUT", "PATCH"]
    assert budgets(arm) == before
    assert RELAXED_FROM not in json.dumps(budgets(arm))


@pytest.mark.parametrize("state", ["Failed", "Succeeded"])
async def test_one_whose_end_nobody_was_told_is_not_called_a_repair_either(
    bot: Bot, desk: Desk, control: Control, arm: ArmServer, redis: Connection, state: str
) -> None:
    """Its polling URL says InProgress for ever, and the pool itself tells how it went."""
    pool = pool_of(arm)
    never_ends(arm, pool)
    proposal = await desk.asked()
    await control.press("approver", proposal, "fix_approve")
    await control.until(lambda: bool(writes(arm)), 60)
    done = {"provisioningState": state} | ({"status": None} if state == "Succeeded" else {})
    arm.world.apply(Change(pool, {"properties": done}))
    one = await ended(redis, 120)
    assert one.end is (End.UNVERIFIED if state == "Succeeded" else End.FAILED), (one.end, one.why)
    await desk.says("not done within")
    assert writes(arm) == [("PUT", pool)]
