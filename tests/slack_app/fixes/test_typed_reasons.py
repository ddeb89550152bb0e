"""Reasons for a fix or for break-glass are stored permanently, but without any secrets in them."""

from __future__ import annotations

import json

import pytest

from bot.app import Bot
from bot.audit.store import Audit
from bot.store.connect import Connection
from sandbox.slack.control import Control
from sandbox.slack.server import SlackServer
from tests.slack_app.fixes.steps import Desk
from tests.slack_app.fixes.test_fixed import FROZEN
from tests.slack_app.sinks import watched

PLANTED = "hunter2-Zq9"
REASON = f"the pipeline needs it, password={PLANTED}"
SHOWN = "[redacted:password]"


@pytest.mark.parametrize("rules", [FROZEN])
async def test_a_secret_in_a_reason_is_in_no_call_no_key_no_log_and_no_audit(
    bot: Bot, desk: Desk, control: Control, slack: SlackServer, redis: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    async with watched(slack, redis, caplog) as sinks:
        proposal = await desk.asked(reason=REASON)
        await control.press("visitor", proposal, "fix_glass")
        await control.submit_view("visitor", {"reason": REASON})
        await desk.says("*fixed*", SHOWN)
        control.open_home("approver")
        await control.until(lambda: control.home("approver") is not None, 30)
        assert await sinks.holding(PLANTED) == []
        assert await sinks.without_an_end() == set()
    audit = Audit(redis.redis)
    exported = [json.dumps(one.as_dict()) async for one in audit.records()]
    assert [one for one in exported if PLANTED in one] == []
    assert sum(SHOWN in one for one in exported) >= 2, "the rest of what they said stays"
    assert (await audit.verify()).whole


async def test_a_secret_in_the_reason_of_a_declined_fix_is_kept_nowhere(
    bot: Bot, desk: Desk, control: Control, slack: SlackServer, redis: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    async with watched(slack, redis, caplog) as sinks:
        await desk.declined(await desk.asked(reason=REASON), reason=REASON)
        await desk.says("declined", "Declined by", SHOWN)
        assert await sinks.holding(PLANTED) == []
    assert (await Audit(redis.redis).verify()).whole
