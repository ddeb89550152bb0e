"""A workspace that refuses blocks still reads who is asked, and what for."""

from __future__ import annotations

from bot.app import Bot
from sandbox.slack.control import Control
from sandbox.slack.server import Fault, SlackServer
from tests.slack_app.fixes.steps import CHANNEL, Desk


async def test_a_request_whose_blocks_are_refused_calls_the_approvers_as_text(
    bot: Bot, desk: Desk, control: Control, slack: SlackServer
) -> None:
    cause = await desk.offered()
    await desk.planned(cause)
    slack.faults.append(Fault("error", "chat.postMessage", error="invalid_blocks", times=1))
    await control.submit_view("requester", {"reason": "the pool cannot scale"})
    approver = f"<@{control.team.person('approver').id}>"
    thread = cause.thread_ts or cause.ts
    await control.until(lambda: any(approver in one.text for one in control.thread(CHANNEL, thread)), 30)
    (said,) = [one.text for one in control.thread(CHANNEL, thread) if approver in one.text]
    assert "Reconcile node pool general" in said
    assert "the pool cannot scale" in said
