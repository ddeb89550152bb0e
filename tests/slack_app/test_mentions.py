"""Mentions: by whom, and said how often."""

from __future__ import annotations

import pytest

from sandbox.slack.control import Control
from sandbox.slack.server import Fault, SlackServer
from tests.slack_app.conftest import Start
from tests.slack_app.reading import seen

SLOW_S = 4
"""Longer than Slack waits for an acknowledgement."""


async def test_an_error_on_the_line_below_is_explained(start: Start, control: Control) -> None:
    async with start():
        asked = control.mention("requester", "incidents", "explain\nCode=QuotaExceeded: no cores are left")
        await control.until(lambda: "Recognised, not verified" in _thread(control, asked.ts), 30)


async def test_an_app_that_names_the_bot_is_nobody_and_not_answered(start: Start, control: Control) -> None:
    async with start():
        alert = control.say_as_app("Grafana", "incidents", f"<@{control.team.bot.id}> check prod-weu")
        asked = control.mention("requester", "incidents", "help")
        await control.until(lambda: "What I can do" in _thread(control, asked.ts), 30)
    assert control.thread("incidents", alert.ts) == [alert]


async def test_a_refusal_that_slack_is_slow_to_take_is_said_once(
    start: Start, slack: SlackServer, control: Control
) -> None:
    async with start(over_http=True):
        slack.faults.append(Fault("429", "chat.postEphemeral", times=1, retry_after_s=SLOW_S))
        asked = control.mention("guest", "contractors", "check prod-weu")
        await control.until(lambda: control.ephemerals("guest"), 30)
        assert "you are a guest" in seen(control.ephemerals("guest")[0])
    assert {one.attempt for one in slack.site.outbox.attempts if one.kind == "events_api"} == {0}
    assert len(control.ephemerals("guest")) == 1
    assert control.messages("contractors") == [asked]


@pytest.mark.parametrize("method", ["chat.postMessage", "chat.postEphemeral"])
async def test_what_slack_takes_late_is_said_all_the_same(
    start: Start, slack: SlackServer, control: Control, method: str
) -> None:
    """A command that makes no sense, and one that somebody may not give."""
    async with start():
        slack.faults.append(Fault("429", method, times=2))
        asked = control.mention("requester", "incidents", "check a b c d")
        control.mention("guest", "contractors", "check prod-weu")
        await control.until(lambda: "there are 4 words" in _thread(control, asked.ts), 30)
        await control.until(lambda: control.ephemerals("guest"), 30)


async def test_a_refusal_that_cannot_be_whispered_stays_private(
    start: Start, slack: SlackServer, control: Control
) -> None:
    async with start():
        slack.faults.append(Fault("error", "chat.postEphemeral", error="user_not_in_channel"))
        asked = control.mention("guest", "contractors", "check prod-weu")
        direct = control.direct("guest")
        await control.until(lambda: any("you are a guest" in seen(one) for one in direct.messages), 30)
    assert control.thread("contractors", asked.ts) == [asked]


def _thread(control: Control, ts: str) -> str:
    return " ".join(map(seen, control.thread("incidents", ts)))
