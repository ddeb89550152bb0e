"""Who may approve a fix depends on the user's current status in Slack, in every way of approving."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from bot.app import Bot
from bot.fixes.proposal import End
from bot.store.connect import Connection
from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from sandbox.slack.server import Fault, SlackServer
from sandbox.slack.workspace import Group, Person
from tests.slack_app.fixes.steps import Desk, audited, ended, writes
from tests.slack_app.fixes.ways import RULES, WAYS, WHO, Approve, FromHome, Way, home_with, plans

ACTS = {"approved", "broke-glass", "started", "called"}
TITLE = "Reconcile node pool general"
NOT_TWICE = ("another fix runs on", "*stopped*", "out of date")
GROUPS, USERS = "usergroups.users.list", "users.info"


@pytest.fixture
def rules() -> dict[str, Any]:
    return RULES


@pytest.fixture(params=WAYS, ids=lambda way: way.__name__)
def way(request: pytest.FixtureRequest, bot: Bot, desk: Desk) -> Way:
    made: Way = request.param(desk)
    return made


def group(control: Control) -> Group:
    return next(one for one in control.team.groups if one.handle == "aks-approvers")


def person(control: Control) -> Person:
    return control.team.person(WHO)


async def nothing_was_done(arm: ArmServer, redis: Connection) -> None:
    assert writes(arm) == []
    assert ACTS.isdisjoint(await audited(redis))


def left_the_group(control: Control) -> None:
    group(control).members.remove(person(control).id)


def single_channel_guest(control: Control) -> None:
    person(control).guest = "single-channel"


def multi_channel_guest(control: Control) -> None:
    person(control).guest = "multi-channel"


def deleted(control: Control) -> None:
    person(control).deleted = True


def of_another_company(control: Control) -> None:
    person(control).home_team = "T0NORTHWIND"


LOSSES = [left_the_group, single_channel_guest, multi_channel_guest, deleted, of_another_company]


def refusal(way: Way, happens: Callable[[Control], None]) -> str:
    """Whose own word is no approval any more has asked others for theirs, where others are."""
    if isinstance(way, FromHome):
        return "someone else must approve this"
    if isinstance(way, Approve):
        return "not among those who may" if happens is left_the_group else "closed accounts never approve"
    return ""


@pytest.mark.parametrize("happens", LOSSES, ids=lambda happens: happens.__name__)
async def test_who_lost_their_say_a_moment_ago_lets_nothing_run(
    way: Way, control: Control, arm: ArmServer, redis: Connection, happens: Callable[[Control], None]
) -> None:
    await way.ready()
    happens(control)
    await way.send()
    if said := refusal(way, happens):
        await way.told(said)
    else:
        await way.last_word("waits for approval")
    await nothing_was_done(arm, redis)


TROUBLES: dict[str, tuple[Fault, str]] = {
    "throttled": (Fault("429", GROUPS, retry_after_s=60), f"{GROUPS}: ratelimited"),
    "throttled about people": (Fault("429", USERS, retry_after_s=60), f"{USERS}: ratelimited"),
    "says ratelimited": (Fault("error", GROUPS, error="ratelimited"), f"{GROUPS}: ratelimited"),
    "unanswered": (Fault("timeout", GROUPS), "no answer within 2 s"),
    "unanswered about people": (Fault("timeout", USERS), "no answer within 2 s"),
    "out of order": (Fault("500", GROUPS), GROUPS),
    "not allowed to ask": (Fault("error", GROUPS, error="missing_scope"), f"{GROUPS}: missing_scope"),
}


IN_ALL_WAYS = ("throttled", "unanswered")


@pytest.mark.parametrize(
    ("way", "trouble"),
    [(way, trouble) for way in WAYS for trouble in TROUBLES if way is Approve or trouble in IN_ALL_WAYS],
    indirect=["way"],
    ids=lambda one: one if isinstance(one, str) else one.__name__,
)
async def test_where_slack_does_not_say_now_the_press_is_refused_in_words_and_can_be_repeated(
    way: Way, control: Control, slack: SlackServer, arm: ArmServer, redis: Connection, trouble: str
) -> None:
    fault, why = TROUBLES[trouble]
    await way.ready()
    before = await audited(redis)
    slack.faults.append(fault)
    await way.send()
    await way.told("Not done:", "Slack does not say who you are", why, "Press again in a moment")
    assert await audited(redis) == before
    assert writes(arm) == []
    slack.faults.clear()
    await way.open()
    await way.send()
    assert (await ended(redis)).end is End.FIXED
    assert len(writes(arm)) == 1


async def test_who_has_joined_the_group_a_moment_ago_is_let_through(
    way: Way, control: Control, arm: ArmServer, redis: Connection
) -> None:
    left_the_group(control)
    await way.ready()
    group(control).members.append(person(control).id)
    await way.open()
    await way.send()
    assert (await ended(redis)).end is End.FIXED
    assert len(writes(arm)) == 1


@pytest.mark.parametrize("rules", [{**RULES, "requester_counts": False}])
async def test_who_asked_for_it_withdraws_it_whatever_slack_says(
    bot: Bot, desk: Desk, control: Control, slack: SlackServer, arm: ArmServer, redis: Connection
) -> None:
    proposal = await desk.asked()
    slack.faults.extend(Fault("429", method, retry_after_s=60) for method in (GROUPS, USERS))
    await control.press("requester", proposal, "fix_stop")
    await desk.says("*withdrawn: nothing was done*", "Withdrawn")
    assert await audited(redis) == ["requested", "cancelled"]


@pytest.mark.parametrize("action", ["fix_decline", "fix_stop"])
async def test_who_has_no_say_any_more_does_not_end_what_others_asked_for(
    bot: Bot, desk: Desk, control: Control, redis: Connection, action: str
) -> None:
    way = Approve(desk)
    await way.ready()
    left_the_group(control)
    await control.press(WHO, await desk.proposal(), action)
    if action == "fix_decline":
        await control.submit_view(WHO, {"reason": "not now"})
    await way.told("not among those who may")
    assert await audited(redis) == ["requested", "refused"]


@pytest.mark.parametrize("rules", [{**RULES, "approvers": ["@aks-approvers", "partner", "guest"]}])
@pytest.mark.parametrize("who", ["guest", "partner"])
@pytest.mark.parametrize("action", ["fix_approve", "fix_glass"])
async def test_guests_and_people_of_another_company_let_nothing_run_although_the_policy_names_them(
    bot: Bot, desk: Desk, control: Control, arm: ArmServer, redis: Connection, who: str, action: str
) -> None:
    way = Approve(desk)
    await way.ready()
    group(control).members.append(control.team.person(who).id)
    control.team.channel("incidents").members.append(control.team.person(who).id)
    await control.press(who, await desk.proposal(), action)
    if action == "fix_glass":
        await control.submit_view(who, {"reason": "payments are down"})
    await way.told("closed accounts never approve", user=who)
    await nothing_was_done(arm, redis)


# -- App Home, beside the thread -------------------------------------------------------------------------------------


OUTSIDE = {"guest": "guests may not look", "former": "guests may not look", "partner": "people of this workspace only"}


@pytest.mark.parametrize("who", OUTSIDE)
@pytest.mark.parametrize("rules", [{**RULES, "look": {}}])
async def test_home_lists_open_requests_to_nobody_who_may_not_look(
    bot: Bot, desk: Desk, control: Control, who: str
) -> None:
    await Approve(desk).ready()
    control.open_home(who)
    await control.until(lambda: home_with(control, OUTSIDE[who], who), 30)
    assert home_with(control, TITLE, who) is None
    control.open_home(WHO)
    await control.until(lambda: home_with(control, TITLE), 30)


async def test_home_lists_no_request_that_was_answered_in_the_thread(
    bot: Bot, desk: Desk, control: Control, redis: Connection
) -> None:
    await Approve(desk).ready()
    control.open_home(WHO)
    await control.until(lambda: home_with(control, TITLE), 30)
    await desk.declined(await desk.proposal(), WHO)
    await ended(redis)
    control.open_home(WHO)
    await control.until(lambda: home_with(control, "No approvals are open"), 30)


async def test_what_one_begins_from_home_while_it_is_approved_in_the_thread_runs_once(
    bot: Bot, desk: Desk, control: Control, arm: ArmServer, redis: Connection
) -> None:
    in_thread, from_home = Approve(desk), FromHome(desk)
    await in_thread.ready()
    await from_home.ready()
    await asyncio.gather(from_home.send(), in_thread.send())
    await control.until(lambda: any(one in in_thread.said() + " ".join(plans(control)) for one in NOT_TWICE), 60)
    await from_home.last_word("*fixed*")
    assert len(writes(arm)) == 1
    assert (await audited(redis)).count("called") == 1
