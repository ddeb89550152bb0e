"""Approvals are evaluated again before the first write, as time passes, the policy changes and people leave."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bot.fixes import moves
from bot.fixes.proposal import End, Person, Proposal, State
from bot.fixes.store.proposals import Proposals
from bot.playground.hurried import ShortenedPauses
from bot.store.connect import Connection
from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from tests.slack_app.conftest import Start
from tests.slack_app.fixes.steps import CHANNEL, Desk, approved, asked_proposal, audited, ended, policy, writes
from tests.slack_app.reading import seen

Says = Callable[..., None]


@pytest.fixture
def says(control: Control, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Says:
    """Replace the policy; the next process that starts reads it."""

    def written(**rule: Any) -> None:
        file = tmp_path / "policy.yaml"
        file.write_text(policy(control, **rule))
        monkeypatch.setenv("AKSBOT_POLICY", str(file))

    return written


@pytest.fixture
async def waiting(start: Start, desk: Desk, says: Says, redis: Connection) -> Proposal:
    """A fix has been requested, and no process is running."""
    says()
    async with start(times=ShortenedPauses()):
        await desk.asked()
    return await asked_proposal(redis)


async def failed(redis: Connection, one: Proposal, times: int) -> None:
    """This very fix was tried before, and has not worked."""
    for number in range(times):
        await Proposals(redis.redis).count_ended(replace(one, id=f"before-{number}", end=End.NOT_FIXED))


async def with_words(redis: Connection, number: int) -> Proposal:
    """The proposal, once so many have approved it."""
    async with asyncio.timeout(60):
        while True:
            one = await asked_proposal(redis)
            if len(one.approvals) >= number:
                return one
            await asyncio.sleep(0.05)


async def test_an_approval_of_last_night_starts_nothing_at_noon(
    start: Start, waiting: Proposal, desk: Desk, control: Control, arm: ArmServer, redis: Connection
) -> None:
    one = await approved(redis, control)
    (word,) = one.approvals
    long_ago = replace(word, at_ms=word.at_ms - one.rules.lasts_ms - 1)
    await Proposals(redis.redis).move(one.id, lambda before, _: before.moved(approvals=(long_ago,)))
    async with start(times=ShortenedPauses()):
        await desk.says("expired: nothing was done", "within 30 minutes")
    assert (await ended(redis)).end is End.EXPIRED
    assert writes(arm) == []
    thread = control.thread(CHANNEL, (await desk.proposal()).thread_ts or "")
    assert any("expired: nothing was done" in seen(one) for one in thread)
    assert "started" not in await audited(redis)


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (
            {"approvals": 2, "approvers": ["approver", "visitor"]},
            "The policy now asks for 2 approvals. 1 more approval is needed",
        ),
        (
            {"approvers": ["requester"], "requester_counts": True},
            "approver is no longer an approver. 1 more approval is needed",
        ),
        ({"remedies": ["abort-*"]}, "policy does not allow it any more"),
        ({"clusters": ["prod-*"]}, "policy does not allow it any more"),
        ({"frozen": ["always"], "freezes": [{"name": "always"}]}, "freeze “always” is on now"),
        (
            {"frozen": ["always"], "freezes": [{"name": "always"}], "break_glass": ["visitor"]},
            "freeze “always” is on now",
        ),
    ],
    ids=[
        "more approvals",
        "other approvers",
        "other remedies",
        "other clusters",
        "frozen",
        "frozen, but for the glass",
    ],
)
async def test_a_policy_that_was_made_stricter_since_the_approval_counts(
    start: Start,
    waiting: Proposal,
    says: Says,
    desk: Desk,
    control: Control,
    arm: ArmServer,
    redis: Connection,
    rule: dict[str, Any],
    why: str,
) -> None:
    await approved(redis, control)
    says(**rule)
    async with start(times=ShortenedPauses()):
        await desk.says("*stopped*", why)
    assert writes(arm) == []


async def test_who_has_left_the_group_of_approvers_since_has_approved_nothing(
    start: Start, desk: Desk, says: Says, control: Control, arm: ArmServer, redis: Connection
) -> None:
    says(approvers=["@aks-approvers"])
    async with start(times=ShortenedPauses()):
        await desk.asked()
    await approved(redis, control)
    (group,) = [one for one in control.team.groups if one.handle == "aks-approvers"]
    group.members.remove(control.team.person("approver").id)
    async with start(times=ShortenedPauses()):
        await desk.says("*stopped*", "Approval withdrawn: approver is no longer an approver. 1 more approval is needed")
    assert writes(arm) == []


async def test_a_policy_that_was_made_laxer_changes_nothing_for_what_was_offered_before(
    start: Start, desk: Desk, says: Says, control: Control, arm: ArmServer
) -> None:
    says(approvals=2, approvers=["approver", "visitor"])
    async with start(times=ShortenedPauses()):
        await desk.asked()
    says(approvals=1, requester_counts=True, approvers=["requester", "approver"])
    async with start(times=ShortenedPauses()):
        await control.press("requester", await desk.proposal(), "fix_approve")
        await desk.told("requester", "someone else must approve it")
        await control.press("approver", await desk.proposal(), "fix_approve")
        await desk.says("1 of 2 approvals still needed")
    assert writes(arm) == []


async def test_whose_own_word_counted_when_it_was_offered_must_be_joined_by_another_now(
    start: Start, desk: Desk, says: Says, control: Control, arm: ArmServer, redis: Connection
) -> None:
    says(approvers=["approver", "visitor"], requester_counts=True, approvals=2)
    async with start(times=ShortenedPauses()):
        await desk.asked("approver")
        await control.press("approver", await desk.proposal(), "fix_approve")
        await desk.says("1 of 2 approvals still needed")
    says(approvers=["requester", "approver"], requester_counts=False, approvals=2)
    async with start(times=ShortenedPauses()):
        await control.press("requester", await desk.proposal(), "fix_approve")
        one = await with_words(redis, 2)
        assert (one.state, one.missing) == (State.OFFERED, 1)
        await desk.says("Approved by", "1 of 2 approvals still needed")
    assert writes(arm) == []


async def test_more_approvals_that_the_policy_asks_for_now_are_asked_for_at_the_click(
    start: Start, waiting: Proposal, says: Says, desk: Desk, control: Control, arm: ArmServer
) -> None:
    says(approvals=2, approvers=["approver", "visitor"])
    async with start(times=ShortenedPauses()):
        await control.press("approver", await desk.proposal(), "fix_approve")
        await desk.says("Approved by", "1 of 2 approvals still needed")
    assert writes(arm) == []


async def test_an_old_button_does_not_allow_a_fourth_try(
    start: Start, waiting: Proposal, desk: Desk, control: Control, arm: ArmServer, redis: Connection
) -> None:
    await failed(redis, waiting, 3)
    async with start(times=ShortenedPauses()):
        await control.press("approver", await desk.proposal(), "fix_approve")
        await desk.told("approver", "was tried 3 times", "rying again will not help")
    assert writes(arm) == []
    assert (await asked_proposal(redis)).approvals == ()


async def test_a_button_of_an_old_answer_does_not_ask_for_a_fourth_try(
    start: Start, desk: Desk, says: Says, control: Control, redis: Connection
) -> None:
    says()
    async with start(times=ShortenedPauses()):
        cause = await desk.offered()
        window = await desk.planned(cause)
        assert window.body.get("submit")
        (key,) = [key async for key in redis.redis.scan_iter("aksbot:proposal:*")]
        one = await Proposals(redis.redis).load(str(key).removeprefix("aksbot:proposal:"))
        assert one
        await failed(redis, one, 3)
        await control.submit_view("requester")
        await desk.told("requester", "was tried 3 times")
        view = await desk.planned(cause)
        assert "was tried 3 times" in str(view.blocks)
        assert view.body.get("submit") is None
    assert desk.find() is None


async def test_a_fourth_try_that_was_approved_meanwhile_does_not_begin(
    start: Start, waiting: Proposal, desk: Desk, control: Control, arm: ArmServer, redis: Connection
) -> None:
    await approved(redis, control)
    await failed(redis, waiting, 3)
    async with start(times=ShortenedPauses()):
        await desk.says("*stopped*", "was tried 3 times")
    assert writes(arm) == []


async def test_who_broke_the_glass_and_may_no_more_has_broken_nothing(
    start: Start, desk: Desk, says: Says, control: Control, arm: ArmServer, redis: Connection
) -> None:
    says(break_glass=["approver"], approvers=["requester"])
    async with start(times=ShortenedPauses()):
        await desk.asked()
    one, team = await asked_proposal(redis), control.team
    who = Person(team.id, team.person("approver").id, "approver")
    word = partial(moves.break_glass, who=who, digest=one.digest, reason="it burns")
    assert isinstance(await Proposals(redis.redis).move(one.id, word), Proposal)
    says(approvers=["requester"])
    async with start(times=ShortenedPauses()):
        await desk.says("*stopped*", "Approval withdrawn: approver is no longer an approver. 1 more approval is needed")
    assert writes(arm) == []
