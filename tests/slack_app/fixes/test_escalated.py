"""A request that nobody approves calls the next group in its thread: once, whoever is restarted meanwhile."""

from __future__ import annotations

import pytest

from bot.app import Bot
from bot.fixes.store.proposals import Proposals
from bot.playground.hurried import ShortenedPauses
from bot.store.connect import Connection
from sandbox.slack.control import Control
from sandbox.slack.message import Message
from tests.slack_app.conftest import Start
from tests.slack_app.fixes.steps import CHANNEL, Desk, asked_proposal, audited, ended
from tests.slack_app.reading import seen

RULES = {"approvers": ["@aks-approvers", "approver"], "escalate": [{"after_minutes": 10, "ping": ["approver"]}]}


def calls(control: Control) -> list[Message]:
    return [one for one in control.messages(CHANNEL) if "still *waits for approval*" in seen(one)]


@pytest.mark.parametrize("rules", [{"approvers": ["approver"], "ping": ["requester"]}])
async def test_whoever_is_only_called_is_not_said_to_be_an_approver(bot: Bot, desk: Desk, control: Control) -> None:
    approver, requester = (control.team.person(name).id for name in ("approver", "requester"))
    await desk.asked(reason="the pool cannot scale")
    proposal = await desk.says("Who may approve: ")
    assert f"Called: <@{requester}> · Who may approve: <@{approver}>" in proposal.text


@pytest.mark.usefixtures("configured")
@pytest.mark.parametrize("rules", [RULES])
async def test_the_next_group_is_called_in_the_thread_and_can_approve(
    start: Start, desk: Desk, control: Control, redis: Connection
) -> None:
    approver = control.team.person("approver").id
    async with start(times=ShortenedPauses()):
        proposal = await desk.asked(reason="the pool cannot scale")
        assert approver not in str(proposal.blocks), "nobody is woken before their time"
    one = await asked_proposal(redis)
    await Proposals(redis.redis).move(one.id, lambda was, now_ms: was.moved(asked_ms=now_ms - 11 * 60_000))
    async with start(times=ShortenedPauses()):
        await control.until(lambda: bool(calls(control)), 60)
    async with start(times=ShortenedPauses()):
        (said,) = calls(control)
        assert said.thread_ts == proposal.thread_ts
        assert f"<@{approver}>" in said.text, "a phone rings for those who are named"
        assert "11 min ago: the pool cannot scale" in seen(said)
        await control.press("approver", await desk.says("waits for approval"), "fix_approve")
        await ended(redis)
        assert len(calls(control)) == 1
    assert (await audited(redis))[:3] == ["requested", "escalated", "approved"]
