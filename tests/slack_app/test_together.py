"""Several processes on one Redis, a Redis that is away, a socket that breaks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.store.connect import Connection, connected
from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from sandbox.slack.server import SlackServer
from tests.slack_app.conftest import Start
from tests.slack_app.reading import answered, heads, is_answer, seen

pytestmark = pytest.mark.soak
"""Several processes and Slack's own waits of whole seconds: too slow and too sensitive to load for every run."""


@pytest.fixture
async def redis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Connection]:
    async with connected(None, tmp_path / "redis") as server:
        monkeypatch.setenv("REDIS_URL", server.url)
        yield server


async def test_of_two_processes_either_answers_and_each_event_once(
    start: Start, slack: SlackServer, control: Control, redis: Connection
) -> None:
    async with start(), start():
        assert slack.sockets.count == 2
        for _ in range(2):
            await control.slash("requester", "incidents", "/aks", "check prod-weu")
        for head in await answered(control, number=2):
            await control.press("requester", head, "show_all_checks")
        for head in heads(control):
            await control.until(lambda ts=head.ts: _shown(control, ts) == 1)  # type: ignore[misc]
    assert len(heads(control)) == 2


async def test_a_worker_answers_what_the_web_process_took_in(
    start: Start, control: Control, redis: Connection, monkeypatch: pytest.MonkeyPatch, slack: SlackServer
) -> None:
    monkeypatch.setenv("AKSBOT_ROLE", "web")
    async with start():
        monkeypatch.setenv("AKSBOT_ROLE", "worker")
        async with start():
            assert slack.sockets.count == 1
            await control.slash("requester", "incidents", "/aks", "check prod-weu")
            assert len(await answered(control)) == 1


async def test_without_its_memory_a_check_is_answered_and_the_rest_is_refused_with_the_reason(
    start: Start, control: Control, redis: Connection
) -> None:
    async with start():
        assert redis.embedded
        await redis.embedded.__aexit__(None, None, None)
        await control.slash("requester", "incidents", "/aks", "check prod-weu")
        await control.until(lambda: any(map(is_answer, heads(control))), 30)
        await control.until(lambda: len(control.thread("incidents", heads(control)[0].ts)) > 1)
        assert "memory (Redis) is away" in seen(heads(control)[0])
        await control.slash("requester", "incidents", "/aks", "clusters")
        assert "cannot reach the bot's memory" in control.ephemerals("requester")[-1].text
    assert len(heads(control)) == 1


@pytest.mark.parametrize("cut", [True, False], ids=["cut", "refreshed"])
async def test_a_lost_websocket_in_the_middle_of_a_check_changes_nothing(
    start: Start, slack: SlackServer, control: Control, arm: ArmServer, cut: bool
) -> None:
    arm.latency_s = 0.3
    async with start():
        await control.slash("requester", "incidents", "/aks", "check prod-weu")
        await control.until(lambda: len(heads(control)) == 1)
        if cut:
            slack.sockets.cut()
        else:
            await slack.sockets.refresh()
        assert len(await answered(control)) == 1
        await control.until(lambda: slack.sockets.count == 1, 30)
        await control.slash("requester", "incidents", "/aks", "help")
        await control.until(lambda: "What I can do" in control.ephemerals("requester")[-1].text)


def _shown(control: Control, ts: str) -> int:
    return sum("All checks" in seen(one) for one in control.thread("incidents", ts))
