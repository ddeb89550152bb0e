"""Rejected Slack calls do not affect the answer, and messages that cannot be posted do not cause errors."""

from __future__ import annotations

import asyncio
import json

import pytest

from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from sandbox.slack.server import Fault, SlackServer
from tests.slack_app.conftest import Start
from tests.slack_app.reading import answered, seen

LONG_S = 60


async def test_an_answer_does_not_wait_for_a_step_that_slack_refused(
    start: Start, control: Control, slack: SlackServer, arm: ArmServer
) -> None:
    refused = Fault("429", "chat.update", times=1, retry_after_s=LONG_S)
    slack.faults.append(refused)
    arm.latency_s = 0.5
    async with start():
        began = asyncio.get_running_loop().time()
        await control.slash("requester", "incidents", "/aks", "check prod-weu")
        (head,) = await answered(control)
        assert asyncio.get_running_loop().time() - began < LONG_S
    assert refused.times == 0
    assert "rate limit delayed" not in seen(head)


async def test_a_listener_that_fails_and_can_tell_nobody_is_still_acknowledged(
    start: Start, control: Control, slack: SlackServer, caplog: pytest.LogCaptureFixture
) -> None:
    async with start(over_http=True):
        await control.slash("requester", "incidents", "/aks", "check prod-weu")
        (head,) = await answered(control)
        for block in head.blocks:
            for one in block.get("elements", ()):
                if one.get("action_id") == "check_again":
                    one["value"] = json.dumps(["nonsense"])
        slack.faults.append(Fault("reset", "response_url"))
        await control.press("requester", head, "check_again")
        await control.until(lambda: any("nobody could be told" in one.getMessage() for one in caplog.records), 30)
