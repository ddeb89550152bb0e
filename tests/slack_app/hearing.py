"""A bot that listens to channels, with short turns, and helpers to wait for what it posts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot import settings
from bot.app import Bot, running
from bot.incidents.spans import Spans
from bot.store.connect import Connection
from bot.triage.clusters import FleetNames
from bot.triage.decide import Certainty
from bot.triage.recognise import Recogniser
from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario
from sandbox.slack.control import Control
from sandbox.slack.message import Message
from sandbox.slack.server import SlackServer
from tests.checking import LIBRARY
from tests.slack_app.reading import is_answer, seen

Reads = Callable[..., AbstractAsyncContextManager[Bot]]
FULL_QUOTA = "prod-weu: the upgrade stopped with ErrCode_InsufficientVCPUQuota, we are out of vCPU quota"
QUOTA_CARD = {
    "color": "#d00000",
    "title": "Upgrade of prod-weu failed",
    "text": 'Code="ErrCode_InsufficientVCPUQuota" Message="Insufficient vcpu quota requested 8, remaining 2"',
}


PATIENT = timedelta(seconds=60)
"""For tests without connection loss: generous timeouts, so that connections survive on a busy machine."""
SOON = Spans(turn=timedelta(seconds=1.5), together=timedelta(seconds=0.5), looks_again=(), ping=PATIENT)

ENDED_BY_HAND = replace(SOON, turn=timedelta(minutes=10))
"""For tests of a single turn: it ends with `turns_end` and never earlier, even on a busy machine."""


@pytest.fixture
def reads(slack: SlackServer, arm: ArmServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reads:
    """Starts the bot, optionally with a policy and settings."""

    @asynccontextmanager
    async def started(
        policy: str = "", over_http: bool = False, spans: Spans = SOON, **more: str
    ) -> AsyncIterator[Bot]:
        environment = {**arm.environment("reader"), **slack.environment, "AKSBOT_DATA_DIR": str(tmp_path / "data")}
        if policy:
            file = tmp_path / "policy.yaml"
            file.write_text(policy)
            environment["AKSBOT_POLICY"] = str(file)
        if over_http:
            environment["SLACK_APP_TOKEN"] = ""
        for name, value in {**environment, "AKSBOT_HTTP_PORT": "0", **more}.items():
            monkeypatch.setenv(name, value)
        async with running(settings.load(), host="127.0.0.1", spans=spans) as bot:
            if over_http:
                await slack.connect_http(f"http://127.0.0.1:{bot.site.port}/slack/events")
            yield bot

    return started


async def turns_end(slack: SlackServer, redis: Connection) -> None:
    """Wait until all messages so far are processed, then let their turns expire."""
    await slack.until(lambda: slack.outbox.under_way == 0, 60)
    async for queue in redis.redis.scan_iter(match="*:queues:delayed:*"):
        for job in await redis.redis.zrange(queue, 0, -1):
            await redis.redis.zadd(queue, {job: 0}, xx=True)


def hold(arm: ArmServer, name: str) -> None:
    """Replace Azure's resources from now on."""
    world = Scenario.load(name).world
    arm.world.resources, arm.world.tables, arm.world.events = world.resources, world.tables, world.events


def merely_likely() -> str:
    """A message about prod-weu that is probably, but not certainly, a problem report."""
    recogniser, fleet = Recogniser(LIBRARY), FleetNames(("prod-weu",))
    for runbook in LIBRARY.values():
        for words in runbook.symptoms.words:
            text = f"hm, prod-weu, {words}"
            found = recogniser.recognise(text, fleet)
            if found.certainty is Certainty.LIKELY and found.cluster == "prod-weu":
                return text
    raise AssertionError("nothing is merely likely")


def said_by_bot(control: Control, channel: str = "incidents") -> list[Message]:
    bot = control.team.bot.id
    return [one for one in control.messages(channel) if one.user == bot]


def cards(control: Control, channel: str = "incidents") -> list[Message]:
    """The incident head messages in a channel."""
    return [one for one in said_by_bot(control, channel) if part_of(one) == "card"]


def part_of(message: Message) -> str:
    return str(((message.metadata or {}).get("event_payload") or {}).get("part") or "")


async def until_said(control: Control, part: str, channel: str = "incidents", timeout_s: float = 180) -> Message:
    """Wait for the bot's message that contains this text."""

    def found() -> Message | None:
        return next((one for one in said_by_bot(control, channel) if part in seen(one) or part in one.text), None)

    await control.until(lambda: found() is not None, timeout_s)
    message = found()
    assert message
    return message


async def until_answered(control: Control, channel: str = "incidents") -> Message:
    """Wait for the answer of a check started by an incident."""
    await control.until(lambda: any(map(is_answer, said_by_bot(control, channel))), 60)
    return next(one for one in said_by_bot(control, channel) if is_answer(one))


async def confirmed(control: Control) -> tuple[Message, Message]:
    """Report a full quota; returns the report and the answer of the check that confirmed it."""
    report = control.say("requester", "incidents", FULL_QUOTA)
    await until_said(control, "Confirmed:")
    return report, await until_answered(control)


async def found_over(control: Control, arm: ArmServer, answer: Message) -> None:
    """Make the fleet healthy and check again, so that the incident closes."""
    hold(arm, "healthy-fleet")
    await control.press("approver", answer, "check_again")
    await until_said(control, "this incident is closed")
