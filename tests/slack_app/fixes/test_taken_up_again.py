"""If a worker dies, others continue its fix; unanswered requests expire; nothing is sent twice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from bot.checks.service import Role
from bot.fixes import moves
from bot.fixes.proposal import End, Proposal
from bot.fixes.store.proposals import Proposals
from bot.playground.hurried import ShortenedPauses
from bot.store.connect import Connection
from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from tests.slack_app.conftest import Start
from tests.slack_app.fixes.steps import Desk, asked_proposal, ended, intended, ready, writes


async def test_what_was_approved_and_never_begun_is_begun(
    left: Proposal, start: Start, desk: Desk, arm: ArmServer
) -> None:
    async with start(times=ShortenedPauses()):
        await desk.says("*fixed*")
    assert len(writes(arm)) == 1


async def test_a_fix_that_was_torn_from_its_worker_before_it_sent_anything_is_carried_out(
    left: Proposal, start: Start, desk: Desk, arm: ArmServer, redis: Connection
) -> None:
    await ready(redis, left)
    await Proposals(redis.redis).move(left.id, moves.start)
    async with start(times=ShortenedPauses()):
        await desk.says("*fixed*")
    assert len(writes(arm)) == 1


async def test_a_fix_that_may_have_sent_its_write_asks_the_world_and_sends_nothing(
    left: Proposal, start: Start, desk: Desk, arm: ArmServer, redis: Connection
) -> None:
    request_id = await intended(redis, left, datetime.now(UTC) - timedelta(minutes=2))
    await Proposals(redis.redis).move(left.id, moves.start)
    async with start(times=ShortenedPauses()):
        proposal = await desk.says("could not be verified", request_id)
        assert "never sent twice" in str(proposal.blocks)
    assert writes(arm) == []


async def test_a_fix_whose_records_are_lost_is_not_begun_anew(
    left: Proposal, start: Start, desk: Desk, arm: ArmServer, redis: Connection
) -> None:
    await Proposals(redis.redis).move(left.id, moves.start)
    async with start(times=ShortenedPauses()):
        assert (await ended(redis)).end is End.UNVERIFIED
        await desk.says("could not be verified", "memory was lost")
    assert writes(arm) == []


@pytest.mark.usefixtures("configured")
async def test_a_request_that_nobody_answered_expires_before_everybodys_eyes(
    start: Start, desk: Desk, arm: ArmServer, redis: Connection
) -> None:
    async with start(times=ShortenedPauses()):
        await desk.asked()
    one = await asked_proposal(redis)
    await Proposals(redis.redis).move(one.id, lambda before, _: before.moved(expires_ms=1))
    async with start(times=ShortenedPauses()):
        await desk.says("expired: nothing was done")
    assert writes(arm) == []


@pytest.mark.usefixtures("configured")
async def test_a_web_process_takes_the_click_and_a_worker_repairs(
    start: Start,
    desk: Desk,
    control: Control,
    arm: ArmServer,
    redis: Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AKSBOT_ROLE", Role.WEB.value)
    async with start():
        monkeypatch.setenv("AKSBOT_ROLE", Role.WORKER.value)
        async with start(times=ShortenedPauses()):
            await control.press("approver", await desk.asked(), "fix_approve")
            await desk.says("*fixed*")
    assert len(writes(arm)) == 1


async def test_what_runs_can_be_stopped_between_two_steps(
    left: Proposal, start: Start, desk: Desk, arm: ArmServer, redis: Connection
) -> None:
    await ready(redis, left)
    proposals = Proposals(redis.redis)
    await proposals.move(left.id, moves.start)
    assert left.requester
    await proposals.move(left.id, partial(moves.cancel, who=left.requester))
    async with start(times=ShortenedPauses()):
        await desk.says("*stopped*", "Stopped by", "ancelled before step 1 of 1")
    assert writes(arm) == []
