"""Forbidden actions: each ends with a message to the person, and without a write in Azure's log."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace

import pytest

from bot.app import Bot
from bot.fixes.proposal import End, Proposal
from bot.fixes.store.proposals import Proposals
from bot.playground.hurried import ShortenedPauses
from bot.store import keys
from bot.store.connect import Connection
from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from sandbox.slack.message import Message
from sandbox.slack.server import Fault, SlackServer
from sandbox.world import Change
from tests.slack_app.conftest import Start
from tests.slack_app.fixes.steps import CHANNEL, POOL_WRITE, Desk, audited, ended, pool_of, writes
from tests.slack_app.reading import buttons, seen


@pytest.fixture(autouse=True)
async def _nothing_is_written(arm: ArmServer) -> AsyncIterator[None]:
    yield
    assert writes(arm) == []


async def only_proposal(redis: Connection) -> Proposal:
    (name,) = [key async for key in redis.redis.scan_iter("aksbot:proposal:*")]
    one = await Proposals(redis.redis).load(str(name).removeprefix("aksbot:proposal:"))
    assert one
    return one


async def change(redis: Connection, make: Callable[[Proposal], Proposal]) -> None:
    one = await only_proposal(redis)
    await Proposals(redis.redis).move(one.id, lambda before, _: make(before))


def carry(message: Message, action: str, *values: str) -> None:
    """Replace a button's values, as in a forged click."""
    for block in message.blocks:
        for one in block.get("elements", []):
            if one.get("action_id") == action:
                before = json.loads(one["value"])
                one["value"] = json.dumps([*values, *before[len(values) :]])


async def test_a_forged_proposal_leads_nowhere(bot: Bot, desk: Desk, control: Control) -> None:
    proposal = await desk.asked()
    carry(proposal, "fix_approve", "forged")
    await control.press("approver", proposal, "fix_approve")
    await desk.told("approver", "Nothing was done", "not known")


async def test_what_no_button_of_ours_carries_leads_nowhere(bot: Bot, desk: Desk, control: Control) -> None:
    proposal = await desk.asked()
    for block in proposal.blocks:
        for one in block.get("elements", []):
            if one.get("action_id") == "fix_approve":
                one["value"] = "{not json"
    await control.press("approver", proposal, "fix_approve")
    await desk.told("approver", "Nothing was done", "not known")


async def test_a_plan_that_was_exchanged_is_not_approved_by_the_old_button(
    bot: Bot, desk: Desk, control: Control, redis: Connection
) -> None:
    proposal = await desk.asked()
    await change(redis, lambda one: one.moved(plan=replace(one.plan, undo="there is another one")))
    await control.press("approver", proposal, "fix_approve")
    await desk.told("approver", "another plan")


async def test_a_plan_that_was_exchanged_after_its_approval_does_not_run(
    bot: Bot, desk: Desk, control: Control, redis: Connection
) -> None:
    proposal = await desk.asked()
    await change(redis, lambda one: one.moved(rules=replace(one.rules, needed=2)))
    await control.press("approver", proposal, "fix_approve")
    await desk.says("1 of 2 approvals still needed")
    await change(
        redis,
        lambda one: one.moved(
            plan=replace(one.plan, undo="there is another one"),
            rules=replace(one.rules, needed=1, requester_counts=True),
        ),
    )
    # An approval is for one plan: the exchanged one has none, though one approval is all it needs now.
    one = await only_proposal(redis)
    assert all(word.digest != one.digest for word in one.approvals)
    carry(await desk.proposal(), "fix_approve", one.id, one.digest)
    await control.press("visitor", await desk.proposal(), "fix_approve")
    await desk.told("visitor", "not among those")


async def test_the_wrong_person_is_told_who_may(bot: Bot, desk: Desk, control: Control, redis: Connection) -> None:
    proposal = await desk.asked()
    await control.press("visitor", proposal, "fix_approve")
    said = await desk.told("visitor", "not among those who may approve", "Who may approve")
    assert "Who may approve" in said
    assert control.team.person("approver").id in str([one.blocks for one in control.ephemerals("visitor", CHANNEL)])
    await desk.declined(proposal, "visitor")
    await control.until(lambda: len(control.ephemerals("visitor", CHANNEL)) == 2, 30)
    assert "waits for approval" in seen(await desk.proposal())
    assert await audited(redis) == ["requested", "refused", "refused"]


@pytest.mark.parametrize("rules", [{"approvers": ["T0NORTHWIND:approver"], "break_glass": ["requester"]}])
async def test_the_right_user_of_another_team_is_somebody_else(bot: Bot, desk: Desk, control: Control) -> None:
    await control.press("approver", await desk.asked(), "fix_approve")
    await desk.told("approver", "not among those")


@pytest.mark.parametrize("rules", [{"approvers": ["requester", "approver"]}])
async def test_under_four_eyes_nobody_approves_what_they_have_asked_for(bot: Bot, desk: Desk, control: Control) -> None:
    await control.press("requester", await desk.asked(), "fix_approve")
    await desk.told("requester", "someone else must approve it")


@pytest.mark.parametrize("rules", [{"approvers": []}])
async def test_an_empty_list_is_nobody_and_there_is_no_button(bot: Bot, desk: Desk) -> None:
    cause = await desk.offered()
    assert "fix_0_0" not in buttons(cause)
    assert "names nobody who may approve" in seen(cause)


async def test_without_a_policy_the_answer_says_what_to_configure(start: Start, desk: Desk) -> None:
    async with start():
        cause = await desk.offered()
    assert "fix_0_0" not in buttons(cause)
    assert "no rule of the policy lets anybody run reconcile-pool on staging-neu" in seen(cause)
    assert "AKSBOT_POLICY" in seen(cause)


@pytest.mark.parametrize("rules", [{"highest_risk": "low", "remedies": ["abort-*"]}])
async def test_a_remedy_that_no_rule_covers_has_no_button(bot: Bot, desk: Desk) -> None:
    assert "fix_0_0" not in buttons(await desk.offered())


@pytest.mark.parametrize("rules", [{"frozen": ["always"], "freezes": [{"name": "always"}]}])
async def test_in_a_freeze_there_is_no_button(bot: Bot, desk: Desk) -> None:
    cause = await desk.offered()
    assert "fix_0_0" not in buttons(cause)
    assert "freeze “always”" in seen(cause)


async def test_an_expired_offer_is_said_to_have_expired(
    bot: Bot, desk: Desk, control: Control, redis: Connection
) -> None:
    proposal = await desk.asked()
    await change(redis, lambda one: one.moved(expires_ms=1))
    await control.press("approver", proposal, "fix_approve")
    await desk.told("approver", "has expired")


async def test_an_offer_that_expired_before_anybody_asked_shows_its_plan_and_no_way_on(
    bot: Bot, desk: Desk, control: Control, redis: Connection
) -> None:
    cause = await desk.offered()
    await change(redis, lambda one: one.moved(expires_ms=1))
    view = await desk.planned(cause)
    assert "has expired" in str(view.blocks)
    assert view.body.get("submit") is None


async def test_a_request_of_which_somebody_was_faster_is_told(bot: Bot, desk: Desk, control: Control) -> None:
    cause = await desk.offered()
    for user in ("requester", "approver"):
        await desk.planned(cause, user)
    await control.submit_view("requester")
    await desk.says("waits for approval")
    await control.submit_view("approver")
    await desk.told("approver", "someone has asked for this already")
    assert len([one for one in control.messages(CHANNEL) if "fix_show" in buttons(one)]) == 1


async def test_a_click_on_a_declined_one_changes_nothing(bot: Bot, desk: Desk, control: Control) -> None:
    proposal = await desk.asked()
    old = [dict(block) for block in proposal.blocks]
    await desk.declined(proposal)
    await desk.says("declined")
    proposal.blocks[:] = old
    await control.press("approver", proposal, "fix_approve")
    await desk.told("approver", "this has ended already", "declined")


@pytest.mark.parametrize("rules", [{"reason": True}])
async def test_where_a_reason_is_needed_nothing_begins_without_one(bot: Bot, desk: Desk, control: Control) -> None:
    view = await desk.planned(await desk.offered())
    await control.submit_view("requester")
    assert view.errors
    assert desk.find() is None


async def test_a_world_that_has_moved_is_told_with_what_changed(
    bot: Bot, desk: Desk, control: Control, arm: ArmServer, redis: Connection
) -> None:
    proposal = await desk.asked()
    arm.world.apply(Change(pool_of(arm), {"properties": {"eTag": "another"}}))
    await control.press("approver", proposal, "fix_approve")
    assert (await ended(redis)).end is End.STALE
    await desk.says("out of date", "eTag of pool general")
    thread = control.thread(CHANNEL, proposal.thread_ts or "")
    await control.until(lambda: "fix_0_0" in buttons(control.thread(CHANNEL, proposal.thread_ts or "")[-1]), 30)
    assert "started" not in await audited(redis)
    assert thread


def gone_by_itself(arm: ArmServer) -> None:
    arm.world.apply(Change(pool_of(arm), {"properties": {"provisioningState": "Succeeded", "status": None}}))


def at_work(arm: ArmServer) -> None:
    arm.world.apply(Change(cluster_of(arm), {"properties": {"provisioningState": "Updating"}}))


def not_permitted(arm: ArmServer) -> None:
    arm.deny("writer", POOL_WRITE)


def locked(arm: ArmServer) -> None:
    lock = {"name": "frozen", "type": "Microsoft.Authorization/locks", "properties": {"level": "ReadOnly"}}
    arm.world.put({"id": f"{cluster_of(arm)}/providers/Microsoft.Authorization/locks/frozen", **lock})


def cluster_of(arm: ArmServer) -> str:
    return pool_of(arm).rpartition("/agentPools/")[0]


@pytest.mark.parametrize(
    ("happens", "said"),
    [(gone_by_itself, "gone by itself"), (at_work, "Updating"), (not_permitted, POOL_WRITE), (locked, "lock")],
)
async def test_what_has_come_in_between_since_the_plan_is_told_and_nothing_is_written(
    bot: Bot, desk: Desk, control: Control, arm: ArmServer, happens: Callable[[ArmServer], None], said: str
) -> None:
    proposal = await desk.asked()
    happens(arm)
    await control.press("approver", proposal, "fix_approve")
    await desk.says("out of date", said)


async def test_another_fix_on_the_cluster_must_end_first(
    bot: Bot, desk: Desk, control: Control, redis: Connection
) -> None:
    from bot.fixes.store.executions import Executions
    from handlers.remedy.execution import Execution

    proposal = await desk.asked()
    plan = (await only_proposal(redis)).plan
    await Executions(redis.redis).hold(Execution.begin("another", plan))
    await control.press("approver", proposal, "fix_approve")
    await desk.told("approver", "another fix runs on staging-neu")


async def its_end_cut_off(redis: Connection) -> None:
    await redis.redis.hset(keys.AUDIT_TIP, "number", "7")


async def something_else_in_its_place(redis: Connection) -> None:
    await redis.redis.delete(keys.AUDIT)
    await redis.redis.set(keys.AUDIT, "something else")


async def deleted_with_its_tip(redis: Connection) -> None:
    await redis.redis.delete(keys.AUDIT, keys.AUDIT_TIP)


@pytest.mark.parametrize("happens", [its_end_cut_off, something_else_in_its_place, deleted_with_its_tip])
async def test_a_broken_audit_refuses_every_fix(
    bot: Bot, desk: Desk, control: Control, redis: Connection, happens: Callable[[Connection], Awaitable[None]]
) -> None:
    proposal = await desk.asked()
    await happens(redis)
    await control.press("approver", proposal, "fix_approve")
    await desk.told("approver", "the audit is broken", "aksbot audit verify")


async def test_without_redis_a_click_is_refused_with_the_reason(
    bot: Bot, desk: Desk, control: Control, redis: Connection
) -> None:
    proposal = await desk.asked()
    assert redis.embedded
    await redis.embedded.__aexit__(None, None, None)
    await control.press("approver", proposal, "fix_approve")
    await desk.told("approver", "memory", "cannot be done now")


async def test_of_a_click_that_slack_repeats_and_of_two_at_once_one_counts(
    bot: Bot, start: Start, desk: Desk, control: Control, arm: ArmServer, redis: Connection
) -> None:
    """Nothing is to be written here: the world has moved, and is found to have moved once."""
    proposal = await desk.asked()
    arm.world.apply(Change(pool_of(arm), {"properties": {"eTag": "another"}}))
    async with start(times=ShortenedPauses()):
        await asyncio.gather(*(control.press("approver", proposal, "fix_approve") for _ in range(4)))
        await ended(redis)
        await desk.told("approver", "Nothing was done")
    assert (await audited(redis)).count("approved") == 1
    assert (await audited(redis)).count("ended") == 1


async def test_slack_that_does_not_say_who_somebody_is_lets_nobody_through(
    bot: Bot, desk: Desk, control: Control, slack: SlackServer
) -> None:
    proposal = await desk.asked()
    slack.faults.append(Fault("500", "users.info"))
    await control.press("approver", proposal, "fix_approve")
    await desk.told("approver", "does not say who you are")


async def test_a_refusal_that_could_only_be_said_at_the_second_try_is_recorded_once(
    bot: Bot, desk: Desk, control: Control, redis: Connection, slack: SlackServer
) -> None:
    proposal = await desk.asked()
    slack.faults.append(Fault("500", "response_url", times=2))
    await control.press("visitor", proposal, "fix_approve")
    await desk.told("visitor", "not among those")
    assert await audited(redis) == ["requested", "refused"]
    await control.press("visitor", proposal, "fix_approve")
    await control.until(lambda: len(control.ephemerals("visitor", CHANNEL)) == 2, 30)
    assert await audited(redis) == ["requested", "refused", "refused"]
