"""From a report in a channel to its incident, its fix, and its end."""

from __future__ import annotations

from bot.app import Bot
from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from tests.slack_app.fixes.steps import CHANNEL, Desk, writes
from tests.slack_app.hearing import cards, until_said
from tests.slack_app.reading import buttons, seen


async def test_a_verified_fix_closes_the_incident_that_somebody_reported(
    bot: Bot, desk: Desk, control: Control, arm: ArmServer
) -> None:
    report = control.say("visitor", CHANNEL, "node pool general of staging-neu is in a failed state: nodepool-failed")
    # A turn closes after fifteen seconds, as in earnest.
    await until_said(control, "Confirmed:", CHANNEL)
    thread = lambda: control.thread(CHANNEL, report.ts)  # noqa: E731
    await control.until(lambda: any("fix_0_0" in buttons(one) for one in thread()), 60)
    cause = next(one for one in thread() if "fix_0_0" in buttons(one))
    await desk.planned(cause)
    await control.submit_view("requester", {})
    await control.press("approver", await desk.proposal(), "fix_approve")
    await desk.says("fixed", "nodepool-failed", "HEALTHY in what was asked")
    closed = await until_said(control, "this incident is closed", CHANNEL)
    assert closed.thread_ts == report.ts
    (card,) = cards(control, CHANNEL)
    await control.until(lambda: "Over:" in seen(card), 30)
    assert len(writes(arm)) == 1
