"""While the memory (Redis) is away or hangs, the process is still there for people, and says what it cannot do."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp
import pytest

from bot.app import Bot
from bot.store.connect import Connection
from sandbox.slack.control import Control
from tests.slack_app.conftest import Start
from tests.slack_app.reading import answered, seen, text_of

PATIENCE_S = 60


@contextmanager
def hanging(redis: Connection) -> Iterator[None]:
    """A server that takes connections and never answers."""
    assert redis.embedded is not None
    pid = redis.embedded.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


async def _get(bot: Bot, path: str) -> tuple[int, str]:
    url = f"http://127.0.0.1:{bot.site.port}{path}"
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return answer.status, await answer.text()


async def test_who_listens_stays_in_service_and_says_that_the_memory_is_away(start: Start, redis: Connection) -> None:
    async with start(over_http=True) as bot:
        assert await _get(bot, "/readyz") == (200, "ready\n")
        assert "aksbot_memory_reachable 1.0" in (await _get(bot, "/metrics"))[1]
        with hanging(redis):
            status, said = await _get(bot, "/readyz")
            assert status == 200
            assert "REDIS_URL" in said
            assert "aksbot_memory_reachable 0.0" in (await _get(bot, "/metrics"))[1]


async def test_a_worker_without_memory_is_not_ready(
    start: Start, redis: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AKSBOT_ROLE", "worker")
    async with start() as bot:
        assert (await _get(bot, "/readyz"))[0] == 200
        with hanging(redis):
            status, said = await _get(bot, "/readyz")
        assert status == 503
        assert "REDIS_URL" in said


async def test_who_was_told_to_stop_is_not_ready_and_still_answers(start: Start, control: Control) -> None:
    async with start(over_http=True) as bot:
        await bot.say_farewell(0)
        assert (await _get(bot, "/readyz"))[0] == 503
        assert (await _get(bot, "/healthz"))[0] == 200
        await control.slash("requester", "incidents", "/aks", "check prod-weu")
        assert len(await answered(control)) == 1


async def test_slack_has_its_acknowledgement_in_time_from_a_memory_that_hangs(
    start: Start, redis: Connection, control: Control
) -> None:
    async with start(over_http=True):
        with hanging(redis):
            began = asyncio.get_running_loop().time()
            await control.slash("requester", "incidents", "/aks", "check")
            assert asyncio.get_running_loop().time() - began < 3
            await control.until(lambda: _menu(control), PATIENCE_S)


async def test_app_home_shows_the_fleet_without_the_memory(start: Start, redis: Connection, control: Control) -> None:
    async with start():
        with hanging(redis):
            control.open_home("requester")
            await control.until(lambda: "prod-weu" in _home(control), PATIENCE_S)
            assert "Open approvals cannot be shown" in _home(control)
            assert "recent checks cannot be shown" in _home(control)


async def test_triage_this_works_without_the_memory(start: Start, redis: Connection, control: Control) -> None:
    async with start():
        alert = control.say("visitor", "incidents", "prod-weu: QuotaExceeded, the upgrade is stuck")
        with hanging(redis):
            await control.shortcut("requester", "triage_this", alert)
            await control.until(lambda: "Check prod-weu" in _ephemerals(control), PATIENCE_S)


def _menu(control: Control) -> bool:
    return "prod-weu" in str([one.blocks for one in control.ephemerals("requester")])


def _ephemerals(control: Control) -> str:
    return " ".join(seen(one) for one in control.ephemerals("requester"))


def _home(control: Control) -> str:
    page = control.home("requester")
    return text_of(page.blocks) if page else ""
