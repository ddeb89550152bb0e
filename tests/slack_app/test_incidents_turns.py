"""Messages in channels: recognised, checked, answered in a thread, once; and silence where nothing is known."""

from __future__ import annotations

import pytest

from bot.store.connect import Connection
from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from sandbox.slack.server import SlackServer
from sandbox.slack.workspace import make_id
from tests.slack_app.hearing import (
    ENDED_BY_HAND,
    FULL_QUOTA,
    QUOTA_CARD,
    Reads,
    cards,
    confirmed,
    hold,
    merely_likely,
    reads,
    said_by_bot,
    turns_end,
    until_answered,
    until_said,
)
from tests.slack_app.reading import buttons, is_answer, seen

__all__ = ["reads"]

MONITOR = "Datadog"


async def test_a_problem_that_somebody_reports_is_checked_and_confirmed_in_its_thread(
    reads: Reads, control: Control
) -> None:
    async with reads():
        report, _ = await confirmed(control)
    assert {one.thread_ts for one in said_by_bot(control)} == {report.ts}
    (card,) = cards(control)
    assert "Recognised by" in seen(card)
    assert "prod-weu" in seen(card)
    assert {"incident_quiet", "incident_snooze"} <= set(buttons(card))


@pytest.mark.parametrize("over_http", [False, True], ids=["socket", "http"])
async def test_what_one_person_says_within_seconds_is_one_turn(
    reads: Reads, control: Control, slack: SlackServer, redis: Connection, over_http: bool
) -> None:
    async with reads(over_http=over_http, spans=ENDED_BY_HAND):
        first = control.say("requester", "incidents", "something is wrong with prod-weu")
        control.say("requester", "incidents", "ErrCode_InsufficientVCPUQuota, out of vCPU quota")
        await turns_end(slack, redis)
        await until_said(control, "Confirmed:")
        await until_answered(control)
    assert {one.thread_ts for one in said_by_bot(control)} == {first.ts}
    assert len(cards(control)) == 1


async def test_small_talk_in_the_same_breath_does_not_drown_a_report_but_its_end_does(
    reads: Reads, control: Control, slack: SlackServer, redis: Connection
) -> None:
    async with reads(spans=ENDED_BY_HAND):
        control.say("requester", "incidents", merely_likely())
        control.say("requester", "incidents", "never mind, all good again, it works")
        control.say("approver", "platform-on-call", "release 4.2 rolled out successfully, thanks all")
        report = control.say("approver", "platform-on-call", FULL_QUOTA)
        said = await until_said(control, "Confirmed:", "platform-on-call")
        await turns_end(slack, redis)
        control.say("visitor", "platform-on-call", "dev-shared: subnet is full, SubnetIsFull, no more IPs")
        await turns_end(slack, redis)
        await until_said(control, "dev-shared", "platform-on-call")
    assert said.thread_ts == report.ts
    assert [seen(one) for one in said_by_bot(control)] == []


async def test_repeats_and_other_channels_join_and_are_linked(reads: Reads, control: Control) -> None:
    async with reads():
        report = control.say("requester", "incidents", FULL_QUOTA)
        await until_said(control, "Confirmed:")
        again = control.say("approver", "incidents", "no more vCPU quota for prod-weu: ErrCode_InsufficientVCPUQuota")
        link = await until_said(control, "is known already")
        control.say("approver", "incidents", "prod-weu upgrade stopped again: ErrCode_InsufficientVCPUQuota")
        there = control.say("approver", "platform-on-call", "prod-weu is out of quota, the upgrade failed")
        pointer = await until_said(control, "is known already", "platform-on-call")
        await until_said(control, "3 reports")
    assert pointer.thread_ts == there.ts
    assert link.thread_ts == again.ts
    assert sum("is known already" in seen(one) for one in said_by_bot(control)) == 1
    assert control.team.channel("incidents").id in str(pointer.blocks)
    (card,) = cards(control)
    assert control.team.channel("platform-on-call").id in str(card.blocks)
    assert {one.thread_ts for one in said_by_bot(control)} == {report.ts, again.ts}
    assert cards(control, "platform-on-call") == []


async def test_chatter_deploys_and_other_clouds_are_left_alone(reads: Reads, control: Control) -> None:
    async with reads():
        for text in (
            "lunch?",
            "release 4.2 rolled out to prod-weu successfully",
            "resolved: prod-weu is out of quota no more",
            "our EKS cluster says InsufficientVCPUQuota",
            "prod-weu looks fine to me",
        ):
            control.say("visitor", "incidents", text)
        control.say("requester", "platform-on-call", FULL_QUOTA)
        await until_said(control, "Confirmed:", "platform-on-call")
    assert [seen(one) for one in said_by_bot(control)] == []


async def test_what_is_merely_likely_is_offered_as_a_button(reads: Reads, control: Control) -> None:
    async with reads():
        said = control.say("requester", "incidents", merely_likely())
        offer = await until_said(control, "reads like")
        assert offer.thread_ts == said.ts
        (pressed,) = buttons(offer)
        await control.press("approver", offer, pressed)
        await until_answered(control)
        await control.until(lambda: len(cards(control)) == 1)


async def test_a_button_that_is_pressed_late_points_to_the_thread_of_what_is_known(
    reads: Reads, control: Control
) -> None:
    async with reads("channels:\n  auto_check: false\n"):
        control.say("requester", "incidents", FULL_QUOTA)
        first = await until_said(control, "reads like")
        control.say("visitor", "incidents", "subnet is full on prod-weu: SubnetIsFull, no free IP addresses")
        await control.until(lambda: sum("reads like" in seen(one) for one in said_by_bot(control)) == 2, 60)
        second = next(one for one in said_by_bot(control) if "reads like" in seen(one) and one.ts != first.ts)
        await control.press("requester", first, "incident_check_0")
        await until_said(control, "Confirmed:")
        await control.press("requester", second, "incident_check_0")
        # Its own cause was not found, and what was found is the incident of the first thread.
        await until_said(control, "What was found there is an incident that is known already")
        await control.press("approver", first, "incident_check_0")
        await control.until(lambda: sum(map(is_answer, said_by_bot(control))) == 3, 60)


async def test_without_a_cluster_people_are_asked_once(reads: Reads, control: Control) -> None:
    async with reads():
        said = control.say("requester", "incidents", "upgrade failed: ErrCode_InsufficientVCPUQuota out of vCPU quota")
        menu = await until_said(control, "Which cluster")
        assert menu.thread_ts == said.ts
        control.say("approver", "incidents", "upgrade failed: ErrCode_InsufficientVCPUQuota out of vCPU quota")
        control.say("requester", "platform-on-call", FULL_QUOTA)
        await until_said(control, "Confirmed:", "platform-on-call")
        assert len(said_by_bot(control)) == 1
        await control.select("requester", menu, "incident_pick", "prod-weu")
        await until_said(control, "is known already")


async def test_the_channels_default_says_which_cluster(reads: Reads, control: Control) -> None:
    async with reads():
        await control.slash("requester", "incidents", "/aks", "default prod-weu")
        await until_said(control, "is now `prod-weu`")
        control.say("requester", "incidents", "upgrade failed: ErrCode_InsufficientVCPUQuota out of vCPU quota")
        await until_said(control, "Confirmed:")


async def test_an_unknown_alert_app_is_asked_about_once_and_then_read(reads: Reads, control: Control) -> None:
    async with reads():
        control.say_as_app(MONITOR, "incidents", "", attachments=[QUOTA_CARD])
        control.say_as_app(MONITOR, "incidents", "", attachments=[QUOTA_CARD])
        ask = await until_said(control, "Allow posts from Datadog?")
        await control.press("approver", ask, "incident_allow_app")
        await until_said(control, "Confirmed:")
        await until_answered(control)
        control.say_as_app(MONITOR, "incidents", "", attachments=[QUOTA_CARD])
        # What it posted before somebody allowed it counts, too.
        await until_said(control, "3 reports")
    assert len(cards(control)) == 1
    assert sum("Allowed: I read" in seen(one) for one in said_by_bot(control)) == 1


@pytest.mark.parametrize(("real", "called"), [(True, 1), (False, 0)], ids=["a problem", "clear"])
async def test_the_verdict_on_an_alert_calls_whom_policy_names_unless_it_is_clear(
    reads: Reads, control: Control, arm: ArmServer, real: bool, called: int
) -> None:
    if not real:
        hold(arm, "healthy-fleet")
    trusted, group = make_id("A", control.team.domain, MONITOR), "S0ONCALL00"
    async with reads(f"channels:\n  alert_apps: [{trusted}]\n  notify: [{group}]\n"):
        control.say_as_app(MONITOR, "incidents", "", attachments=[QUOTA_CARD])
        await until_answered(control)
        control.say("requester", "platform-on-call", FULL_QUOTA)
        await until_said(control, "is known already" if real else "prod-weu", "platform-on-call")
    assert sum(group in str(message.blocks) for message in said_by_bot(control)) == called
    assert not any(group in str(message.blocks) for message in said_by_bot(control, "platform-on-call"))


async def test_in_a_channel_that_others_read_it_calls_them_beside_the_state_alone(
    reads: Reads, control: Control
) -> None:
    trusted, group, shared = make_id("A", control.team.domain, MONITOR), "S0ONCALL00", "partner-support"
    async with reads(f"channels:\n  alert_apps: [{trusted}]\n  notify: [{group}]\n"):
        control.say_as_app(MONITOR, shared, "", attachments=[QUOTA_CARD])
        verdict = await until_said(control, "the rest is shown only to whoever asked", shared)
    assert group in str(verdict.blocks)


async def test_an_app_that_somebody_refused_is_not_read(reads: Reads, control: Control) -> None:
    async with reads():
        control.say_as_app(MONITOR, "incidents", "", attachments=[QUOTA_CARD])
        ask = await until_said(control, "Allow posts from Datadog?")
        await control.press("approver", ask, "incident_refuse_app")
        await until_said(control, "Refused: I do not")
        control.say_as_app(MONITOR, "incidents", "", attachments=[QUOTA_CARD])
        control.say("requester", "platform-on-call", FULL_QUOTA)
        await until_said(control, "Confirmed:", "platform-on-call")
    assert len(said_by_bot(control)) == 1


async def test_stop_from_anyone_silences_the_thread(reads: Reads, control: Control) -> None:
    async with reads():
        report, _ = await confirmed(control)
        control.say("visitor", "incidents", "stop", thread_ts=report.ts)
        await until_said(control, "Muted in this thread")
        before = [(one.ts, one.version) for one in said_by_bot(control)]
        control.say("approver", "incidents", FULL_QUOTA)
        control.say("requester", "incidents", FULL_QUOTA, thread_ts=report.ts)
        control.say("requester", "platform-on-call", "subnet is full on prod-weu, no more IPs: SubnetIsFull")
        await until_said(control, "prod-weu", "platform-on-call")
    assert [(one.ts, one.version) for one in said_by_bot(control)] == before


async def test_edits_unfurls_and_the_bots_own_words_are_no_reports(
    reads: Reads, control: Control, slack: SlackServer
) -> None:
    async with reads():
        report = control.say("requester", "incidents", FULL_QUOTA)
        await until_said(control, "Confirmed:")
        control.edit("requester", report, FULL_QUOTA)
        control.say("requester", "platform-on-call", "subnet is full on prod-weu, no more IPs: SubnetIsFull")
        await until_said(control, "prod-weu", "platform-on-call")
        await until_answered(control)
    assert len(cards(control)) == 1
    (card,) = cards(control)
    assert "reports" not in seen(card) or "2 reports" in seen(card)


async def test_whoever_picks_a_cluster_whose_incident_is_muted_elsewhere_is_answered_where_they_picked(
    reads: Reads, control: Control
) -> None:
    async with reads():
        report, _ = await confirmed(control)
        control.say("visitor", "incidents", "stop", thread_ts=report.ts)
        await until_said(control, "Muted in this thread")
        control.say("approver", "platform-on-call", "upgrade failed: ErrCode_InsufficientVCPUQuota out of vCPU quota")
        menu = await until_said(control, "Which cluster", "platform-on-call")
        await control.select("approver", menu, "incident_pick", "prod-weu")
        await until_answered(control, "platform-on-call")
