"""Several processes on one Redis, a Redis that is away, a socket that breaks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.store.connect import Connection, connected
from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from sandbox.slack.message import Message
from sandbox.slack.server import SlackServer
from tests.slack_app.conftest import Start
from tests.slack_app.reading import answered, buttons, heads, is_answer, seen

PATIENCE_S = 60.0
"""Generous, as Slack's own waits are whole seconds and a busy machine delays everything else."""


@pytest.fixture
async def redis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Connection]:
    async with connected(None, tmp_path / "redis") as server:
        monkeypatch.setenv("REDIS_URL", server.url)
        yield server


async def test_of_two_processes_either_answers_and_each_event_once(
    start: Start, slack: SlackServer, control: Control, redis: Connection
) -> None:
    async with start(), start():
        assert slack.sockets.count >= 2
        for _ in range(2):
            await control.slash("requester", "incidents", "/aks", "check prod-weu")
        for head in await answered(control, number=2):
            await control.press("requester", head, "show_all_checks")
        for head in heads(control):
            await control.until(lambda ts=head.ts: _shown(control, ts) == 1, PATIENCE_S)  # type: ignore[misc]
    assert len(heads(control)) == 2


async def test_a_worker_answers_what_the_web_process_took_in(
    start: Start, control: Control, redis: Connection, monkeypatch: pytest.MonkeyPatch, slack: SlackServer
) -> None:
    monkeypatch.setenv("AKSBOT_ROLE", "web")
    async with start():
        monkeypatch.setenv("AKSBOT_ROLE", "worker")
        async with start():
            assert slack.sockets.count >= 1
            await control.slash("requester", "incidents", "/aks", "check prod-weu")
            assert len(await answered(control)) == 1


async def test_without_its_memory_a_process_does_by_itself_what_only_reads(
    start: Start, control: Control, redis: Connection
) -> None:
    async with start():
        await _stop_for_good(redis)
        await control.slash("requester", "incidents", "/aks", "check prod-weu")
        await control.until(lambda: any(map(is_answer, heads(control))), PATIENCE_S)
        (head,) = heads(control)
        await control.until(lambda: len(control.thread("incidents", head.ts)) > 1, PATIENCE_S)
        assert "Redis is not reachable: this check" in seen(head)
        await control.slash("requester", "incidents", "/aks", "clusters")
        await control.until(lambda: _told(control, "staging-neu"), PATIENCE_S)
        await control.slash("requester", "incidents", "/aks", "check")
        await control.until(lambda: any("pick_cluster" in buttons(one) for one in _private(control)), PATIENCE_S)
        await control.press("requester", control.thread("incidents", head.ts)[1], "show_steps_0")
        await control.until(lambda: "Redis is not reachable, so" in str(_blocks(control)), PATIENCE_S)
        assert "What it means" in str(_blocks(control))
        asked = control.mention("requester", "incidents", "runbook quota-exceeded")
        await control.until(lambda: len(control.thread("incidents", asked.ts)) > 1, PATIENCE_S)
    assert len([one for one in heads(control) if is_answer(one)]) == 1


async def test_without_its_memory_what_needs_the_kept_answer_is_refused_with_the_reason(
    start: Start, control: Control, redis: Connection
) -> None:
    async with start():
        await control.slash("requester", "incidents", "/aks", "check prod-weu")
        (head,) = await answered(control)
        await _stop_for_good(redis)
        before = len(_private(control))
        await control.press("requester", head, "show_all_checks")
        await control.until(lambda: len(_private(control)) > before, PATIENCE_S)
        assert "Cannot reach the bot's memory" in _private(control)[-1].text
        await control.press("requester", head, "wrong_answer")
        await control.submit_view("requester", {"comment": "the quota is fine"})
        window = control.modal("requester")
        assert window is not None
        assert "Cannot reach the bot's memory" in str(window.blocks)


@pytest.mark.parametrize("cut", [pytest.param(True, marks=pytest.mark.soak), False], ids=["cut", "refreshed"])
async def test_a_lost_websocket_in_the_middle_of_a_check_changes_nothing(
    start: Start, slack: SlackServer, control: Control, arm: ArmServer, cut: bool
) -> None:
    arm.latency_s = 0.3
    async with start():
        await control.slash("requester", "incidents", "/aks", "check prod-weu")
        await control.until(lambda: len(heads(control)) == 1, PATIENCE_S)
        if cut:
            slack.sockets.cut()
        else:
            await slack.sockets.refresh()
        assert len(await answered(control)) == 1
        await control.until(lambda: slack.sockets.count == 2, PATIENCE_S)
        await control.slash("requester", "incidents", "/aks", "help")
        await control.until(lambda: "What I can do" in control.ephemerals("requester")[-1].text, PATIENCE_S)


def _shown(control: Control, ts: str) -> int:
    return sum("All checks" in seen(one) for one in control.thread("incidents", ts))


def _private(control: Control) -> list[Message]:
    return control.ephemerals("requester", "incidents")


def _told(control: Control, words: str) -> bool:
    return any(words in seen(one) for one in _private(control))


def _blocks(control: Control) -> object:
    view = control.modal("requester")
    return view.blocks if view else []


async def _stop_for_good(redis: Connection) -> None:
    assert redis.embedded
    await redis.embedded.__aexit__(None, None, None)
