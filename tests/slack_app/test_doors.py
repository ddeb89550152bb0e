from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import aiohttp
import pytest

from bot import settings
from bot.app import Bot, running
from handlers.problem import Exit, Problem
from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from sandbox.slack.http_road import signed_headers
from sandbox.slack.server import Fault, SlackServer
from tests.slack_app.conftest import Start
from tests.slack_app.reading import answered, heads, is_answer, seen
from tests.store.servers import python

SERVE = ("-c", "from bot.cli.main import main; main()", "serve")
FORM = "application/x-www-form-urlencoded"


async def test_in_socket_mode_nothing_is_taken_over_http(bot: Bot, slack: SlackServer) -> None:
    body = b"command=/aks"
    headers = signed_headers(slack.signing_secret, body, content_type=FORM)
    async with aiohttp.ClientSession() as session:
        url = f"http://127.0.0.1:{bot.site.port}/slack/events"
        async with session.post(url, data=body, headers=headers) as answer:
            assert answer.status == 404


async def test_health_readiness_and_metrics_are_served(bot: Bot, control: Control) -> None:
    await control.slash("requester", "incidents", "/aks", "check prod-weu")
    await answered(control)
    async with aiohttp.ClientSession(f"http://127.0.0.1:{bot.site.port}") as session:
        for path, part in (
            ("/healthz", "ok"),
            ("/readyz", "ready"),
            ("/metrics", 'aksbot_heard_total{kind="command"} 1'),
        ):
            async with session.get(path) as answer:
                assert answer.status == 200
                assert part in await answer.text()


async def test_with_a_port_of_their_own_they_are_not_where_slack_comes_in(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AKSBOT_OPS_PORT", "0")
    async with start(over_http=True) as bot, aiohttp.ClientSession() as session:
        for path in ("/healthz", "/readyz", "/metrics"):
            for port, status in ((bot.site.port, 404), (bot.site.ops_port, 200)):
                async with session.get(f"http://127.0.0.1:{port}{path}") as answer:
                    assert answer.status == status


async def test_a_token_that_slack_refuses_is_said_at_the_start(start: Start, slack: SlackServer) -> None:
    slack.faults.append(Fault("error", "auth.test", error="invalid_auth"))
    with pytest.raises(Problem, match="SLACK_BOT_TOKEN"):
        async with start():
            pass


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({}, "SLACK_BOT_TOKEN"),
        ({"SLACK_BOT_TOKEN": "xoxb-1"}, "SLACK_APP_TOKEN"),
        ({"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1", "AKSBOT_ROLE": "web"}, "REDIS_URL"),
    ],
)
async def test_what_is_not_set_is_named(
    variables: dict[str, str], named: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in {**variables, "AKSBOT_DATA_DIR": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(Problem) as refused:
        async with running(settings.load()):
            pass
    assert named in str(refused.value)
    assert refused.value.code is Exit.USAGE


def test_a_token_in_the_wrong_place_is_refused_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xapp-1-secret")
    with pytest.raises(Problem) as refused:
        settings.load()
    assert "SLACK_BOT_TOKEN" in str(refused.value)
    assert "secret" not in str(refused.value)


async def test_sigterm_lets_a_check_end(slack: SlackServer, arm: ArmServer, control: Control, tmp_path: Path) -> None:
    arm.latency_s = 0.3
    async with python(*SERVE, **_environment(slack, arm, tmp_path)) as process:
        await slack.until(lambda: slack.sockets.count == 2, 60)
        await control.slash("requester", "incidents", "/aks", "check prod-weu")
        await control.until(lambda: len(heads(control)) == 1)
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 40) == 0
    assert len(await answered(control)) == 1


@pytest.mark.parametrize("answering", [False, True], ids=["checking", "answering"])
async def test_a_killed_bot_answers_once_when_it_is_back(
    start: Start, slack: SlackServer, arm: ArmServer, control: Control, tmp_path: Path, answering: bool
) -> None:
    arm.latency_s = 0.3
    async with python(*SERVE, **_environment(slack, arm, tmp_path)) as process:
        await slack.until(lambda: slack.sockets.count == 2, 60)
        await control.slash("requester", "incidents", "/aks", "check prod-weu")
        await control.until(lambda: any(is_answer(one) or not answering for one in heads(control)), 30)
        process.kill()
        await process.wait()
    async with start():
        (head,) = await answered(control)
        await control.until(lambda: any("What to do" in seen(one) for one in control.thread("incidents", head.ts)))
    thread = [seen(one) for one in control.thread("incidents", head.ts)]
    assert len(thread) == len(set(thread))


def _environment(slack: SlackServer, arm: ArmServer, tmp_path: Path) -> dict[str, str]:
    own = {"AKSBOT_HTTP_PORT": "0", "AKSBOT_DATA_DIR": str(tmp_path / "data")}
    return {**arm.environment("reader"), **slack.environment, **own}
