"""Channels that guests or another company read: the state for everybody, the rest for whoever may look."""

from __future__ import annotations

import json
import re

import pytest

from bot.app import Bot
from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from sandbox.slack.message import Message
from sandbox.slack.server import Fault, SlackServer
from tests.slack_app.conftest import Start
from tests.slack_app.hearing import FULL_QUOTA, Reads, hold, reads
from tests.slack_app.reading import answered, buttons, heads, is_answer, seen

__all__ = ["reads"]

SHARED = "partner-support"
NO_CLUSTER = "upgrade failed: ErrCode_InsufficientVCPUQuota out of vCPU quota"
PRIVATE = re.compile(r"/subscriptions/|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}|\d+ vCPU|Current Limit")
"""What none of the others may read: ids, and what proves it."""
STATE = "`prod-weu`: UNHEALTHY*"


def public(control: Control, channel: str = SHARED) -> list[Message]:
    bot = control.team.bot.id
    return [one for one in control.messages(channel) if one.user == bot]


def is_short(message: Message) -> bool:
    return STATE in seen(message) and "the rest is shown only to whoever asked" in seen(message)


def assert_nothing_leaks(control: Control, channel: str = SHARED) -> None:
    for one in public(control, channel):
        written = json.dumps([one.text, one.blocks, [file.name for file in one.files]])
        assert PRIVATE.search(written) is None, written
        assert buttons(one) == [], "a button's value may hold an id"


async def test_a_check_in_a_shared_channel_tells_the_partner_its_state_alone(bot: Bot, control: Control) -> None:
    await control.slash("requester", SHARED, "/aks", "check prod-weu")
    await control.until(lambda: any(map(is_short, public(control))), 60)
    (head,) = heads(control, SHARED)
    assert "quota is used up" in head.text, "the title of the cause is for everybody"
    await control.until(lambda: any("What to do" in seen(one) for one in control.ephemerals("requester")), 60)
    mine = control.ephemerals("requester")
    assert any(is_answer(one) and "Only you see this" in seen(one) for one in mine)
    asked = control.mention("requester", SHARED, "check prod-weu")
    await control.until(lambda: any(map(is_short, control.thread(SHARED, asked.ts))), 60)
    await control.until(
        lambda: any(is_answer(one) and one.thread_ts == asked.ts for one in control.ephemerals("requester")), 60
    )
    await control.press("requester", next(filter(is_answer, mine)), "show_all_checks")
    await control.until(lambda: any("All checks" in seen(one) for one in control.ephemerals("requester")), 60)
    control.mention("requester", SHARED, "clusters")
    await control.until(lambda: any("staging-neu" in seen(one) for one in control.ephemerals("requester")), 60)
    assert control.ephemerals("partner") == []
    assert_nothing_leaks(control)


async def test_what_stands_in_a_shared_channel_is_brought_up_to_date_without_its_proof(
    bot: Bot, control: Control, arm: ArmServer
) -> None:
    await control.slash("requester", SHARED, "/aks", "check prod-weu")
    await control.until(lambda: any(map(is_short, public(control))), 60)
    await control.slash("requester", "incidents", "/aks", "check prod-weu")
    (internal,) = await answered(control)
    await control.press("approver", internal, "check_again")
    await control.until(lambda: any("Checked again" in seen(one) for one in public(control)), 60)
    assert_nothing_leaks(control)
    assert "Before:" not in seen(public(control)[0])
    hold(arm, "healthy-fleet")
    await control.press("approver", internal, "check_again")
    await control.until(lambda: any("Over" in seen(one) for one in public(control)), 60)
    assert_nothing_leaks(control)
    assert "/archives/" not in str(public(control)[0].blocks)


async def test_a_cluster_that_could_not_be_checked_leaks_nothing_either(bot: Bot, control: Control) -> None:
    asked = control.mention("requester", SHARED, "check /subscriptions/1/resourceGroups/x/providers/y/z/nowhere")
    await control.until(lambda: len(control.thread(SHARED, asked.ts)) > 1, 60)
    await control.until(lambda: len(control.ephemerals("requester")) > 0, 60)
    assert_nothing_leaks(control)


async def test_what_is_said_in_a_shared_channel_has_a_card_without_its_proof(bot: Bot, control: Control) -> None:
    control.say("requester", SHARED, "prod-weu: QuotaExceeded, exceeding approved standardDSv5Family Cores quota")
    await control.until(lambda: any("Confirmed:" in seen(one) for one in public(control)), 60)
    await control.until(lambda: any(map(is_short, public(control))), 60)
    await control.until(lambda: any(map(is_answer, control.ephemerals("requester"))), 60)
    assert_nothing_leaks(control)


async def test_from_the_moment_that_a_guest_joins_a_channel_less_is_said_there(bot: Bot, control: Control) -> None:
    await control.slash("requester", "platform-on-call", "/aks", "check prod-weu")
    (head,) = await answered(control, "platform-on-call")
    assert is_answer(head), "among people of the workspace all of it is said"
    control.invite("requester", "guest", "platform-on-call")
    asked = control.mention("requester", "platform-on-call", "check prod-weu")
    await control.until(lambda: any(map(is_short, control.thread("platform-on-call", asked.ts))), 60)


@pytest.mark.parametrize("why", ["about to be shared", "Slack does not say"])
async def test_what_may_be_outside_counts_as_outside(
    start: Start, control: Control, slack: SlackServer, why: str
) -> None:
    channel = control.team.channel("incidents")
    channel.sharing_pending = why == "about to be shared"
    if not channel.sharing_pending:
        slack.faults.append(Fault("error", "users.list", error="fatal_error", times=1000))
    async with start():
        await control.slash("requester", "incidents", "/aks", "check prod-weu")
        await control.until(lambda: any(map(is_short, public(control, "incidents"))), 60)
    assert_nothing_leaks(control, "incidents")


async def test_which_clusters_there_are_is_asked_of_whoever_reported_it_alone(reads: Reads, control: Control) -> None:
    async with reads():
        said = control.say("requester", SHARED, NO_CLUSTER)
        await control.until(lambda: any("Which cluster" in seen(one) for one in control.ephemerals("requester")), 60)
        (menu,) = control.ephemerals("requester")
        (line,) = public(control)
        assert line.thread_ts == menu.thread_ts == said.ts
        assert "reads like" in seen(line)
        assert "prod-eus2" in str(menu.blocks)
        assert "prod-eus2" not in str(line.blocks)
        await control.select("requester", menu, "incident_pick", "prod-weu")
        await control.until(lambda: any("Confirmed:" in seen(one) for one in public(control)), 60)
        await control.until(lambda: any(map(is_answer, control.ephemerals("requester"))), 60)
    assert {one.thread_ts for one in public(control)} == {said.ts}
    assert_nothing_leaks(control)


async def test_a_partner_who_reports_something_gets_no_list_of_clusters(reads: Reads, control: Control) -> None:
    async with reads():
        said = control.say("partner", SHARED, NO_CLUSTER)
        await control.until(lambda: len(public(control)) > 0, 60)
        control.say("requester", "incidents", FULL_QUOTA)
        await control.until(lambda: any("Confirmed:" in seen(one) for one in public(control, "incidents")), 60)
    (line,) = public(control)
    assert (line.thread_ts, len(line.blocks)) == (said.ts, 1)
    assert control.ephemerals("partner") == []


@pytest.mark.parametrize(
    "word", ["watch prod-weu", "mute quota-exceeded prod-weu until 4h a migration", "check prod-weu"]
)
async def test_a_partner_reads_why_whatever_they_ask_of_the_bot(bot: Bot, control: Control, word: str) -> None:
    asked = control.mention("partner", SHARED, word)
    await control.until(lambda: any("of this workspace only" in seen(one) for one in control.ephemerals("partner")), 60)
    assert len(control.ephemerals("partner")) == 1
    assert control.messages(SHARED)[-1].ts in (asked.ts, control.ephemerals("partner")[0].ts)
