"""Servers that die at any moment, with two processes and one channel: everyone is answered exactly once."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from datetime import timedelta

import pytest
from redis.exceptions import RedisError

from bot.address import Address
from bot.checks.reporter import Answer
from bot.checks.request import CheckRequest
from bot.report.events import Event, Report, Started
from bot.report.progress import Progress
from bot.store.away import StoreAway
from bot.store.connect import Connection
from bot.store.state import Posting, State
from handlers.problem import Problem
from tests.bot.diagnoses import TARGET, found
from tests.checks.people import request, working
from tests.store.servers import kill_server, until, until_it_is_back


class Channel:
    """The messages in Slack, which survive the death of our server."""

    def __init__(self) -> None:
        self.answers: list[str] = []


class CarefulReporter:
    """Posts once: it says before that it will, records after that it did, and looks when it is not sure."""

    def __init__(self, channel: Channel, state: State) -> None:
        self._channel, self._state = channel, state

    async def started(self, request: CheckRequest, running_for: timedelta, *, durable: bool) -> None:
        """Said where it is replaced later."""

    async def progress(self, requests: Sequence[CheckRequest], progress: Progress) -> None:
        """The same."""

    async def done(self, request: CheckRequest, answer: Answer) -> None:
        await self._post(request)

    async def failed(self, request: CheckRequest, problem: Problem) -> None:
        await self._post(request)

    async def gave_up(self, request: CheckRequest, problem: Problem) -> None:
        await self._post(request)

    async def _post(self, request: CheckRequest) -> None:
        job = request.id
        try:
            known: Address | Posting = await self._state.posting(job, "answer", request.asked_at)
        except StoreAway:
            known = Posting.UNSURE
        if isinstance(known, Address) or (known is Posting.UNSURE and job in self._channel.answers):
            return
        self._channel.answers.append(job)
        try:
            await self._state.record_posted(job, "answer", Address(channel="C1", message_ts="1.2"))
        except StoreAway:
            return  # whoever comes next looks


async def _check(request: CheckRequest) -> AsyncGenerator[Event, None]:
    yield Started(TARGET, 1, 1)
    for _ in range(20):
        await asyncio.sleep(0)
    yield Report(found(), 1.0, 1)


@pytest.mark.parametrize("seed", range(3))
async def test_whatever_dies_everyone_is_answered_once(connection: Connection, seed: int) -> None:
    await _walk(connection, seed)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 130))
async def test_whatever_dies_everyone_is_answered_once_at_length(connection: Connection, seed: int) -> None:
    await _walk(connection, seed)


async def _walk(connection: Connection, seed: int) -> None:
    dice = random.Random(seed)
    channel = Channel()
    reporter = CarefulReporter(channel, State(connection.redis))
    names = [f"person-{number}" for number in range(12)]
    async with (
        working(connection, _check, reporter) as one,
        working(connection, _check, reporter) as other,
    ):
        for name in names:
            asked = request(name, dice.choice(["prod-weu", "staging-neu"]), fresh=dice.random() < 0.5)
            await dice.choice([one, other]).check(asked, patience_s=10)
            for _ in range(dice.randrange(60)):
                await asyncio.sleep(0)
            if dice.random() < 0.35:
                await _crash(connection, loses_data=dice.random() < 0.4)

        async def all_answered() -> bool:
            return set(channel.answers) >= set(names) and not one.checks.busy and not other.checks.busy

        await until(all_answered, timeout_s=40)
    assert {name: times for name, times in Counter(channel.answers).items() if times > 1} == {}


async def _crash(connection: Connection, *, loses_data: bool) -> None:
    if loses_data:
        try:
            await connection.redis.flushall()
            await connection.redis.function_flush()
        except RedisError:
            return
    await until_it_is_back(connection, kill_server(connection))
