"""The approver's status in Slack is checked once more right before the first write, seconds after the approval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from bot.app import Bot
from bot.fixes import moves
from bot.fixes.proposal import End
from bot.fixes.store.proposals import Proposals
from bot.playground.hurried import ShortenedPauses
from bot.store.connect import Connection
from handlers.remedy.executor import MOST_ASKED_LEAVE
from sandbox.arm.server import ArmServer, Fault
from sandbox.slack.control import Control
from sandbox.slack.server import Fault as SlackFault
from sandbox.slack.server import SlackServer
from tests.slack_app.conftest import Start
from tests.slack_app.fixes.steps import Desk, approved, audited, ended, ready, writes
from tests.slack_app.fixes.test_who_now import (
    GROUPS,
    LOSSES,
    USERS,
    deleted,
    left_the_group,
    single_channel_guest,
)
from tests.slack_app.fixes.ways import RULES, WAYS, Approve, BreakGlass, Way

Happens = Callable[[], object]


@dataclass
class WhenItIsPrepared(Fault):
    """Something happens while the executor reads what it is about to write: all else has been looked at by then."""

    happens: Happens = lambda: None

    def takes(self, method: str, route: str, action: str, principal: str | None) -> bool:
        if (method, principal) == ("GET", "writer") and "agentpools" in route.lower() and self.times:
            self.times -= 1
            self.happens()
        return False


def when_it_is_prepared(arm: ArmServer, happens: Happens) -> None:
    arm.faults.append(WhenItIsPrepared("500", times=1, happens=happens))


@pytest.fixture
def rules() -> dict[str, Any]:
    return RULES


@pytest.fixture(params=WAYS, ids=lambda way: way.__name__)
def way(request: pytest.FixtureRequest, bot: Bot, desk: Desk) -> Way:
    made: Way = request.param(desk)
    return made


WHYS = {left_the_group: "Approval withdrawn: approver is no longer an approver"}
NO_MEMBER = "approver has a guest account, one of another company, or none any more"


IN_ALL_WAYS = [left_the_group, deleted]


@pytest.mark.parametrize("happens", IN_ALL_WAYS, ids=lambda happens: happens.__name__)
async def test_who_lost_their_say_after_they_let_it_run_stops_it_before_its_first_write(
    way: Way, control: Control, arm: ArmServer, redis: Connection, happens: Callable[[Control], None]
) -> None:
    await way.ready()
    when_it_is_prepared(arm, lambda: happens(control))
    await way.send()
    one = await ended(redis)
    assert one.end is End.CANCELLED
    why = WHYS.get(happens, NO_MEMBER)
    assert why in one.why
    await way.last_word("*stopped*", why, "nothing was sent", "needed; check again and ask for")
    assert writes(arm) == []
    assert (await audited(redis))[-2:] == ["started", "ended"]


@pytest.mark.parametrize(
    "happens", [one for one in LOSSES if one not in IN_ALL_WAYS], ids=lambda happens: happens.__name__
)
async def test_however_they_lost_it(
    bot: Bot, desk: Desk, control: Control, arm: ArmServer, redis: Connection, happens: Callable[[Control], None]
) -> None:
    way = Approve(desk)
    await way.ready()
    when_it_is_prepared(arm, lambda: happens(control))
    await way.send()
    await way.last_word("*stopped*", WHYS.get(happens, NO_MEMBER))
    assert writes(arm) == []


@pytest.mark.parametrize(
    "rules", [{**RULES, "approvers": ["@aks-approvers", "visitor"], "approvals": 2, "requester_counts": False}]
)
@pytest.mark.parametrize("glass", [False, True], ids=["two approvals", "one of them, and the glass"])
async def test_the_words_that_are_left_must_be_enough(
    bot: Bot, desk: Desk, control: Control, arm: ArmServer, redis: Connection, glass: bool
) -> None:
    way = BreakGlass(desk) if glass else Approve(desk)
    proposal = await desk.asked()
    await control.press("visitor", proposal, "fix_approve")
    await desk.says("1 of 2 approvals still needed")
    when_it_is_prepared(arm, lambda: setattr(control.team.person("visitor"), "guest", "multi-channel"))
    await way.open()
    await way.send()
    one = await ended(redis)
    # Who breaks the glass needs nobody else; of two approvals none may be lost.
    assert one.end is (End.FIXED if glass else End.CANCELLED)
    assert len(writes(arm)) == (1 if glass else 0)
    assert glass or "Approval withdrawn: visitor has a guest account" in one.why


TROUBLES = {
    "throttled": SlackFault("429", GROUPS, retry_after_s=60),
    "throttled about people": SlackFault("429", USERS, retry_after_s=60),
    "may not ask": SlackFault("error", GROUPS, error="missing_scope"),
    "may not ask about people": SlackFault("error", USERS, error="missing_scope"),
    "has taken the token back": SlackFault("error", USERS, error="token_revoked"),
    "out of order": SlackFault("500", USERS),
    "unanswered": SlackFault("timeout", GROUPS),
}


@pytest.mark.parametrize(
    ("way", "trouble"),
    [*((way, "throttled") for way in WAYS), *((Approve, trouble) for trouble in list(TROUBLES)[1:])],
    indirect=["way"],
    ids=lambda one: one if isinstance(one, str) else one.__name__,
)
async def test_where_slack_does_not_say_for_long_nothing_is_written_and_it_is_told(
    way: Way, slack: SlackServer, arm: ArmServer, redis: Connection, trouble: str
) -> None:
    await way.ready()
    before: list[int] = []

    def stops_answering() -> None:
        before.append(len(slack.log))
        slack.faults.append(TROUBLES[trouble])

    when_it_is_prepared(arm, stops_answering)
    await way.send()
    one = await ended(redis)
    assert one.end is End.CANCELLED
    assert "Slack does not say whether those who approved it still may" in one.why
    asked = [call for call in slack.log[before[0] :] if call.method == TROUBLES[trouble].method]
    assert len(asked) >= MOST_ASKED_LEAVE
    slack.faults.clear()
    await way.last_word("*stopped*", "Slack does not say whether those who approved it still may", "nothing was sent")
    assert writes(arm) == []


async def test_where_slack_says_it_a_little_later_it_runs(
    way: Way, slack: SlackServer, arm: ArmServer, redis: Connection
) -> None:
    await way.ready()
    mute = SlackFault("429", GROUPS, retry_after_s=60, times=MOST_ASKED_LEAVE - 1)
    when_it_is_prepared(arm, lambda: slack.faults.append(mute))
    await way.send()
    assert (await ended(redis)).end is End.FIXED
    assert mute.times == 0
    assert len(writes(arm)) == 1


async def test_a_check_that_begins_while_slack_is_mute_costs_the_fix_nothing(
    bot: Bot, desk: Desk, slack: SlackServer, arm: ArmServer, redis: Connection
) -> None:
    """What Slack does not say when it begins it is asked again before the write."""
    way = Approve(desk)
    await way.ready()
    # The first question is that of the click.
    mute = SlackFault("429", GROUPS, retry_after_s=60, skip=1, times=1)
    slack.faults.append(mute)
    await way.send()
    assert (await ended(redis)).end is End.FIXED
    assert mute.times == 0
    assert len(writes(arm)) == 1


@pytest.mark.usefixtures("configured")
@pytest.mark.parametrize(
    "happens", [left_the_group, single_channel_guest, deleted], ids=lambda happens: happens.__name__
)
async def test_a_worker_that_died_right_before_the_write_leaves_nothing_that_is_sent_without_asking(
    start: Start, desk: Desk, control: Control, arm: ArmServer, redis: Connection, happens: Callable[[Control], None]
) -> None:
    async with start(times=ShortenedPauses()):
        await Approve(desk).ready()
    one = await approved(redis, control)
    await ready(redis, one)
    await Proposals(redis.redis).move(one.id, moves.start)
    happens(control)
    async with start(times=ShortenedPauses()):
        await desk.says("*stopped*", "nothing was sent")
    assert writes(arm) == []
