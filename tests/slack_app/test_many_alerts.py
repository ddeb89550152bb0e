"""More alerts in one request than anybody would send by hand: each is taken in, or the request is refused in words."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from bot.app import Bot
from bot.http.alerts import ALERTMANAGER_PATH, LARGEST
from bot.incidents.alerts import MOST
from bot.store.connect import Connection
from sandbox.slack.control import Control
from tests.slack_app.conftest import Start
from tests.slack_app.hearing import Reads, reads, said_by_bot, until_said
from tests.whole_bot_killed.redis_gate import Halt, RedisGate, gated

__all__ = ["reads"]

SECRET = "a-secret-for-alerts-0123"
TROUBLE = {"summary": "prod-weu is out of vCPU quota: ErrCode_InsufficientVCPUQuota"}


def group(size: int, *last: dict[str, Any]) -> dict[str, Any]:
    """Alerts that are over and say nothing, and the last ones, which may say something."""
    over = [{"status": "resolved", "startsAt": "t", "fingerprint": f"f{number}"} for number in range(size - len(last))]
    return {"version": "4", "alerts": [*over, *last]}


async def send(bot: Bot, body: dict[str, Any]) -> tuple[int, str]:
    url = f"http://127.0.0.1:{bot.site.port}{ALERTMANAGER_PATH}"
    headers = {"Authorization": f"Bearer {SECRET}"}
    async with aiohttp.ClientSession() as session, session.post(url, json=body, headers=headers) as answer:
        return answer.status, await answer.text()


async def queued(redis: Connection) -> list[str]:
    """The jobs of alerts that wait in the queue, each as often as a worker would get it."""
    found = []
    async for stream in redis.redis.scan_iter("streaq:aksbot:queues:*", _type="stream"):
        found += [fields["task_id"] for _, fields in await redis.redis.xrange(stream)]
    return [one for one in found if one.startswith("alert-")]


@pytest.fixture
async def gate(redis: Connection) -> AsyncIterator[RedisGate]:
    async with gated(redis) as opened:
        yield opened


async def test_the_last_of_a_thousand_alerts_in_one_request_is_answered(reads: Reads, control: Control) -> None:
    policy = f"channels:\n  alerts:\n    - channel: {control.team.channel('incidents').id}\n"
    firing = {"status": "firing", "startsAt": "t", "fingerprint": "last", "annotations": TROUBLE}
    async with reads(policy, AKSBOT_ALERTS_TOKEN=SECRET) as bot:
        assert await send(bot, group(1_000, firing)) == (202, "taken in\n")
        await until_said(control, "Confirmed:")


async def test_a_memory_that_goes_away_in_between_has_them_sent_again_and_none_is_there_twice(
    start: Start, redis: Connection, gate: RedisGate, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"AKSBOT_ALERTS_TOKEN": SECRET, "AKSBOT_ROLE": "web", "REDIS_URL": gate.url}.items():
        monkeypatch.setenv(name, value)
    async with start() as bot:
        gate.halt = Halt("FCALL.*publish_task", skip=500)
        status, said = await send(bot, group(1_000))
        assert (status, "send it again" in said) == (503, True)
        assert 500 <= len(await queued(redis)) < 1_000
        gate.reopen()
        assert (await send(bot, group(1_000)))[0] == 202
        jobs = await queued(redis)
    assert len(jobs) == len(set(jobs)) == 1_000


async def test_more_than_are_taken_in_are_refused_in_words_and_none_of_them_is_queued(
    start: Start, redis: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"AKSBOT_ALERTS_TOKEN": SECRET, "AKSBOT_ROLE": "web"}.items():
        monkeypatch.setenv(name, value)
    async with start() as bot:
        status, said = await send(bot, {"alerts": [{}] * (MOST + 1)})
        assert status == 413
        assert f"{MOST + 1} alerts" in said
        assert "max_alerts" in said
        assert await queued(redis) == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"alerts": [{}] * (MOST + 431)}, "2,431 alerts in one request were refused"),
        ({"alerts": [{"annotations": {"summary": "x" * LARGEST}}]}, "it has more than 512 kB"),
    ],
    ids=["too many", "too large"],
)
async def test_the_channel_for_alerts_is_told_once_of_what_was_refused(
    reads: Reads, control: Control, body: dict[str, Any], said: str
) -> None:
    policy = f"channels:\n  alerts:\n    - channel: {control.team.channel('incidents').id}\n      clusters: [prod-*]\n"
    firing = {"status": "firing", "startsAt": "t", "fingerprint": "last", "annotations": TROUBLE}
    async with reads(policy, AKSBOT_ALERTS_TOKEN=SECRET) as bot:
        assert (await send(bot, body))[0] == 413
        told = await until_said(control, said)
        assert "max_alerts" in told.text
        assert (await send(bot, body))[0] == 413
        await send(bot, group(1, firing))
        await until_said(control, "prod-weu is out of vCPU quota")
    assert sum("refused" in one.text for one in said_by_bot(control)) == 1
