"""Data stored between approval and execution is verified again: tampering with it prevents the fix."""

from __future__ import annotations

from dataclasses import replace

from bot.app import Bot
from bot.fixes.store.executions import Executions, RedisLedger
from bot.store.connect import Connection
from handlers.remedy.execution import Execution
from handlers.remedy.plan import Plan
from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from tests.slack_app.fixes.steps import Desk, audited, pool_of, writes
from tests.slack_app.fixes.test_refused import change, only_proposal


def on_another_pool(arm: ArmServer, plan: Plan) -> Plan:
    above = f"{plan.cluster}/agentPools/".lower()
    other = next(
        body for key, body in arm.world.resources.items() if key.startswith(above) and body["id"] != plan.target
    )
    arguments = {"etag": other["properties"].get("eTag") or other.get("eTag")}
    return replace(plan, steps=(replace(plan.steps[0], target=other["id"], arguments=arguments),))


async def test_an_offer_of_another_team_leads_nowhere(
    bot: Bot, desk: Desk, control: Control, redis: Connection, arm: ArmServer
) -> None:
    proposal = await desk.asked()
    await change(redis, lambda one: one.moved(team="T0000000"))
    await control.press("approver", proposal, "fix_approve")
    await desk.told("approver", "Nothing was done", "not known")
    assert writes(arm) == []


async def test_a_plan_that_lies_ready_to_run_is_not_taken_for_the_approved_one(
    bot: Bot, desk: Desk, control: Control, redis: Connection, arm: ArmServer
) -> None:
    proposal = await desk.asked()
    one = await only_proposal(redis)
    executions = Executions(redis.redis)
    ready = Execution.begin(one.id, on_another_pool(arm, one.plan))
    ledger = await executions.hold(ready)
    assert isinstance(ledger, RedisLedger)
    await ledger.save(ready)
    await control.press("approver", proposal, "fix_approve")
    await desk.says("*fixed*")
    assert writes(arm) == [("PUT", pool_of(arm))]
    assert "started" in await audited(redis)
