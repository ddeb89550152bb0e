"""A worker has picked up a check when Redis stops accepting writes."""

from __future__ import annotations

import asyncio

from bot.checks.reporter import Answer
from bot.checks.shared import Checks
from bot.checks.store.running import RunningChecks
from bot.store.connect import Connection
from tests.checks.people import Listener, SlowCheck, request


async def test_it_is_done_without_the_memory_and_says_so_once(connection: Connection) -> None:
    listener, check = Listener(), SlowCheck(waits=False)
    async with Checks(RunningChecks(connection.redis), check, listener) as checks:
        await connection.redis.config_set("min-replicas-to-write", 1)
        assert await checks.perform(request("anna"), asyncio.Event())
        (told,) = listener.answers("anna")
        assert isinstance(told.what, Answer)
        assert not told.what.durable
        await connection.redis.config_set("min-replicas-to-write", 0)
        assert await checks.perform(request("anna"), asyncio.Event())
    assert len(listener.answers("anna")) == 1
    assert check.began == ["anna"]
