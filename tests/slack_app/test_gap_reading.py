"""Messages that cannot be read after a lost connection block nothing else, and are reported."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.incidents.store import Incidents
from bot.incidents.turns import Turns
from bot.metrics import Metrics
from bot.policy.channels import Channels
from bot.slack.api.calls import Body, Calls
from bot.slack.api.history import History
from bot.slack.api.messages import SlackMessages
from bot.slack.api.poster import Poster
from bot.slack.api.sockets import Gap
from bot.slack.gaps.reader import MESSAGE_TRIES, Installed, Reading, Sources
from bot.slack.inbound.message_reader import Me
from bot.store.away import StoreAway
from bot.store.connect import Connection
from bot.store.state import State
from sandbox.slack.control import Control
from sandbox.slack.server import Fault, SlackServer
from sandbox.slack.workspace import Channel
from tests.slack_app.hearing import said_by_bot

POISON, GOOD = "a message that nobody can take in", "prod-weu is down"


class Heard:
    """Takes in everything but the one message."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.poisoned: Callable[[], bool] = lambda: False

    async def __call__(self, body: Body) -> bool:
        text = str(body["event"]["text"])
        if text == POISON:
            return self.poisoned()
        self.texts.append(text)
        return True


async def _takes_writes() -> None:
    """As a memory does that is there."""


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
async def sources(slack: SlackServer, redis: Connection, heard: Heard) -> AsyncIterator[Sources]:
    metrics = Metrics()
    async with aiohttp.ClientSession() as session:
        client = AsyncWebClient(slack.bot_token, base_url=slack.url, session=session, retry_handlers=[])
        calls = Calls(client, session, metrics)
        bot = slack.control.team.bot

        async def installed() -> Installed:
            return Installed(slack.control.team.id, Me(bot.id, "", ""))

        yield Sources(
            History(calls),
            Incidents(redis.redis),
            Turns(redis.redis),
            Poster(SlackMessages(calls), State(redis.redis)),
            Channels(),
            installed,
            heard,
            metrics,
            _takes_writes,
        )


def reading(sources: Sources) -> Reading:
    now = time.time()
    return Reading(Gap(now - 60, now + 60), sources)


def unread(sources: Sources, why: str) -> float:
    return sources.metrics.registry.get_sample_value("aksbot_unread_total", {"why": why}) or 0.0


def raises() -> bool:
    raise KeyError("odd")


@pytest.mark.parametrize("refuses", [lambda: False, raises], ids=["refused", "raises"])
async def test_a_message_that_is_refused_again_and_again_holds_up_no_other_and_is_named(
    sources: Sources, heard: Heard, control: Control, refuses: Callable[[], bool]
) -> None:
    heard.poisoned = refuses
    for channel in ("incidents", "platform-on-call"):
        control.say("requester", channel, POISON)
        control.say("requester", channel, GOOD)
    one = reading(sources)
    for _ in range(MESSAGE_TRIES - 1):
        with pytest.raises(StoreAway):
            await one.go()
        assert heard.texts.count(GOOD) >= 2
    await one.go()
    assert one.left == []
    for channel in ("incidents", "platform-on-call"):
        assert ["could not process a message" in said.text for said in said_by_bot(control, channel)] == [True]
    assert unread(sources, "message") == 2


async def test_while_the_memory_takes_no_writes_no_message_is_given_up(
    sources: Sources, heard: Heard, control: Control
) -> None:
    async def away() -> None:
        raise StoreAway("its server is full")

    control.say("requester", "incidents", POISON)
    one = reading(replace(sources, writable=away))
    for _ in range(MESSAGE_TRIES + 2):
        with pytest.raises(StoreAway):
            await one.go()
    assert said_by_bot(control) == []


async def test_a_channel_that_cannot_be_read_yet_holds_up_no_other(
    sources: Sources, heard: Heard, control: Control, slack: SlackServer
) -> None:
    control.say("requester", "platform-on-call", GOOD)
    control.say("requester", "incidents", GOOD)
    slack.faults.append(Fault("500", "conversations.history", times=2))
    one = reading(sources)
    with pytest.raises(Exception, match=r"conversations\.history"):
        await one.go()
    assert (len(one.left), heard.texts) == (1, [GOOD])
    await one.go()
    assert heard.texts == [GOOD, GOOD]


async def test_that_slack_lets_nobody_read_is_no_silence(
    sources: Sources, slack: SlackServer, caplog: pytest.LogCaptureFixture
) -> None:
    slack.faults.append(Fault("error", "conversations.history", error="missing_scope"))
    await reading(sources).go()
    assert unread(sources, "refused") >= 2
    assert any("missing_scope" in one.getMessage() for one in caplog.records if one.levelno == logging.WARNING)


async def test_of_very_many_messages_it_is_said_which_were_not_read(
    sources: Sources, heard: Heard, control: Control
) -> None:
    for number in range(620):
        control.say_as_app("monitor", "incidents", f"message {number}")
    await reading(sources).go()
    assert len(heard.texts) == 600
    assert ["I have not read what was written here before" in one.text for one in said_by_bot(control)] == [True]


async def test_channels_that_are_too_many_are_named(sources: Sources, control: Control) -> None:
    team = control.team
    team.channels.extend(Channel(f"more-{n}", [team.bot.id], id=f"C0MORE{n:04}") for n in range(101))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(2):  # the pace of a hundred takes minutes
            await reading(sources).go()
    assert unread(sources, "channels") == 1
