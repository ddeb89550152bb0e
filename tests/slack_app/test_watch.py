"""`/aks watch`: users are notified exactly once when the problem is resolved, whatever happens in between."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario
from sandbox.slack.control import Control
from tests.slack_app.conftest import SCENARIO
from tests.slack_app.hearing import SOON, Reads, reads, said_by_bot, until_said
from tests.slack_app.reading import buttons, seen

__all__ = ["reads"]

OFTEN = replace(SOON, watch=timedelta(seconds=0.3))
SHORT = replace(OFTEN, watch_for=timedelta(seconds=3))


def hold(arm: ArmServer, name: str) -> None:
    """What Azure holds from now on."""
    world = Scenario.load(name).world
    arm.world.resources, arm.world.tables, arm.world.events = world.resources, world.tables, world.events


def state_of(arm: ArmServer, cluster: str, state: str) -> None:
    body = next(body for key, body in arm.world.resources.items() if key.endswith(f"/managedclusters/{cluster}"))
    body["properties"]["provisioningState"] = state


def told(control: Control, part: str, channel: str = "incidents") -> int:
    return sum(part in seen(one) for one in said_by_bot(control, channel))


async def watched(control: Control, cluster: str = "prod-weu", channel: str = "incidents") -> None:
    await control.slash("requester", channel, "/aks", f"watch {cluster}")
    await until_said(control, "I watch", channel)


async def whispered(control: Control, part: str, user: str = "requester") -> None:
    await control.until(lambda: any(part in seen(one) for one in control.ephemerals(user)), 60)


async def test_whoever_waits_is_called_once_when_what_is_wrong_is_gone(
    reads: Reads, control: Control, arm: ArmServer
) -> None:
    async with reads(spans=OFTEN):
        await watched(control)
        head = await until_said(control, "A core quota is used up")
        assert "watch_stop" in buttons(head)
        hold(arm, "healthy-fleet")
        over = await until_said(control, "Over after")
        await control.until(lambda: "watch_stop" not in buttons(head), 30)
        assert over.thread_ts == head.ts
        assert control.team.person("requester").id in str(over.blocks)
        assert "found nothing there now" in seen(over)
        hold(arm, SCENARIO)
        await control.slash("requester", "incidents", "/aks", "watch")
        await whispered(control, "Nobody here waits")
    assert told(control, "Over after") == 1


async def test_an_operation_that_runs_is_waited_for_and_what_is_wrong_then_is_said(
    reads: Reads, control: Control, arm: ArmServer
) -> None:
    hold(arm, "healthy-fleet")
    state_of(arm, "prod-weu", "Upgrading")
    async with reads(spans=OFTEN):
        asked = control.mention("requester", "incidents", "watch prod-weu")
        said = await until_said(control, "it is Upgrading")
        assert said.thread_ts == asked.ts
        hold(arm, SCENARIO)
        over = await until_said(control, "Over after")
        assert "something else is wrong there now" in seen(over)
        assert over.thread_ts == asked.ts


async def test_another_process_goes_on_with_it(reads: Reads, control: Control, arm: ArmServer) -> None:
    async with reads(spans=OFTEN):
        await watched(control)
    hold(arm, "healthy-fleet")
    async with reads(spans=OFTEN):
        await until_said(control, "Over after")
        await control.slash("requester", "incidents", "/aks", "watch")
        await whispered(control, "Nobody here waits")
    assert told(control, "Over after") == 1


async def test_it_ends_by_saying_that_it_is_not_over(reads: Reads, control: Control) -> None:
    async with reads(spans=SHORT):
        await watched(control)
        said = await until_said(control, "Not over after")
        assert "It is still so: A core quota is used up" in seen(said)
        await control.slash("requester", "incidents", "/aks", "watch")
        await whispered(control, "Nobody here waits")
    assert told(control, "Not over after") == 1


async def test_azure_out_of_reach_is_not_over(reads: Reads, control: Control, arm: ArmServer) -> None:
    async with reads(spans=replace(OFTEN, watch_for=timedelta(seconds=8))):
        await watched(control)
        await arm.__aexit__(None, None, None)
        said = await until_said(control, "Not over after", timeout_s=120)
        assert "could not see whether it is over" in seen(said)
    assert told(control, "Over after") == 0


async def test_anybody_can_stop_it_and_everybody_sees_who(reads: Reads, control: Control, arm: ArmServer) -> None:
    async with reads(spans=OFTEN):
        await watched(control)
        await control.slash("requester", "incidents", "/aks", "watch prod-weu")
        await whispered(control, "here already")
        await control.slash("approver", "incidents", "/aks", "watch")
        await whispered(control, "What I watch", "approver")
        head = await until_said(control, "I watch")
        await control.press("approver", head, "watch_stop")
        stopped = await until_said(control, "no more")
        assert control.team.person("approver").id in str(stopped.blocks)
        await control.until(lambda: "watch_stop" not in buttons(head), 30)
        hold(arm, "healthy-fleet")
        # A watch that begins later ends; this one does not.
        state_of(arm, "prod-weu", "Updating")
        await watched(control, channel="platform-on-call")
        state_of(arm, "prod-weu", "Succeeded")
        await until_said(control, "Over after", "platform-on-call")
    assert told(control, "Over after") == 0


@pytest.mark.parametrize(
    ("cluster", "answer"),
    [
        ("edge-nothing", "annot find"),
        ("dev-shared", "there is nothing to wait for"),
        ("", "Nobody here waits"),
    ],
)
async def test_where_there_is_nothing_to_wait_for_that_is_said(
    reads: Reads, control: Control, cluster: str, answer: str
) -> None:
    async with reads(spans=OFTEN):
        await control.slash("requester", "incidents", "/aks", f"watch {cluster}")
        await whispered(control, answer)
    assert said_by_bot(control) == []


async def test_where_the_bot_is_not_it_tells_in_a_direct_message(
    reads: Reads, control: Control, arm: ArmServer
) -> None:
    async with reads(spans=OFTEN):
        await control.slash("requester", "random", "/aks", "watch prod-weu")
        direct = control.direct("requester").id
        await until_said(control, "I watch", direct)
        hold(arm, "healthy-fleet")
        await until_said(control, "Over after", direct)
    assert told(control, "Over after", direct) == 1


async def test_who_may_not_look_at_it_cannot_watch_it(reads: Reads, control: Control) -> None:
    async with reads("look:\n  rules:\n    - {clusters: [dev-*]}\n", spans=OFTEN):
        await control.slash("requester", "incidents", "/aks", "watch prod-weu")
        await control.until(lambda: len(control.ephemerals("requester")) >= 2, 60)
    assert said_by_bot(control) == []
