"""While Redis is down or hanging, the process still responds to people and says what it cannot do."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

import aiohttp
import pytest

from bot.app import Bot
from bot.store.connect import Connection
from sandbox.slack.control import Control
from sandbox.slack.server import Fault, SlackServer
from tests.slack_app.conftest import Start
from tests.slack_app.reading import answered, seen, text_of
from tests.store.servers import until

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


async def _told_of_the_memory(bot: Bot) -> tuple[int, str]:
    """What a probe is told once the answer of a second ago is not remembered any more."""
    answer = await _get(bot, "/readyz")
    async with asyncio.timeout(PATIENCE_S):
        while "REDIS_URL" not in answer[1]:
            answer = await _get(bot, "/readyz")
    return answer


async def test_however_often_somebody_asks_the_memory_is_written_to_once_a_second(
    start: Start, redis: Connection, slack: SlackServer
) -> None:
    asked = 300
    async with start(over_http=True) as bot:
        slack.faults.append(Fault("error", "auth.test", error="token_revoked"))
        before, calls = await _writes(redis), len(slack.log)
        for number in range(asked):
            await _get(bot, "/readyz" if number % 2 else "/metrics")
        assert await _writes(redis) - before < asked / 3
        assert len(slack.log) - calls < asked / 3


async def _writes(redis: Connection) -> int:
    """Commands SET that the server has carried out."""
    counted = await redis.redis.info("commandstats")
    return int(counted.get("cmdstat_set", {}).get("calls", 0))


async def test_who_listens_stays_in_service_and_says_that_the_memory_is_away(start: Start, redis: Connection) -> None:
    async with start(over_http=True) as bot:
        assert await _get(bot, "/readyz") == (200, "ready\n")
        assert "aksbot_redis_reachable 1.0" in (await _get(bot, "/metrics"))[1]
        with hanging(redis):
            assert (await _told_of_the_memory(bot))[0] == 200
            assert "aksbot_redis_reachable 0.0" in (await _get(bot, "/metrics"))[1]


async def test_a_worker_without_memory_is_not_ready(
    start: Start, redis: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AKSBOT_ROLE", "worker")
    async with start() as bot:
        assert (await _get(bot, "/readyz"))[0] == 200
        with hanging(redis):
            assert (await _told_of_the_memory(bot))[0] == 503


async def test_who_was_told_to_stop_is_not_ready_and_still_answers(start: Start, control: Control) -> None:
    async with start(over_http=True) as bot:
        await bot.stop_accepting(0)
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


async def test_who_leaves_acknowledges_first_what_slack_has_sent(
    start: Start, redis: Connection, control: Control
) -> None:
    with ExitStack() as memory_hangs:
        async with start() as bot:
            memory_hangs.enter_context(hanging(redis))
            typing = asyncio.create_task(control.slash("requester", "incidents", "/aks", "check"))
            await until(partial(_has_heard_a_command, bot))
            asyncio.get_running_loop().call_later(0.5, memory_hangs.close)
        await typing
    assert "failed with the error" not in _ephemerals(control)


async def test_app_home_shows_the_fleet_without_the_memory(start: Start, redis: Connection, control: Control) -> None:
    async with start():
        with hanging(redis):
            control.open_home("requester")
            await control.until(lambda: "prod-weu" in _home(control), PATIENCE_S)
            assert "Open approvals can be neither shown" in _home(control)
            assert "recent checks cannot be shown" in _home(control)


async def test_triage_this_works_without_the_memory(start: Start, redis: Connection, control: Control) -> None:
    async with start():
        alert = control.say("visitor", "incidents", "prod-weu: QuotaExceeded, the upgrade is stuck")
        with hanging(redis):
            await control.shortcut("requester", "triage_this", alert)
            await control.until(lambda: "Check prod-weu" in _ephemerals(control), PATIENCE_S)


async def _has_heard_a_command(bot: Bot) -> bool:
    return bool(bot.metrics.registry.get_sample_value("aksbot_heard_total", {"kind": "command"}))


def _menu(control: Control) -> bool:
    return "prod-weu" in str([one.blocks for one in control.ephemerals("requester")])


def _ephemerals(control: Control) -> str:
    return " ".join(seen(one) for one in control.ephemerals("requester"))


def _home(control: Control) -> str:
    page = control.home("requester")
    return text_of(page.blocks) if page else ""
