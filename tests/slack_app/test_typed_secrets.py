"""A secret typed by a user is never leaked: not to Slack, not Redis, not the log, not another person's App Home."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from bot.store.connect import Connection
from sandbox.slack.control import Control
from sandbox.slack.server import SlackServer
from tests.slack_app.hearing import FULL_QUOTA, Reads, reads, said_by_bot, until_said
from tests.slack_app.reading import seen, text_of
from tests.slack_app.sinks import watched
from tests.slack_app.test_incidents_doors import FIRED, policy, send

__all__ = ["reads"]

PLANTED = "hunter2-Zq9"
TYPED = f"password={PLANTED}"
MUTE = f"mute quota-exceeded prod-weu until 4h {TYPED}"
ALERTS = "a-secret-for-alerts-0123"


async def _slash(control: Control, text: str, part: str) -> None:
    """Typed, and answered with this."""
    await control.slash("requester", "incidents", "/aks", text)
    await control.until(lambda: any(part in one for one in _answers(control)), 60)


def _answers(control: Control) -> list[str]:
    private = control.ephemerals("requester", "incidents")
    return [seen(one) or one.text for one in (*private, *said_by_bot(control))]


async def _mute(control: Control) -> None:
    await _slash(control, MUTE, "is muted until")
    await _slash(control, "mute", "[redacted:password]")


async def _check(control: Control) -> None:
    await _slash(control, f"check {TYPED}", "[redacted:password]")


async def _default(control: Control) -> None:
    await _slash(control, f"default {TYPED}", "[redacted:password]")


async def _watch(control: Control) -> None:
    await _slash(control, f"watch {TYPED}", "[redacted:password]")


async def _explain(control: Control) -> None:
    await _slash(control, f"explain QuotaExceeded {TYPED}", "quota-exceeded")


async def _unknown_word(control: Control) -> None:
    await _slash(control, TYPED, "I do not understand that")


async def _mention(control: Control) -> None:
    control.mention("requester", "incidents", f"check {TYPED}")
    await until_said(control, "[redacted:password]")


async def _mention_in_a_thread(control: Control) -> None:
    begun = control.say("requester", "incidents", "look at this")
    control.mention("requester", "incidents", f"check {TYPED}", begun.ts)
    await until_said(control, "[redacted:password]")


async def _direct(control: Control) -> None:
    direct = control.team.direct(control.team.person("requester").id).id
    control.say("requester", direct, f"check {TYPED}")
    await until_said(control, "[redacted:password]", direct)


async def _message(control: Control) -> None:
    control.say("requester", "incidents", f"{FULL_QUOTA}\n{TYPED}")
    await until_said(control, "Confirmed:")


async def _edited(control: Control) -> None:
    said = control.say("requester", "incidents", "hm")
    control.edit("requester", said, f"{FULL_QUOTA}\n{TYPED}")
    await until_said(control, "Confirmed:")


async def _shortcut(control: Control) -> None:
    said = control.say("requester", "random", f"Code=QuotaExceeded on prod-weu {TYPED}")
    await control.shortcut("requester", "triage_this", said)
    await control.until(lambda: any("It names" in seen(one) for one in control.ephemerals("requester", "random")), 60)


DOORS: list[Callable[[Control], Awaitable[None]]] = [
    *(_mute, _check, _default, _watch, _explain, _unknown_word, _mention, _mention_in_a_thread, _direct),
    *(_message, _edited, _shortcut),
]


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__.strip("_"))
async def test_a_secret_that_is_typed_is_in_no_call_no_key_and_no_log(
    reads: Reads,
    control: Control,
    slack: SlackServer,
    redis: Connection,
    caplog: pytest.LogCaptureFixture,
    door: Callable[[Control], Awaitable[None]],
) -> None:
    async with watched(slack, redis, caplog) as sinks:
        async with reads():
            await door(control)
            control.open_home("approver")
            await control.until(lambda: "Open approvals" in _home(control, "approver"), 60)
        assert await sinks.holding(PLANTED) == []
        assert await sinks.without_an_end() == set()


async def test_a_secret_in_a_file_is_in_no_call_no_key_and_no_log(
    reads: Reads, control: Control, slack: SlackServer, redis: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    async with watched(slack, redis, caplog) as sinks, reads():
        control.share("requester", "incidents", "upgrade.log", f"{FULL_QUOTA}\n{TYPED}\n".encode(), "prod-weu is stuck")
        await until_said(control, "Confirmed:")
        assert await sinks.holding(PLANTED) == []
        assert await sinks.without_an_end() == set()


async def test_a_secret_in_an_alert_is_in_no_call_no_key_and_no_log(
    reads: Reads, control: Control, slack: SlackServer, redis: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    described = FIRED["data"]["essentials"] | {"description": f"{FULL_QUOTA}\n{TYPED}"}
    alert = FIRED | {"data": FIRED["data"] | {"essentials": described}}
    async with (
        watched(slack, redis, caplog) as sinks,
        reads(policy(control), AKSBOT_ALERTS_TOKEN=ALERTS) as bot,
    ):
        assert await send(bot, "azure-monitor", alert, ALERTS) == 202
        await until_said(control, "Confirmed:")
        assert await sinks.holding(PLANTED) == []
        assert await sinks.without_an_end() == set()


def _home(control: Control, user: str) -> str:
    view = control.home(user)
    return text_of(view.blocks) if view else ""
