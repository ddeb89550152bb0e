"""A night: an alert, its thread, the finding, the fix that somebody else approves, the end; and the next night."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot.app import Bot
from bot.playground.hurried import ShortenedPauses
from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario
from sandbox.slack.control import Control
from sandbox.slack.message import Message
from tests.slack_app import alert_cards
from tests.slack_app.conftest import Start
from tests.slack_app.fixes.steps import CHANNEL, Desk, policy, writes
from tests.slack_app.hearing import cards, said_by_bot, until_said
from tests.slack_app.reading import buttons, is_answer, seen

SECRET = "a-secret-for-alerts-0123"
FIX = "fix_0_0"

Alarm = Callable[[], Awaitable[None]]


@pytest.fixture
async def bot(start: Start, control: Control, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bot]:
    where = f"  alerts:\n    - channel: {control.team.channel(CHANNEL).id}\n"
    file = tmp_path / "policy.yaml"
    file.write_text(policy(control) + alert_cards.believed(control) + where)
    monkeypatch.setenv("AKSBOT_POLICY", str(file))
    monkeypatch.setenv("AKSBOT_ALERTS_TOKEN", SECRET)
    async with start(times=ShortenedPauses()) as running:
        yield running


@pytest.fixture(params=["card", "door"])
def alarm(request: pytest.FixtureRequest, bot: Bot, control: Control, arm: ArmServer) -> Alarm:
    """Azure's failure, as an alert app posts it or as Azure Monitor sends it; another one each time."""
    fired: list[dict[str, Any]] = []

    async def sound() -> None:
        event = alert_cards.failed_pool(arm.world)
        if request.param == "card":
            alert_cards.post_card(control, CHANNEL, event)
            return
        fired.append(event)
        moment = f"2026-11-18T03:0{len(fired)}:00Z"
        url = f"http://127.0.0.1:{bot.site.port}/alerts/azure-monitor"
        headers = {"Authorization": f"Bearer {SECRET}"}
        body = alert_cards.common_alert(event | {"eventTimestamp": moment})
        async with aiohttp.ClientSession() as session, session.post(url, json=body, headers=headers) as answer:
            assert answer.status == 202

    return sound


async def fixable(control: Control, desk: Desk, number: int = 1) -> Message:
    """The message with the button of the fix, once it stands so often."""
    await control.until(lambda: sum(FIX in buttons(one) for one in said_by_bot(control)) >= number, 60)
    return [one for one in said_by_bot(control) if FIX in buttons(one)][-1]


async def repaired(control: Control, desk: Desk, cause: Message) -> None:
    await desk.planned(cause)
    await control.submit_view("requester", {})
    await control.press("approver", await desk.proposal(), "fix_approve")
    await desk.says("fixed", "nodepool-failed", "HEALTHY in what was asked")
    await until_said(control, "this incident is closed")


def told(control: Control) -> list[str]:
    """What everybody reads of the bot in the thread, a word for each message."""
    signs = {
        "Over: A node pool is in a failed state": "over",
        "Confirmed: Pool general of staging-neu is Failed": "confirmed",
        "It is reported again": "again",
        "is known already": "link",
        "this incident is closed": "closed",
        "Asked for by": "proposal",
        "Reconcile node pool general on staging-neu: fixed": "fixed",
        "What proves it": "cause",
        "UNHEALTHY": "check",
    }
    replies = [seen(one).replace("*", "").replace("`", "") for one in said_by_bot(control) if one.is_reply]
    return [next((word for sign, word in signs.items() if sign in said), said) for said in replies]


async def test_an_alert_is_one_thread_of_six_messages_that_ends_with_its_end(
    alarm: Alarm, desk: Desk, control: Control, arm: ArmServer
) -> None:
    await alarm()
    cause = await fixable(control, desk)
    # It is called by what the check has proved, and by that code's own sign, whatever was suspected first.
    card = await until_said(control, "Confirmed: Pool `general` of `staging-neu` is Failed")
    assert "ReconcileVMSSAgentPoolFailed" in seen(card)
    assert cards(control) == [card]
    await repaired(control, desk, cause)
    await control.until(lambda: "Over:" in seen(cards(control)[0]), 60)
    assert told(control) == ["over", "check", "cause", "proposal", "fixed", "closed"]
    assert len({one.thread_ts for one in said_by_bot(control) if one.is_reply}) == 1
    assert len([one for one in control.messages(CHANNEL) if not one.is_reply]) == 1
    assert len(writes(arm)) == 1


async def test_what_comes_back_within_a_day_goes_on_in_the_same_thread(
    alarm: Alarm, desk: Desk, control: Control, arm: ArmServer
) -> None:
    await alarm()
    await repaired(control, desk, await fixable(control, desk))
    broken = Scenario.load("nodepool-failed").world
    arm.world.resources, arm.world.tables, arm.world.events = broken.resources, broken.tables, broken.events
    await alarm()
    await fixable(control, desk, 2)
    await control.until(lambda: sum(map(is_answer, said_by_bot(control))) == 2, 60)
    await control.until(lambda: told(control)[0] == "confirmed", 60)
    assert told(control)[:6] == ["confirmed", "check", "cause", "proposal", "fixed", "closed"]
    assert sorted(told(control)[6:]) == ["again", "cause", "check", "link"]
    replies = [one for one in said_by_bot(control) if one.is_reply and "is known already" not in seen(one)]
    assert len({one.thread_ts for one in replies}) == 1, "but for the link, which stands under the new alert"
