"""What is certain is checked at the first message; what belongs together is one answer, and what does not is not."""

from __future__ import annotations

from bot.store.connect import Connection
from sandbox.slack.control import Control
from sandbox.slack.message import Message
from sandbox.slack.server import SlackServer
from tests.slack_app.hearing import (
    ENDED_BY_HAND,
    FULL_QUOTA,
    QUOTA_CARD,
    Reads,
    cards,
    reads,
    said_by_bot,
    turns_end,
    until_answered,
    until_said,
)
from tests.slack_app.reading import is_answer, seen

__all__ = ["reads"]

FULL_SUBNET = "prod-eus2: SubnetIsFull, no more IPs in its subnet"
MONITOR = "Datadog"


def signs(control: Control, message: Message) -> set[str]:
    """The signs that stand under a message."""
    (now,) = [one for one in control.messages("incidents") if one.ts == message.ts]
    return set(now.reactions)


async def test_the_check_of_what_is_certain_waits_for_nothing_and_its_sign_goes_when_it_has_ended(
    reads: Reads, control: Control
) -> None:
    async with reads(spans=ENDED_BY_HAND):
        report = control.say("requester", "incidents", FULL_QUOTA)
        await control.until(lambda: "eyes" in signs(control, report), 60)
        card = await until_said(control, "Confirmed:")
        answer = await until_answered(control)
        await control.until(lambda: "eyes" not in signs(control, report), 60)
    assert card.thread_ts == answer.thread_ts == report.ts
    assert answer.version == 0, "an edit would ring no bell"
    assert report.user in str(card.blocks), "who reported it is named, so that the verdict reaches them"
    assert report.user in str(answer.blocks), "also where the card stood before, and its edit rings no bell"


async def test_two_clusters_in_one_breath_are_two_incidents(
    reads: Reads, control: Control, slack: SlackServer, redis: Connection
) -> None:
    async with reads(spans=ENDED_BY_HAND):
        first = control.say("requester", "incidents", FULL_QUOTA)
        second = control.say("requester", "incidents", FULL_SUBNET)
        await control.until(lambda: sum(map(is_answer, said_by_bot(control))) == 2, 60)
        await turns_end(slack, redis)
        control.say("approver", "platform-on-call", "dev-shared: SubnetIsFull, no more IPs in its subnet")
        await until_answered(control, "platform-on-call")
    for message, name, other in ((first, "prod-weu", "prod-eus2"), (second, "prod-eus2", "prod-weu")):
        thread = [one for one in said_by_bot(control) if one.thread_ts == message.ts]
        assert any(name in seen(one) for one in thread)
        assert not any(other in seen(one) for one in thread)


async def test_what_one_message_states_is_not_lost_behind_the_next_and_is_no_second_answer(
    reads: Reads, control: Control, slack: SlackServer, redis: Connection
) -> None:
    async with reads(spans=ENDED_BY_HAND):
        control.say("requester", "incidents", FULL_QUOTA)
        await until_answered(control)
        control.say("requester", "incidents", "and the node pool says SubnetIsFull, no more IPs in its subnet")
        control.say("requester", "incidents", "lunch was good by the way")
        await turns_end(slack, redis)
        control.say("approver", "platform-on-call", FULL_SUBNET)
        await until_answered(control, "platform-on-call")
    (card,) = cards(control)
    assert "reports" not in seen(card)
    assert sum(map(is_answer, said_by_bot(control))) == 1


async def test_somebody_who_reports_what_is_still_being_checked_is_told_no_guess(
    reads: Reads, control: Control, slack: SlackServer, redis: Connection
) -> None:
    async with reads(spans=ENDED_BY_HAND):
        first = control.say(
            "requester", "incidents", "prod-weu: a node is not ready, NodeNotReady, kubelet stopped posting status"
        )
        await control.until(lambda: "eyes" in signs(control, first) or bool(cards(control)), 60)
        there = control.say("approver", "platform-on-call", FULL_QUOTA)
        link = await until_said(control, "is known already", "platform-on-call")
        await until_answered(control)
    assert link.thread_ts == there.ts
    assert "not ready" not in seen(link).lower()


async def test_what_was_proved_is_the_title_whatever_was_reported(reads: Reads, control: Control) -> None:
    async with reads():
        control.say("requester", "incidents", "prod-weu: the subnet is full, SubnetIsFull, no free IP addresses")
        await until_answered(control)
        await control.until(lambda: bool(cards(control)), 60)
    (card,) = cards(control)
    headline = seen(card).splitlines()[0]
    assert "Found: " in headline
    assert "quota" in headline.lower()
    assert "Reported as" in seen(card)


async def test_while_an_app_waits_to_be_allowed_people_are_answered_and_then_so_is_the_app(
    reads: Reads, control: Control
) -> None:
    async with reads():
        card = {**QUOTA_CARD, "title": "Upgrade of prod-eus2 failed"}
        post = control.say_as_app(MONITOR, "incidents", "", attachments=[card])
        ask = await until_said(control, "Allow posts from Datadog?")
        report = control.say("requester", "incidents", FULL_QUOTA)
        await until_said(control, "Confirmed:")
        answer = await until_answered(control)
        assert answer.thread_ts == report.ts
        await control.press("approver", ask, "incident_allow_app")
        await control.until(
            lambda: any(is_answer(one) and one.thread_ts == post.ts for one in said_by_bot(control)), 60
        )
