"""While Redis rejects writes, users are told immediately, and requests that need no storage still work."""

from __future__ import annotations

import asyncio
from pathlib import Path

import aiohttp

from bot.app import Bot
from bot.store.connect import Connection
from sandbox.slack.control import Control
from tests.slack_app.conftest import Start
from tests.slack_app.reading import seen
from tests.store.full_disk import fill, small_disk

PATIENCE_S = 60


async def _get(bot: Bot, path: str) -> tuple[int, str]:
    url = f"http://127.0.0.1:{bot.site.port}{path}"
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return answer.status, await answer.text()


async def test_a_full_server_is_not_called_ready(start: Start, redis: Connection) -> None:
    async with start(over_http=True) as bot:
        assert await _get(bot, "/readyz") == (200, "ready\n")
        await redis.redis.config_set("maxmemory", 1)
        async with asyncio.timeout(PATIENCE_S):  # what the server said is remembered for a second
            while (answer := await _get(bot, "/readyz")) == (200, "ready\n"):
                pass
        status, said = answer
        assert (status, said.partition(":")[0]) == (200, "degraded")
        assert "maxmemory is reached" in said
        metrics = (await _get(bot, "/metrics"))[1]
        assert "aksbot_redis_writable 0.0" in metrics
        assert "aksbot_redis_reachable 1.0" in metrics


async def test_a_check_is_done_while_the_disk_is_full(start: Start, control: Control, tmp_path: Path) -> None:
    with small_disk(tmp_path / "data") as disk:
        async with start(over_http=True) as bot:
            fill(disk)
            await control.slash("requester", "incidents", "/aks", "check prod-weu")
            await control.until(lambda: "not have survived a restart" in _said(control), PATIENCE_S)
            assert "its disk is full" in (await _get(bot, "/readyz"))[1]
            assert "Error" not in _said(control)


def _said(control: Control) -> str:
    return " ".join(seen(one) for one in [*control.messages("incidents"), *control.ephemerals("requester")])
