"""Workers whose clocks are wrong: what is written by one and read by another goes by the server's clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.fixes import moves
from bot.fixes.store.proposals import Proposals
from bot.fixes.times import RealTimes
from bot.playground.hurried import ShortenedPauses
from bot.store.connect import Connection
from handlers.remedy.acts.act import SETTLE
from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from tests.slack_app.conftest import Start
from tests.slack_app.fixes.steps import Desk, approved, asked_proposal, intended, writes
from tests.slack_app.fixes.test_still_approved import Says, says
from tests.slack_app.reading import buttons, seen

__all__ = ["says"]


def wrong_by(span: timedelta) -> Any:
    return lambda: datetime.now(UTC) + span


class Watched(ShortenedPauses):
    """Knows how long it should have waited."""

    waited_s = 0.0

    def pause_s(self, seconds: float) -> float:
        self.waited_s += seconds
        return super().pause_s(seconds)


async def real_ms() -> int:
    return int(datetime.now(UTC).timestamp() * 1000)


async def test_a_clock_that_was_told_the_time_goes_on_from_there() -> None:
    times = RealTimes(wrong_by(timedelta(days=3)))
    assert times.now() - datetime.now(UTC) > timedelta(days=2)
    await times.agree(real_ms)
    assert abs(times.now() - datetime.now(UTC)) < timedelta(seconds=5)


async def test_who_stood_still_over_the_answer_asks_again() -> None:
    """A time that is past would be written down, and others would take for settled what is still to be sent."""
    stood_still = timedelta()

    async def answer() -> int:
        nonlocal stood_still
        said = await real_ms()
        if not stood_still:
            stood_still = timedelta(seconds=90)
        return said

    times = RealTimes(lambda: datetime.now(UTC) + stood_still)
    await times.agree(answer)
    assert abs(times.now() - datetime.now(UTC)) < timedelta(seconds=5)


async def test_who_stands_still_over_every_answer_is_ahead_rather_than_behind() -> None:
    stood_still = timedelta()

    async def answer() -> int:
        nonlocal stood_still
        said = await real_ms()
        stood_still += timedelta(seconds=90)
        return said

    times = RealTimes(lambda: datetime.now(UTC) + stood_still)
    await times.agree(answer)
    assert times.now() - datetime.now(UTC) > timedelta(seconds=-5)


@pytest.mark.usefixtures("configured")
@pytest.mark.parametrize("wrong", [timedelta(hours=1), timedelta(hours=-1)], ids=["ahead", "behind"])
async def test_a_worker_whose_clock_is_wrong_waits_as_long_for_a_write_that_may_be_on_its_way(
    start: Start, desk: Desk, control: Control, arm: ArmServer, redis: Connection, wrong: timedelta
) -> None:
    async with start(times=ShortenedPauses()):
        await desk.asked()
    one = await approved(redis, control)
    await intended(redis, one, datetime.now(UTC))
    await Proposals(redis.redis).move(one.id, moves.start)
    times = Watched(wall=wrong_by(wrong))
    async with start(times=times):
        await desk.says("could not be verified", "the worker died")
    assert SETTLE <= timedelta(seconds=times.waited_s) - one.plan.verify.settle < 2 * SETTLE
    assert writes(arm) == []


async def test_a_freeze_holds_by_the_servers_clock(start: Start, desk: Desk, says: Says) -> None:
    today = datetime.now(UTC).date()
    freeze = {"name": "now", "first": today, "last": today + timedelta(days=1)}
    says(frozen=["now"], freezes=[freeze])
    async with start(times=ShortenedPauses(wall=wrong_by(timedelta(days=-9)))):
        cause = await desk.offered()
    assert "fix_0_0" not in buttons(cause)
    assert "freeze “now”" in seen(cause)


@pytest.mark.parametrize("wrong", [timedelta(hours=9), timedelta(hours=-9)], ids=["ahead", "behind"])
async def test_an_offer_expires_by_the_servers_clock(
    start: Start, desk: Desk, says: Says, control: Control, arm: ArmServer, redis: Connection, wrong: timedelta
) -> None:
    says()
    async with start(times=ShortenedPauses(wall=wrong_by(wrong))):
        await control.press("approver", await desk.asked(), "fix_approve")
        await desk.says("*fixed*")
        one = await asked_proposal(redis)
    assert one.expires_ms - one.offered_ms < 2 * one.rules.lasts_ms
    assert len(writes(arm)) == 1
