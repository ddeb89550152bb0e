"""From the answer's button to a verified fix, through Slack, with the calls that Azure really saw."""

from __future__ import annotations

from typing import Any

import pytest

from bot.app import Bot
from bot.audit.aside_store import AuditAside
from bot.audit.store import Audit
from bot.fixes.proposal import End
from bot.fixes.store.proposals import Proposals
from bot.store import keys
from bot.store.connect import Connection
from sandbox.arm.server import ArmServer, Fault
from sandbox.slack.control import Control
from sandbox.slack.message import Message
from sandbox.slack.views import View
from sandbox.world import Change, WriteRule
from tests.slack_app.fixes.steps import CHANNEL, Desk, audited, ended, pool_of, writes
from tests.slack_app.reading import buttons, seen


def rule(arm: ArmServer, **more: Any) -> None:
    """What Azure makes of the write, instead of what the scenario says."""
    arm.world.writes.insert(0, WriteRule("PUT", pool_of(arm), **more))


async def test_a_fix_goes_from_the_button_to_verified(
    bot: Bot, desk: Desk, control: Control, arm: ArmServer, redis: Connection
) -> None:
    cause = await desk.offered()
    view = await desk.planned(cause)
    assert "PUT /subscriptions/" in str(view.blocks)
    assert writes(arm) == []
    await control.submit_view("requester", {"reason": "the pool cannot scale"})
    proposal = await desk.says("waits for approval", "the pool cannot scale")
    assert control.team.person("approver").id in str(proposal.blocks)
    assert writes(arm) == []
    await control.press("approver", proposal, "fix_approve")
    done = await desk.says("fixed", "nodepool-failed", "HEALTHY in what was asked")
    assert done.ts == proposal.ts
    assert writes(arm) == [("PUT", pool_of(arm))]
    assert "fix_approve" not in buttons(done)
    thread = cause.thread_ts or cause.ts
    await control.until(lambda: any("*fixed*" in seen(x) and x.ts != done.ts for x in control.thread(CHANNEL, thread)))
    assert await audited(redis) == ["requested", "approved", "started", "called", "ended"]
    assert (await Audit(redis.redis).verify()).whole
    records = [one.entry async for one in Audit(redis.redis).records()]
    (call,) = [one["details"] for one in records if one["what"] == "called"]
    sent = next(one for one in arm.log if one.is_write and one.principal)
    assert (call["method"], call["request_id"]) == ("PUT", sent.client_request_id)
    assert call["correlation_id"]


async def test_azure_failing_it_again_is_said_with_azures_own_reason(
    bot: Bot, desk: Desk, control: Control, arm: ArmServer
) -> None:
    rule(arm, ends="Failed", error={"code": "ZonalAllocationFailed", "message": "no machine of that size"})
    await control.press("approver", await desk.asked(), "fix_approve")
    await desk.says("*failed*", "ZonalAllocationFailed")
    assert len(writes(arm)) == 1


async def test_a_success_that_changes_nothing_is_not_taken_for_a_fix(
    bot: Bot, desk: Desk, control: Control, arm: ArmServer
) -> None:
    still_failed = Change(pool_of(arm), {"properties": {"provisioningState": "Failed"}})
    rule(arm, then=(still_failed,))
    await control.press("approver", await desk.asked(), "fix_approve")
    await desk.says("not fixed", "still there")
    assert len(writes(arm)) == 1


async def test_when_the_look_afterwards_sees_nothing_it_is_unverified(
    bot: Bot, desk: Desk, control: Control, arm: ArmServer
) -> None:
    proposal = await desk.asked()
    cluster = f"/managedclusters/{desk.cluster}"
    listed = "Microsoft.ContainerService/managedClusters/agentPools/read"
    seen_once = Change(pool_of(arm), {"properties": {"provisioningState": "Succeeded"}})
    rule(arm, then=(seen_once,))
    await control.press("approver", proposal, "fix_approve")
    await control.until(lambda: bool(writes(arm)), 60)
    arm.deny("reader", listed)
    await desk.says("could not be verified")
    assert cluster in pool_of(arm).lower()


@pytest.mark.parametrize(
    ("status", "code", "end"),
    [
        (403, "AuthorizationFailed", End.FAILED),
        (409, "OperationNotAllowed", End.STALE),
        (412, "EtagMismatch", End.STALE),
        (409, "ScopeLocked", End.FAILED),
    ],
)
async def test_what_azure_refuses_is_told_and_sent_once(
    bot: Bot, desk: Desk, control: Control, arm: ArmServer, redis: Connection, status: int, code: str, end: End
) -> None:
    rule(arm, refuse=(status, {"error": {"code": code, "message": f"{code}: it is so"}}))
    await control.press("approver", await desk.asked(), "fix_approve")
    assert (await ended(redis)).end is end
    await desk.says(code)
    assert len(writes(arm)) == 1


async def test_a_write_whose_answer_is_lost_is_never_sent_again(
    bot: Bot, desk: Desk, control: Control, arm: ArmServer, redis: Connection
) -> None:
    arm.faults.append(Fault("reset", method="PUT", principal="writer", times=1, executed=True))
    await control.press("approver", await desk.asked(), "fix_approve")
    await control.until(lambda: bool(writes(arm)), 60)
    arm.finish_operations()
    one = await ended(redis)
    assert one.end in (End.FIXED, End.UNVERIFIED)
    assert len(writes(arm)) == 1


async def test_stopping_between_steps_is_told(
    bot: Bot, desk: Desk, control: Control, arm: ArmServer, redis: Connection
) -> None:
    await control.press("requester", await desk.asked(), "fix_stop")
    await desk.says("*withdrawn: nothing was done*", "Withdrawn")
    assert writes(arm) == []
    assert await audited(redis) == ["requested", "cancelled"]


async def test_declining_asks_why_and_ends_it(
    bot: Bot, desk: Desk, control: Control, arm: ArmServer, redis: Connection
) -> None:
    await control.press("approver", await desk.asked(), "fix_decline")
    window = await desk.window("approver")
    assert "Why not?" in str(window.blocks)
    assert await audited(redis) == ["requested"], "the button alone declines nothing"
    await control.submit_view("approver", {"reason": "batch runs until 5"})
    await desk.says("declined", "Declined by", "Batch runs until 5")
    assert writes(arm) == []
    records = [one.entry async for one in Audit(redis.redis).records()]
    assert [one["what"] for one in records] == ["requested", "declined"]
    assert records[-1]["reason"] == "batch runs until 5"


@pytest.mark.parametrize("rules", [{"requester_counts": True, "approvers": ["requester"]}])
async def test_where_ones_own_word_is_enough_it_runs_at_once(
    bot: Bot, desk: Desk, control: Control, arm: ArmServer
) -> None:
    cause = await desk.offered()
    view = await desk.planned(cause)
    assert "runs at once" in str(view.blocks)
    await control.submit_view("requester", {"reason": "x"})
    await desk.says("*fixed*")
    assert len(writes(arm)) == 1


@pytest.mark.parametrize("rules", [{"approvals": 2, "approvers": ["approver", "visitor"]}])
async def test_two_approvals_are_needed_where_the_policy_says_two(
    bot: Bot, desk: Desk, control: Control, arm: ArmServer
) -> None:
    proposal = await desk.asked()
    await control.press("approver", proposal, "fix_approve")
    await desk.says("1 of 2 approvals still needed")
    await control.press("approver", await desk.proposal(), "fix_approve")
    await desk.told("approver", "you have approved this already")
    assert writes(arm) == []
    await control.press("visitor", await desk.proposal(), "fix_approve")
    await desk.says("*fixed*")
    assert len(writes(arm)) == 1


@pytest.mark.parametrize("rules", [{"approvers": ["@aks-approvers"]}])
async def test_a_user_group_may_approve(bot: Bot, desk: Desk, control: Control, arm: ArmServer) -> None:
    proposal = await desk.asked()
    assert "usergroup" in str(proposal.blocks)
    await control.press("visitor", proposal, "fix_approve")
    await desk.told("visitor", "not among those")
    await control.press("approver", proposal, "fix_approve")
    await desk.says("*fixed*")


FROZEN = {"frozen": ["always"], "freezes": [{"name": "always"}], "break_glass": ["visitor"]}


@pytest.mark.parametrize("rules", [FROZEN])
async def test_the_glass_is_broken_loudly_and_with_a_reason(
    bot: Bot, desk: Desk, control: Control, arm: ArmServer, redis: Connection
) -> None:
    proposal = await desk.asked()
    assert "freeze “always” is on" in seen(proposal)
    assert called(proposal, control, "visitor")
    assert not called(proposal, control, "approver"), "who cannot approve now is not woken"
    await control.press("approver", proposal, "fix_approve")
    await desk.told("approver", "freeze", "always")
    await control.press("visitor", proposal, "fix_glass")
    await control.submit_view("visitor", {"reason": "payments are down"})
    await desk.says("*fixed*", "payments are down")
    thread = control.thread(CHANNEL, proposal.thread_ts or "")
    assert any("Break-glass used" in seen(one) for one in thread)
    assert await audited(redis) == ["requested", "refused", "broke-glass", "started", "called", "ended"]
    assert len(writes(arm)) == 1


async def test_the_plan_can_be_read_by_everybody(bot: Bot, desk: Desk, control: Control) -> None:
    await control.press("visitor", await desk.asked(), "fix_show")
    view: View = await desk.window("visitor")
    assert "PUT /subscriptions/" in str(view.blocks)
    assert view.body.get("submit") is None


async def test_after_three_failed_tries_it_is_escalated_instead(
    bot: Bot, desk: Desk, control: Control, arm: ArmServer, redis: Connection
) -> None:
    await desk.offered()
    proposals = Proposals(redis.redis)
    (name,) = [key async for key in redis.redis.scan_iter("aksbot:proposal:*")]
    one = await proposals.load(str(name).removeprefix("aksbot:proposal:"))
    assert one
    for number in range(3):
        await proposals.count_ended(one.moved(id=f"try-{number}", end=End.NOT_FIXED))
    await control.slash("requester", CHANNEL, "/aks", f"fixes {desk.cluster}")
    listed = await desk.listed()
    assert "was tried 3 times" in seen(listed)
    assert not [name for name in buttons(listed) if name.startswith("fix_")]


async def test_fixes_and_open_requests_are_listed(bot: Bot, desk: Desk, control: Control) -> None:
    await desk.asked()
    await control.slash("visitor", CHANNEL, "/aks", f"fixes {desk.cluster}")
    listed = await desk.listed()
    assert "Reconcile node pool general" in seen(listed)
    assert "the request" in seen(listed)
    assert "fix_0_0" in buttons(listed)
    control.open_home("approver")
    await control.until(lambda: "Reconcile node pool general" in _home(control), 30)


async def test_after_a_broken_audit_was_set_aside_a_fix_runs_and_the_audit_says_so(
    bot: Bot, desk: Desk, control: Control, arm: ArmServer, redis: Connection
) -> None:
    proposal = await desk.asked()
    await redis.redis.delete(keys.AUDIT, keys.AUDIT_TIP)
    await control.press("approver", proposal, "fix_approve")
    await desk.told("approver", "the audit is broken")
    await AuditAside(redis.redis).set_aside("somebody", "the wrong command in the wrong window")
    await control.press("approver", proposal, "fix_approve")
    await desk.says("*fixed*")
    assert await audited(redis) == ["set-aside", "approved", "started", "called", "ended"]
    assert len(writes(arm)) == 1
    await control.slash("requester", CHANNEL, "/aks", "audit")
    await desk.told("requester", "5 records, whole", "set aside", "the wrong command in the wrong window")


def called(said: Message, control: Control, user: str) -> bool:
    return control.team.person(user).id in f"{said.text} {said.blocks}"


@pytest.mark.parametrize("rules", [{"approvers": [], "break_glass": ["visitor"]}])
async def test_where_nobody_approves_who_may_break_the_glass_is_called(bot: Bot, desk: Desk, control: Control) -> None:
    assert called(await desk.asked(), control, "visitor")


def _home(control: Control) -> str:
    view = control.home("approver")
    return str(view.blocks) if view else ""
