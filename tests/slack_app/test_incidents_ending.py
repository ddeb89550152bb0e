"""How an incident ends: a check finds it no more. And how it begins again, in the same thread."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from sandbox.slack.message import Message
from sandbox.slack.server import SlackServer
from tests.slack_app.conftest import SCENARIO
from tests.slack_app.hearing import (
    SOON,
    Reads,
    cards,
    confirmed,
    found_over,
    hold,
    reads,
    said_by_bot,
    until_said,
)
from tests.slack_app.reading import is_answer, seen

__all__ = ["reads"]

LOOKS = replace(SOON, looks_again=(timedelta(seconds=1),) * 30)


def pictures(control: Control) -> list[Message]:
    """Of the course of an incident."""
    told = "from the first report until it was over"
    return [one for one in said_by_bot(control) if one.blocks and told in str(one.blocks[0].get("alt_text"))]


async def test_it_closes_when_a_look_finds_it_no_more_and_says_so_in_its_thread(
    reads: Reads, control: Control, arm: ArmServer
) -> None:
    async with reads(spans=LOOKS):
        report, _ = await confirmed(control)
        hold(arm, "healthy-fleet")
        closed = await until_said(control, "this incident is closed")
        await control.until(lambda: "Over:" in seen(cards(control)[0]), 30)
        [course] = await control.until(lambda: pictures(control), 60)
    assert closed.thread_ts == report.ts
    assert course.thread_ts == report.ts
    assert "Reports: found over" in course.blocks[0]["alt_text"]
    assert "Verdicts: proved: A core quota is used up (root cause)" in course.blocks[0]["alt_text"]


async def test_somebodys_check_again_closes_it_too_and_a_new_report_opens_it_in_the_same_thread(
    reads: Reads, control: Control, arm: ArmServer
) -> None:
    async with reads():
        report, answer = await confirmed(control)
        await found_over(control, arm, answer)
        hold(arm, SCENARIO)
        again = control.say("approver", "incidents", "prod-weu again: ErrCode_InsufficientVCPUQuota, out of vCPU quota")
        await until_said(control, "It is reported again")
        await control.until(lambda: sum(map(is_answer, said_by_bot(control))) == 3, 60)
        await control.until(lambda: again.ts in {one.thread_ts for one in said_by_bot(control)}, 60)
    assert len(cards(control)) == 1
    (link,) = [one for one in said_by_bot(control) if one.thread_ts != report.ts]
    assert link.thread_ts == again.ts
    assert control.team.channel("incidents").id in str(link.blocks)


async def test_in_the_thread_of_what_is_over_people_talk_until_somebody_names_the_cluster_again(
    reads: Reads, control: Control, arm: ArmServer, slack: SlackServer
) -> None:
    async with reads():
        report, answer = await confirmed(control)
        await found_over(control, arm, answer)
        hold(arm, SCENARIO)
        reason = "ErrCode_InsufficientVCPUQuota, out of vCPU quota"
        talk = control.say("visitor", "incidents", f"so it was {reason}", thread_ts=report.ts)
        await slack.until(lambda: slack.outbox.under_way == 0, 60)
        again = control.say("approver", "incidents", f"prod-weu is back: {reason}", thread_ts=report.ts)
        await until_said(control, "It is reported again")
    signs = [call.args["timestamp"] for call in slack.log if call.method == "reactions.add"]
    assert again.ts in signs
    assert talk.ts not in signs
    assert {one.thread_ts for one in said_by_bot(control)} == {report.ts}


async def test_a_check_of_one_area_closes_nothing_and_settles_nothing(
    reads: Reads, control: Control, arm: ArmServer
) -> None:
    async with reads():
        await confirmed(control)
        hold(arm, "healthy-fleet")
        answers = sum(map(is_answer, said_by_bot(control)))
        for area in ("network", "compute"):
            control.mention("requester", "incidents", f"check prod-weu {area}")
            answers += 1
            await control.until(lambda: sum(map(is_answer, said_by_bot(control))) >= answers, 60)  # noqa: B023
        assert "Confirmed" in seen(cards(control)[0])
        assert not any("is closed" in seen(one) for one in said_by_bot(control))


async def test_azure_out_of_reach_is_not_over(reads: Reads, control: Control, arm: ArmServer) -> None:
    async with reads(spans=LOOKS):
        await confirmed(control)
        await arm.__aexit__(None, None, None)
        control.say("requester", "platform-on-call", "prod-weu is out of vCPU quota: ErrCode_InsufficientVCPUQuota")
        await until_said(control, "is known already", "platform-on-call")
    assert not any("is closed" in seen(one) for one in said_by_bot(control))
