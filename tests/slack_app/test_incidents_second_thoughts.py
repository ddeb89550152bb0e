"""Edited, deleted and withdrawn messages: the latest version counts, and nothing is asked or answered twice."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from bot.store.connect import Connection
from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from sandbox.slack.outbox import Delivery, Road
from sandbox.slack.server import SlackServer
from tests.slack_app.hearing import (
    ENDED_BY_HAND,
    FULL_QUOTA,
    QUOTA_CARD,
    SOON,
    Reads,
    cards,
    confirmed,
    found_over,
    reads,
    said_by_bot,
    turns_end,
    until_answered,
    until_said,
)
from tests.slack_app.reading import is_answer, seen

__all__ = ["reads"]

NO_CLUSTER = "upgrade failed: ErrCode_InsufficientVCPUQuota out of vCPU quota"
FULL_SUBNET = "subnet is full on prod-weu, no more IPs: SubnetIsFull"
MONITOR = "Datadog"
LOOKS = replace(SOON, looks_again=(timedelta(seconds=3),) * 10)


async def test_what_is_changed_or_taken_back_before_it_was_read_is_not_answered(
    reads: Reads, control: Control, slack: SlackServer, redis: Connection
) -> None:
    async with reads(spans=ENDED_BY_HAND):
        changed = control.say("requester", "incidents", FULL_QUOTA)
        control.edit("requester", changed, "wrong channel, sorry")
        gone = control.say("visitor", "incidents", FULL_QUOTA)
        control.delete("visitor", gone)
        control.say("approver", "platform-on-call", FULL_QUOTA)
        await turns_end(slack, redis)
        await until_said(control, "Confirmed:", "platform-on-call")
        await until_answered(control, "platform-on-call")
    assert [seen(one) for one in said_by_bot(control)] == []
    (card,) = cards(control, "platform-on-call")
    assert "report" not in seen(card)


async def test_what_is_changed_belongs_to_its_turn_and_is_answered_once(
    reads: Reads, control: Control, slack: SlackServer, redis: Connection
) -> None:
    async with reads(spans=ENDED_BY_HAND):
        first = control.say("requester", "incidents", "something is wrong with prod-weu")
        second = control.say("requester", "incidents", "ErrCode_Insufficient, out of")
        control.edit("requester", second, "ErrCode_InsufficientVCPUQuota, out of vCPU quota")
        await turns_end(slack, redis)
        await until_said(control, "Confirmed:")
        await until_answered(control)
    assert {one.thread_ts for one in said_by_bot(control)} == {first.ts}
    (card,) = cards(control)
    assert "reports" not in seen(card)


@dataclass
class Overtaking:
    """A way to the bot on which what changes a message arrives before the message itself."""

    road: Road
    late: str
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def carry(self, delivery: Delivery) -> dict[str, Any]:
        event = delivery.payload.get("event", {})
        if event.get("text") == self.late:
            await self.changed.wait()
        answer = await self.road.carry(delivery)
        if event.get("subtype") == "message_changed":
            self.changed.set()
        return answer


async def test_a_change_that_overtakes_its_message_belongs_to_the_turn_of_who_made_it(
    reads: Reads, control: Control, slack: SlackServer, redis: Connection
) -> None:
    async with reads(spans=ENDED_BY_HAND):
        slack.outbox.road = Overtaking(slack.outbox.road, "ErrCode_Insufficient, out of")
        first = control.say("requester", "incidents", "something is wrong with prod-weu")
        second = control.say("requester", "incidents", "ErrCode_Insufficient, out of")
        control.edit("requester", second, "ErrCode_InsufficientVCPUQuota, out of vCPU quota")
        await turns_end(slack, redis)
        await until_said(control, "Confirmed:")
    assert {one.thread_ts for one in said_by_bot(control)} == {first.ts}


async def test_a_report_whose_end_is_said_in_the_same_breath_is_not_answered(
    reads: Reads, control: Control, slack: SlackServer, redis: Connection
) -> None:
    async with reads(spans=ENDED_BY_HAND):
        control.say("requester", "incidents", FULL_SUBNET)
        control.say("requester", "incidents", "resolved")
        control.say("approver", "platform-on-call", FULL_QUOTA)
        await turns_end(slack, redis)
        await until_said(control, "Confirmed:", "platform-on-call")
    assert [seen(one) for one in said_by_bot(control)] == []


async def test_one_thread_is_asked_once_which_cluster_is_meant(reads: Reads, control: Control) -> None:
    async with reads():
        said = control.say("requester", "incidents", NO_CLUSTER)
        menu = await until_said(control, "Which cluster")
        control.say("approver", "incidents", "subnet is full, no more IPs: SubnetIsFull", thread_ts=said.ts)
        control.say("requester", "platform-on-call", FULL_QUOTA)
        await until_said(control, "Confirmed:", "platform-on-call")
    assert [one.ts for one in said_by_bot(control)] == [menu.ts]


async def test_stop_holds_where_the_bot_has_only_asked(reads: Reads, control: Control) -> None:
    async with reads():
        said = control.say("requester", "incidents", NO_CLUSTER)
        menu = await until_said(control, "Which cluster")
        control.mention("visitor", "incidents", "stop", thread_ts=said.ts)
        quiet = await until_said(control, "Muted in this thread")
        control.say("approver", "incidents", FULL_QUOTA, thread_ts=said.ts)
        control.say("requester", "platform-on-call", FULL_SUBNET)
        await until_answered(control, "platform-on-call")
    assert [one.ts for one in said_by_bot(control)] == [menu.ts, quiet.ts]


async def test_all_that_an_app_posted_is_read_once_it_is_allowed(reads: Reads, control: Control) -> None:
    other = {"title": "prod-weu", "text": 'Code="SubnetIsFull" Message="Subnet nodes is full, no more IP addresses"'}
    async with reads():
        control.say_as_app(MONITOR, "incidents", "", attachments=[QUOTA_CARD])
        ask = await until_said(control, "Allow posts from Datadog?")
        late = control.say_as_app(MONITOR, "platform-on-call", "", attachments=[other])
        await until_said(control, "Allow posts from Datadog?", "platform-on-call")
        await control.press("approver", ask, "incident_allow_app")
        pointer = await until_said(control, "is known already", "platform-on-call")
        await until_said(control, "2 reports")
    assert pointer.thread_ts == late.ts


async def test_a_cluster_that_does_not_exist_cannot_be_muted_and_an_id_is_as_good_as_a_name(
    reads: Reads, control: Control
) -> None:
    group = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/rg"
    prod = f"{group}/providers/Microsoft.ContainerService/managedClusters/prod-weu"
    async with reads():
        await control.slash("requester", "incidents", "/aks", "mute quota-exceeded prod-wue until 4h a migration")
        await control.until(lambda: any("no cluster prod-wue" in seen(one) for one in control.ephemerals("requester")))
        await control.slash("requester", "incidents", "/aks", f"mute quota-exceeded {prod} until 4h a migration")
        await until_said(control, "`quota-exceeded` on `prod-weu` is muted until")
        control.say("requester", "incidents", FULL_QUOTA)
        control.say("requester", "platform-on-call", FULL_SUBNET)
        await until_said(control, "prod-weu", "platform-on-call")
    assert cards(control) == []


async def test_another_cluster_in_the_thread_of_an_incident_gets_a_thread_of_its_own(
    reads: Reads, control: Control, arm: ArmServer
) -> None:
    async with reads(spans=LOOKS):
        report, _ = await confirmed(control)
        control.say("requester", "incidents", "prod-eus2: SubnetIsFull, no more IPs in its subnet", thread_ts=report.ts)
        link = await until_said(control, "This thread is about another cluster")
        await control.until(lambda: sum(map(is_answer, said_by_bot(control))) == 2, 60)
        (head,) = [one for one in cards(control) if "prod-eus2" in seen(one)]
        control.say("visitor", "incidents", "stop", thread_ts=report.ts)
        quiet = await until_said(control, "Muted in this thread")
    assert link.thread_ts == quiet.thread_ts == report.ts
    assert head.thread_ts in (None, head.ts)
    for one in said_by_bot(control):
        about = "prod-eus2" if (one.thread_ts or one.ts) == head.ts else "prod-weu"
        assert one.ts == link.ts or not {"prod-eus2", "prod-weu"} - {about} & set(seen(one).replace("`", " ").split())


async def test_stop_where_it_only_points_elsewhere_leaves_the_incidents_own_thread_alone(
    reads: Reads, control: Control, arm: ArmServer
) -> None:
    async with reads():
        _, answer = await confirmed(control)
        there = control.say("approver", "platform-on-call", FULL_QUOTA)
        await until_said(control, "is known already", "platform-on-call")
        control.say("visitor", "platform-on-call", "stop", thread_ts=there.ts)
        await until_said(control, "Muted in this thread", "platform-on-call")
        await found_over(control, arm, answer)
    assert not any("Muted in" in seen(one) for one in said_by_bot(control))
