"""Lost connections to Slack: messages sent meanwhile are answered once, ones that are too old reported as unread."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import aiohttp
import pytest

from bot.app import Bot
from bot.store import keys
from bot.store.connect import Connection
from bot.store.gaps import Gaps
from sandbox.slack.cast import on_call_workspace
from sandbox.slack.clock import RealClock
from sandbox.slack.control import Control
from sandbox.slack.message import Message
from sandbox.slack.server import SlackServer
from tests.slack_app.conftest import SHIPPED
from tests.slack_app.hearing import (
    FULL_QUOTA,
    SOON,
    Reads,
    cards,
    confirmed,
    reads,
    said_by_bot,
    until_answered,
    until_said,
)
from tests.slack_app.reading import heads, is_answer, seen
from tests.store.servers import until

__all__ = ["reads"]

PATIENCE_S = 50.0
"""Shorter than the minute after which Slack retries."""
UNREAD = "I have not read what was written here before"


AT_ONCE = replace(SOON, ping=timedelta(seconds=2))


class Movable(RealClock):
    """The machine's time, but for a difference."""

    def __init__(self) -> None:
        self.minutes_ago = 0.0

    def now(self) -> float:
        return super().now() - 60 * self.minutes_ago


@pytest.fixture
def clock() -> Movable:
    return Movable()


@pytest.fixture
async def slack(clock: Movable) -> AsyncIterator[SlackServer]:
    async with SlackServer(on_call_workspace(), manifest=SHIPPED, clock=clock) as server:
        yield server


async def test_what_was_said_while_no_process_lived_is_answered_once(
    reads: Reads, control: Control, redis: Connection
) -> None:
    async with reads():
        await _connected(redis)
    control.say("requester", "incidents", FULL_QUOTA)
    control.mention("approver", "platform-on-call", "check staging-neu")
    async with reads():
        await until_said(control, "Confirmed:", timeout_s=PATIENCE_S)
        await control.until(lambda: len(_answers(control, "platform-on-call")) == 1, PATIENCE_S)
        await _caught_up(redis)
    assert len(cards(control)) == 1
    assert len(_answers(control, "platform-on-call")) == 1
    assert UNREAD not in _all(control)


async def test_what_was_heard_before_is_not_answered_again(
    reads: Reads, control: Control, redis: Connection, slack: SlackServer
) -> None:
    async with reads():
        await _connected(redis)
        began = time.time()
        await confirmed(control)
        await slack.until(lambda: slack.outbox.under_way == 0, PATIENCE_S)
    said = len(said_by_bot(control))
    # As if the process had died before it could write down that it was connected.
    await redis.redis.set(keys.CONNECTED, f"{began - 1:.3f}")
    async with reads():
        await _caught_up(redis)
    assert len(said_by_bot(control)) == said


async def test_a_reply_in_the_thread_of_an_open_incident_is_read(
    reads: Reads, control: Control, redis: Connection
) -> None:
    async with reads():
        await _connected(redis)
        report, _ = await confirmed(control)
    control.mention("approver", "incidents", "runbook quota-exceeded", thread_ts=report.ts)
    before = len(control.thread("incidents", report.ts))
    async with reads():
        await control.until(lambda: len(control.thread("incidents", report.ts)) > before, PATIENCE_S)


async def test_what_is_older_than_ten_minutes_is_said_to_be_unread(
    reads: Reads, control: Control, redis: Connection, clock: Movable
) -> None:
    await Gaps(redis.redis).connected(time.time() - timedelta(minutes=31).total_seconds())
    clock.minutes_ago = 25
    control.mention("approver", "incidents", "check staging-neu")
    clock.minutes_ago = 5
    control.say("requester", "platform-on-call", FULL_QUOTA)
    clock.minutes_ago = 0
    async with reads():
        unread = await until_said(control, UNREAD, timeout_s=PATIENCE_S)
        await until_answered(control, "platform-on-call")
        await _caught_up(redis)
    assert "I was not connected to Slack from" in seen(unread) or unread.text
    assert [UNREAD in (one.text or seen(one)) for one in said_by_bot(control)] == [True]
    assert UNREAD not in " ".join(one.text for one in said_by_bot(control, "platform-on-call"))


async def test_a_mention_that_was_answered_is_not_called_unread(
    reads: Reads, control: Control, redis: Connection, clock: Movable
) -> None:
    async with reads():
        await _connected(redis)
        clock.minutes_ago = 25
        control.mention("approver", "incidents", "check staging-neu")
        clock.minutes_ago = 0
        await control.until(lambda: len(_answers(control, "incidents")) == 1, PATIENCE_S)
    # As if another process, or another connection, had answered it while this one was not connected.
    await redis.redis.set(keys.CONNECTED, f"{time.time() - timedelta(minutes=31).total_seconds():.3f}")
    async with reads():
        await _caught_up(redis)
    assert UNREAD not in " ".join(one.text for one in said_by_bot(control))


async def test_nothing_is_read_where_slack_replaces_one_connection_and_the_other_stands(
    reads: Reads, slack: SlackServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "bot.slack.api.sockets")
    async with reads():
        await slack.until(lambda: slack.sockets.count == 2, PATIENCE_S)
        await slack.sockets.refresh(1)

        async def replaced() -> bool:
            return any("was replaced" in one.getMessage() for one in caplog.records)

        await until(replaced, PATIENCE_S)
    assert [one.getMessage() for one in caplog.records if "was replaced" in one.getMessage()] == [
        "a connection to Slack was replaced, as Slack has asked"
    ]
    assert not any(call.method == "conversations.history" for call in slack.log)


async def test_nothing_is_said_of_a_gap_in_which_nothing_was_written(
    reads: Reads, control: Control, redis: Connection
) -> None:
    await Gaps(redis.redis).connected(time.time() - timedelta(minutes=31).total_seconds())
    async with reads():
        await _caught_up(redis)
    assert said_by_bot(control) == []


@pytest.mark.parametrize("lost", [1, 2])
async def test_what_is_said_to_connections_that_have_gone_silent_is_answered_once(
    reads: Reads, control: Control, slack: SlackServer, lost: int
) -> None:
    async with reads(spans=AT_ONCE) as bot:
        await slack.until(lambda: slack.sockets.count == 2, PATIENCE_S)
        opened = slack.sockets.opened
        slack.sockets.silence(lost)
        for channel in ("incidents", "platform-on-call"):
            control.mention("requester", channel, "check prod-weu")
        await slack.until(lambda: slack.sockets.opened >= opened + lost, PATIENCE_S)
        for channel in ("incidents", "platform-on-call"):
            await control.until(lambda name=channel: len(_answers(control, name)) == 1, PATIENCE_S)  # type: ignore[misc]
        await slack.until(lambda: slack.outbox.under_way == slack.outbox.pausing, PATIENCE_S)
        assert (await _readyz(bot))[0] == 200
    assert [len(_answers(control, one)) for one in ("incidents", "platform-on-call")] == [1, 1]


async def test_with_one_of_two_connections_it_is_degraded_and_with_none_not_ready(
    reads: Reads, slack: SlackServer
) -> None:
    async with reads(spans=AT_ONCE) as bot:
        await slack.until(lambda: slack.sockets.count == 2, PATIENCE_S)
        assert await _readyz(bot) == (200, "ready\n")
        slack.sockets.closed_to_new = True
        slack.sockets.silence(1)
        await slack.until(lambda: slack.sockets.turned_away > 0, PATIENCE_S)
        assert await _readyz(bot) == (200, "degraded: 1 of 2 connections to Slack (Socket Mode) are up\n")
        slack.sockets.silence()
        await slack.until(lambda: slack.sockets.turned_away > 2, PATIENCE_S)
        assert await _readyz(bot) == (503, "the connection to Slack (Socket Mode) is down\n")
        slack.sockets.closed_to_new = False
        await slack.until(lambda: slack.sockets.count == 2, PATIENCE_S)


def _answers(control: Control, channel: str) -> list[Message]:
    return [one for one in said_by_bot(control, channel) if is_answer(one)]


def _all(control: Control) -> str:
    return " ".join(one.text for name in ("incidents", "platform-on-call") for one in heads(control, name))


async def _connected(redis: Connection) -> None:
    """Wait until it is written down that there is a connection."""
    await _set(redis, keys.CONNECTED)


async def _caught_up(redis: Connection) -> None:
    await _set(redis, keys.CAUGHT_UP)


async def _set(redis: Connection, key: str) -> None:
    async def there() -> bool:
        return bool(await redis.redis.exists(key))

    await until(there, PATIENCE_S)


async def _readyz(bot: Bot) -> tuple[int, str]:
    url = f"http://127.0.0.1:{bot.site.port}/readyz"
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return answer.status, await answer.text()
