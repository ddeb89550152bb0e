"""With secrets in every body, tag, error and annotation, and in a file that somebody shares, the whole bot answers and
repairs; and none of them stands in Slack, in Redis, in the audit, in the metrics or in the log."""

from __future__ import annotations

import json
import logging
from typing import Any

import aiohttp
import pytest

from bot.app import Bot
from bot.audit.store import Audit
from bot.store.connect import Connection
from sandbox.scenario import Scenario
from sandbox.slack.control import Control
from tests.chaos.secrets import TEXTS
from tests.chaos.test_secrets import leaked, planted, planted_inside
from tests.slack_app.fixes.steps import CHANNEL, Desk, ended

SHARED = "upgrade.log"
ERROR = 'Code="ErrCode_InsufficientVCPUQuota" Message="Insufficient vcpu quota requested 8, remaining 2"\n'


@pytest.fixture
def staged(scenario: str) -> Scenario:
    loaded = Scenario.load(scenario)
    planted_inside(planted(loaded.world, in_errors=False))
    return loaded


async def test_no_secret_comes_out_of_the_whole_bot(
    bot: Bot, desk: Desk, control: Control, redis: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.INFO, "coredis")
    asked = await desk.asked(reason="the pool cannot scale")
    await control.press("approver", asked, "fix_approve")
    await ended(redis)
    control.share("requester", CHANNEL, SHARED, "\n".join((ERROR, *TEXTS)).encode(), f"what about {desk.cluster}?")
    await desk.says("fixed", "HEALTHY in what was asked")
    records = [record.body async for record in Audit(redis.redis).records()]
    places = {
        "slack": _said(control),
        "redis": await _kept(redis),
        "audit": json.dumps(records),
        "metrics": await _metrics(bot),
        "log": caplog.text,
    }
    assert all(places.values())
    assert leaked(places) == set()


def _said(control: Control) -> str:
    """Every message of the bot, whoever sees it, what it shows in windows and at home, and its files."""
    bot = control.team.bot.id
    messages = [one for channel in control.team.channels for one in channel.messages if one.user == bot]
    files = [file.content.decode("utf-8", "replace") for one in messages for file in one.files]
    windows = [control.modal("requester"), control.modal("approver"), control.home("requester")]
    return "\n".join([*(str(one) for one in (*messages, *windows)), *files])


async def _metrics(bot: Bot) -> str:
    async with (
        aiohttp.ClientSession(f"http://127.0.0.1:{bot.site.port}") as session,
        session.get("/metrics") as answer,
    ):
        return await answer.text()


async def _kept(redis: Connection) -> str:
    """Every key with its value, of whatever type."""
    client: Any = redis.redis
    said = [f"{key} {await _value(client, key)}" async for key in client.scan_iter()]
    assert said
    return "\n".join(said)


async def _value(client: Any, key: Any) -> object:
    kind = await client.type(key)
    match kind.decode() if isinstance(kind, bytes) else kind:
        case "string":
            return await client.get(key)
        case "hash":
            return await client.hgetall(key)
        case "list":
            return await client.lrange(key, 0, -1)
        case "set":
            return await client.smembers(key)
        case "zset":
            return await client.zrange(key, 0, -1)
        case _:
            return await client.xrange(key)
