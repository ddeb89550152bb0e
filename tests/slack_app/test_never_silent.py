"""Whatever goes wrong, every request gets an answer, in a form that Slack accepts."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from bot.app import Bot
from bot.store.connect import Connection, connected
from sandbox.arm.faults import Fault as AzureFault
from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario
from sandbox.slack import posting
from sandbox.slack.control import Control
from sandbox.slack.message import Message
from sandbox.slack.server import Fault, SlackServer
from tests.checking import azure
from tests.slack_app.conftest import SCENARIO, Start
from tests.slack_app.reading import answered, heads, is_answer, seen
from tests.slack_app.serve_process import PATIENCE_S, Stage, all_told, complain_at_length, crowd, said_once
from tests.store.servers import kill_server, until_it_is_back

CAUSES = 200
LONG = 40_000

POST, UPDATE = "chat.postMessage", "chat.update"
TROUBLE = {(POST, "html"), (UPDATE, "500")}
"""The cases for every run; the soak has all."""
UPLOAD = ("files.getUploadURLExternal", "upload", "files.completeUploadExternal")


@pytest.fixture
async def arm() -> AsyncIterator[ArmServer]:
    """A cluster with more wrong with it than fits into Slack."""
    world = Scenario.load(SCENARIO).world
    crowd(world, "prod-weu", CAUSES)
    complain_at_length(world, "staging-neu", LONG)
    async with azure(world) as server:
        yield server


@pytest.fixture
async def redis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Connection]:
    async with connected(None, tmp_path / "redis") as server:
        monkeypatch.setenv("REDIS_URL", server.url)
        yield server


async def _asked(control: Control, cluster: str = "prod-weu", channel: str = "incidents") -> None:
    await control.slash("requester", channel, "/aks", f"check {cluster}")


async def _whole_thread(control: Control) -> list[Message]:
    """The thread of the one answer, once its file is there, which comes last."""
    (head,) = await answered(control)
    await control.until(lambda: control.files("incidents", head.ts), PATIENCE_S)
    return said_once(control)


def _file(control: Control) -> str:
    (file,) = control.files("incidents")
    assert file.content
    return file.content.decode()


# -- too much -------------------------------------------------------------------------------------------------


async def test_of_two_hundred_causes_the_first_are_shown_and_all_are_in_the_file(
    bot: Bot, control: Control, slack: SlackServer
) -> None:
    await _asked(control)
    thread = await _whole_thread(control)
    assert any("full report is" in seen(one) for one in thread)
    assert all(f"keep-{number:03}" in _file(control) for number in range(CAUSES))
    assert [one.error for one in slack.log if one.error] == []


async def test_an_error_of_forty_thousand_characters_is_cut_says_so_and_is_whole_in_the_file(
    bot: Bot, control: Control, slack: SlackServer
) -> None:
    await _asked(control, "staging-neu")
    thread = await _whole_thread(control)
    assert any("(cut)" in seen(one) for one in thread)
    assert "the last word of it" in _file(control)
    assert [one.error for one in slack.log if one.error] == []


# -- what Slack does ------------------------------------------------------------------------------------------


async def _warmed_up(control: Control) -> None:
    """The bot knows who asks; without that it lets nobody in."""
    await _asked(control, "staging-neu", "platform-on-call")
    await answered(control, "platform-on-call")


@pytest.mark.parametrize("method", [None, *(pytest.param(one, marks=pytest.mark.soak) for one in UPLOAD)])
async def test_what_is_too_often_is_said_later(
    bot: Bot, control: Control, slack: SlackServer, method: str | None
) -> None:
    await _warmed_up(control)
    slack.faults.append(Fault("429", method, times=2 if method else 6))
    await _asked(control)
    await _whole_thread(control)


async def test_who_cannot_be_looked_up_in_time_is_told(bot: Bot, control: Control, slack: SlackServer) -> None:
    slack.faults.append(Fault("429", "users.info"))
    await _asked(control)
    await control.until(lambda: control.ephemerals("requester"), PATIENCE_S)
    assert heads(control) == []
    slack.faults.clear()
    await _asked(control, "staging-neu")
    await answered(control)


@pytest.mark.soak
async def test_a_limit_that_outlasts_every_try_is_outlasted(bot: Bot, control: Control, slack: SlackServer) -> None:
    # Asked here: a channel of which nothing is known counts as outside.
    await _asked(control, "staging-neu")
    await answered(control)
    slack.faults.append(Fault("429", times=25))
    await _asked(control)
    *_, head = await answered(control, number=2)
    await control.until(lambda: control.files("incidents", head.ts), PATIENCE_S)


async def test_a_limit_on_response_urls_is_waited_for(bot: Bot, control: Control, slack: SlackServer) -> None:
    slack.faults.append(Fault("429", "response_url", times=2))
    await _asked(control, channel="random")
    await control.until(lambda: any(map(is_answer, control.ephemerals("requester", "random"))), PATIENCE_S)


async def test_a_limit_on_windows_is_told(bot: Bot, control: Control, slack: SlackServer) -> None:
    await _asked(control)
    thread = await _whole_thread(control)
    slack.faults.append(Fault("429", "views.open", retry_after_s=4, times=1))
    await control.press("requester", thread[1], "show_steps_0")
    await control.until(lambda: any("try again" in one.text for one in control.ephemerals("requester")), PATIENCE_S)


@pytest.mark.parametrize("method", [POST, UPDATE, "response_url"])
async def test_where_no_block_is_taken_it_is_said_in_plain_text(
    bot: Bot, control: Control, slack: SlackServer, method: str
) -> None:
    channel = "random" if method == "response_url" else "incidents"
    slack.faults.extend(Fault("error", method, error="invalid_blocks", skip=number, times=1) for number in range(2))
    await _asked(control, "staging-neu", channel)
    told = lambda: [*control.ephemerals("requester", channel), *control.messages(channel)]  # noqa: E731
    await control.until(lambda: any("What to do" in seen(one) for one in told()), PATIENCE_S)


async def test_a_window_whose_blocks_are_refused_is_filled_with_text(
    bot: Bot, control: Control, slack: SlackServer
) -> None:
    await _asked(control)
    thread = await _whole_thread(control)
    slack.faults.append(Fault("error", "views.update", error="invalid_blocks", times=1))
    await control.press("requester", thread[1], "show_steps_0")
    await control.until(lambda: "What it means" in str(_window(control)), PATIENCE_S)


@pytest.mark.parametrize(
    ("method", "kind"),
    [
        pytest.param(method, kind, marks=[] if (method, kind) in TROUBLE else pytest.mark.soak)
        for method in (POST, UPDATE, UPLOAD[-1])
        for kind in ("500", "503", "html", "reset", "timeout")
    ],
)
async def test_a_slack_in_trouble_is_asked_again(
    bot: Bot, control: Control, slack: SlackServer, method: str, kind: str
) -> None:
    slack.faults.append(Fault(kind, method, times=1, executed=kind in ("reset", "timeout")))  # type: ignore[arg-type]
    await _asked(control)
    await _whole_thread(control)


async def test_a_token_that_is_revoked_is_said_by_the_process_and_works_again_later(
    bot: Bot, control: Control, slack: SlackServer, caplog: pytest.LogCaptureFixture
) -> None:
    await _warmed_up(control)
    slack.faults.append(Fault("error", error="token_revoked"))
    await _asked(control)
    async with aiohttp.ClientSession(f"http://127.0.0.1:{bot.site.port}") as session:
        status, text = await _ready(session)
        async with asyncio.timeout(PATIENCE_S):
            while status == 200:
                status, text = await _ready(session)
        assert "token_revoked" in text
        assert "SLACK_BOT_TOKEN" in text
        assert any("token_revoked" in one.getMessage() for one in caplog.records if one.levelname == "ERROR")
        slack.faults.clear()
        async with asyncio.timeout(PATIENCE_S):  # what Slack said is remembered for a second
            while await _ready(session) != (200, "ready\n"):
                pass
    await _whole_thread(control)


# -- what people do meanwhile ---------------------------------------------------------------------------------


async def test_a_head_that_somebody_deletes_during_the_check_is_said_anew(
    bot: Bot, control: Control, slack: SlackServer, arm: ArmServer
) -> None:
    arm.latency_s = 0.5
    await _asked(control)
    await control.until(lambda: len(heads(control)) == 1, PATIENCE_S)
    posting.delete(slack.site, control.team, control.team.channel("incidents"), heads(control)[0])
    await _whole_thread(control)


@pytest.mark.soak
async def test_a_channel_that_is_archived_during_the_check_is_answered_in_a_direct_message(
    bot: Bot, control: Control, arm: ArmServer
) -> None:
    arm.latency_s = 0.5
    await _asked(control)
    await control.until(lambda: len(heads(control)) == 1, PATIENCE_S)
    control.team.channel("incidents").archived = True
    direct = control.direct("requester")
    await control.until(lambda: any(map(is_answer, direct.messages)), PATIENCE_S)


@pytest.mark.parametrize("over_http", [False, True], ids=["socket", "http"])
async def test_a_button_that_nobody_can_read_is_told(start: Start, control: Control, over_http: bool) -> None:
    async with start(over_http=over_http):
        await _asked(control, "staging-neu")
        (head,) = await answered(control)
        for block in head.blocks:
            for one in block.get("elements", []):
                if one.get("action_id") == "check_again":
                    one["value"] = "not ours"
        await control.press("requester", head, "check_again")
        await control.until(lambda: any("try again" in one.text for one in control.ephemerals("requester")), PATIENCE_S)


# -- what becomes of the memory and of the process -------------------------------------------------------------


@pytest.mark.parametrize(
    "loses",
    [pytest.param("nothing", marks=pytest.mark.soak), "data", pytest.param("functions", marks=pytest.mark.soak)],
)
async def test_a_redis_that_restarts_in_the_middle_of_a_check_costs_nobody_an_answer(
    start: Start, control: Control, arm: ArmServer, redis: Connection, loses: str
) -> None:
    arm.latency_s = 0.5
    async with start():
        await _asked(control)
        await control.until(lambda: len(heads(control)) == 1, PATIENCE_S)
        if loses == "data":
            await redis.redis.flushall()
        if loses != "nothing":
            await redis.redis.function_flush()
        if loses != "functions":
            await until_it_is_back(redis, kill_server(redis))
        await _whole_thread(control)
        await _asked(control, "staging-neu", "platform-on-call")
        assert len(await answered(control, "platform-on-call")) == 1
    said_once(control)


@pytest.mark.soak
async def test_a_process_that_is_stopped_hands_over_what_takes_too_long(
    start: Start, slack: SlackServer, control: Control, arm: ArmServer, redis: Connection, tmp_path: Path
) -> None:
    stage = Stage(slack, arm, redis, tmp_path)
    arm.faults.append(AzureFault("timeout"))
    async with stage.serving() as process:
        await _asked(control)
        await control.until(lambda: len(heads(control)) == 1, PATIENCE_S)
        async with start():
            process.send_signal(signal.SIGTERM)
            assert await asyncio.wait_for(process.wait(), PATIENCE_S) == 0
            arm.faults.clear()
            await all_told(redis)
    said_once(control)


def _window(control: Control) -> object:
    view = control.modal("requester")
    return view.blocks if view else None


async def _ready(session: aiohttp.ClientSession) -> tuple[int, str]:
    async with session.get("/readyz") as answer:
        return answer.status, await answer.text()
