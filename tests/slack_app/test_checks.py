from __future__ import annotations

import asyncio

import pytest

from bot.app import Bot
from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from sandbox.slack.server import Fault, SlackServer
from tests.slack_app.conftest import Start
from tests.slack_app.reading import answered, buttons, heads, is_answer, seen


@pytest.mark.parametrize("over_http", [False, True], ids=["socket", "http"])
async def test_a_check_goes_from_the_command_to_the_verdict_in_its_thread(
    start: Start, control: Control, slack: SlackServer, over_http: bool
) -> None:
    async with start(over_http=over_http):
        await control.slash("requester", "incidents", "/aks", "check prod-weu")
        assert [one.text for one in control.ephemerals("requester")] == [
            "Checking `prod-weu`: the answer will be posted here."
        ]
        (head,) = await answered(control)
        await control.until(lambda: len(control.thread("incidents", head.ts)) > 1)
    thread = control.thread("incidents", head.ts)
    assert head.text.startswith("`prod-weu` cannot add nodes: vCPU quota")
    assert "UNHEALTHY" in seen(head)
    assert head.metadata
    assert head.metadata["event_type"] == "aksbot_job"
    assert "quota" in seen(thread[1])
    assert control.team.person("requester").id in str(thread[1].blocks)
    assert "What to do" in seen(thread[1])
    assert "show_steps_0" in buttons(thread[1])
    assert not [one for one in slack.log if one.error]


async def test_two_who_ask_at_once_have_an_answer_each(bot: Bot, control: Control) -> None:
    await asyncio.gather(
        control.slash("requester", "incidents", "/aks", "check prod-weu"),
        control.slash("approver", "platform-on-call", "/aks", "check prod-weu"),
    )
    assert len(await answered(control, "incidents")) == 1
    assert len(await answered(control, "platform-on-call")) == 1


async def test_a_mention_in_a_thread_is_answered_there(bot: Bot, control: Control) -> None:
    alert = control.say("requester", "incidents", "prod-weu looks sick")
    control.mention("requester", "incidents", "check prod-weu", thread_ts=alert.ts)
    await control.until(lambda: any(map(is_answer, control.thread("incidents", alert.ts))), 30)
    await control.until(lambda: any("What to do" in seen(one) for one in control.thread("incidents", alert.ts)))
    assert heads(control) == []


async def test_a_clear_area_of_a_broken_cluster_is_not_green_and_the_whole_is_one_tap_away(
    bot: Bot, control: Control
) -> None:
    await control.slash("requester", "incidents", "/aks", "check prod-weu network")
    (head,) = await answered(control)
    assert "HEALTHY in network only" in seen(head)
    assert "green" not in seen(head)
    await control.until(lambda: any("Not looked at" in seen(one) for one in control.thread("incidents", head.ts)), 30)
    await control.press("requester", head, "check_everything")
    await control.until(lambda: any("UNHEALTHY" in seen(one) for one in control.messages("incidents")), 30)


async def test_an_area_narrows_the_check_and_an_unknown_one_is_told(bot: Bot, control: Control) -> None:
    await control.slash("requester", "incidents", "/aks", "check prod-weu qota")
    (told,) = control.ephemerals("requester")
    assert "is no area and begins no question" in told.text
    assert heads(control) == []


async def test_a_slip_of_the_pen_is_told_to_whoever_typed_it_and_one_tap_mends_it(bot: Bot, control: Control) -> None:
    await control.slash("requester", "incidents", "/aks", "check prod-wue")
    await control.until(lambda: any("check_this_0" in buttons(one) for one in control.ephemerals("requester")), 30)
    told = control.ephemerals("requester")[-1]
    assert "I cannot find the cluster `prod-wue`" in seen(told)
    assert heads(control) == [], "nobody else is bothered with it"
    await control.press("requester", told, "check_this_0")
    (head,) = await answered(control)
    assert "`prod-weu`" in seen(head)


async def test_where_the_bot_is_not_a_member_only_the_asker_is_answered(bot: Bot, control: Control) -> None:
    await control.slash("requester", "random", "/aks", "check prod-weu")
    await control.until(lambda: any(is_answer(one) for one in control.ephemerals("requester", "random")), 30)
    await control.until(lambda: any("What to do" in seen(one) for one in control.ephemerals("requester", "random")))
    head = next(one for one in control.ephemerals("requester", "random") if is_answer(one))
    assert control.messages("random") == []
    assert "invite_me" in buttons(head)
    await control.press("requester", head, "invite_me")
    await control.until(lambda: control.team.has_bot(control.team.channel("random")))
    await control.until(lambda: "ask again" in control.ephemerals("requester", "random")[-1].text)


async def test_in_a_channel_where_only_some_may_post_the_asker_is_answered_alone(
    bot: Bot, control: Control, slack: SlackServer
) -> None:
    slack.faults.append(Fault("error", "chat.postMessage", error="restricted_action_read_only_channel"))
    await control.slash("requester", "incidents", "/aks", "check prod-weu")
    await control.until(lambda: any("UNHEALTHY" in seen(one) for one in control.ephemerals("requester")), 30)
    assert heads(control) == []


async def test_an_archived_channel_is_answered_in_a_direct_message(bot: Bot, control: Control) -> None:
    await control.slash("requester", "incidents", "/aks", "check prod-weu")
    control.team.channel("incidents").archived = True
    direct = control.direct("requester")
    await control.until(lambda: any(is_answer(one) for one in direct.messages), 30)
    await control.until(lambda: any("What to do" in seen(one) for one in direct.messages))


@pytest.mark.parametrize("method", ["chat.postMessage", "chat.update"])
async def test_a_limit_is_waited_for(bot: Bot, control: Control, slack: SlackServer, method: str) -> None:
    slack.faults.append(Fault("429", method, times=2))
    await control.slash("requester", "incidents", "/aks", "check prod-weu")
    assert len(await answered(control)) == 1


async def test_an_answer_that_slack_delayed_says_so(bot: Bot, control: Control, slack: SlackServer) -> None:
    slack.faults.append(Fault("429", "chat.update", times=1, retry_after_s=5))
    await control.slash("requester", "incidents", "/aks", "check prod-weu")
    (head,) = await answered(control)
    assert "rate limit delayed this by 5 s" in seen(head)


async def test_refused_blocks_are_said_as_text(bot: Bot, control: Control, slack: SlackServer) -> None:
    slack.faults.append(Fault("error", "chat.postMessage", error="invalid_blocks", skip=1, times=1))
    await control.slash("requester", "incidents", "/aks", "check prod-weu")
    (head,) = await answered(control)
    said = control.thread("incidents", head.ts)[1]
    assert said.blocks == []
    assert "What to do" in said.text


async def test_a_workspace_without_plans_sees_the_progress_in_words(
    start: Start, control: Control, slack: SlackServer, arm: ArmServer
) -> None:
    control.team.features = frozenset()
    arm.latency_s = 0.5
    async with start():
        await control.slash("requester", "incidents", "/aks", "check prod-weu")
        await control.until(lambda: any("evidence" in seen(one) for one in heads(control)), 30)
        assert len(await answered(control)) == 1
    assert sum(one.error == "invalid_blocks" for one in slack.log) == 1


async def test_progress_is_shown_while_the_check_runs(start: Start, control: Control, arm: ArmServer) -> None:
    arm.latency_s = 0.5
    async with start():
        await control.slash("requester", "incidents", "/aks", "check prod-weu")
        await control.until(lambda: any(one.blocks[0]["type"] == "plan" for one in heads(control)), 30)
        assert len(await answered(control)) == 1


@pytest.mark.parametrize("part", [0, 1], ids=["head", "thread"])
async def test_an_answer_whose_arrival_nobody_confirmed_is_not_said_twice(
    bot: Bot, control: Control, slack: SlackServer, part: int
) -> None:
    slack.faults.append(Fault("reset", "chat.postMessage", times=1, skip=part, executed=True))
    await control.slash("requester", "incidents", "/aks", "check prod-weu")
    (head,) = await answered(control)
    await control.until(lambda: any("What to do" in seen(one) for one in control.thread("incidents", head.ts)))
    thread = [seen(one) for one in control.thread("incidents", head.ts)]
    assert len(thread) == len(set(thread))
