"""Over HTTP only Slack comes in, and each of its requests once."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlencode

import aiohttp
import pytest

from bot.app import Bot
from bot.store.connect import Connection, connected
from sandbox.slack.control import Control
from sandbox.slack.http_road import signed_headers
from sandbox.slack.server import SlackServer
from tests.slack_app.conftest import Start
from tests.slack_app.reading import answered, heads, is_answer

FORM = "application/x-www-form-urlencoded"
RETRY = {"X-Slack-Retry-Num": "1", "X-Slack-Retry-Reason": "http_timeout"}


class Door:
    """Where requests come in, Slack's and others'."""

    def __init__(self, bot: Bot, slack: SlackServer, session: aiohttp.ClientSession) -> None:
        self.url = f"http://127.0.0.1:{bot.site.port}/slack/events"
        self.secret, self._session = slack.signing_secret, session

    def signed(self, body: bytes, content_type: str = FORM, *, age_s: float = 0, secret: str = "") -> dict[str, str]:
        return signed_headers(secret or self.secret, body, content_type=content_type, at=time.time() - age_s)

    async def answers(self, body: bytes, headers: dict[str, str]) -> int:
        async with self._session.post(self.url, data=body, headers=headers) as answer:
            return answer.status


@asynccontextmanager
async def _door(start: Start, slack: SlackServer) -> AsyncIterator[Door]:
    async with start(over_http=True) as bot, aiohttp.ClientSession() as session:
        yield Door(bot, slack, session)


def _command(control: Control, trigger: str = "1.2") -> bytes:
    team = control.team
    place = {"team_id": team.id, "channel_id": team.channel("incidents").id, "user_id": team.person("requester").id}
    return urlencode({**place, "command": "/aks", "text": "check prod-weu", "trigger_id": trigger}).encode()


def _event(control: Control) -> bytes:
    said = control.say("requester", "incidents", "is it me?")
    event = {"type": "app_mention", "user": said.user, "text": "<@UBOT> check prod-weu", "ts": said.ts}
    event |= {"channel": said.channel, "event_ts": said.ts}
    call = {"type": "event_callback", "team_id": control.team.id, "event_id": "Ev1", "event": event}
    return json.dumps(call).encode()


@pytest.mark.parametrize(("secret", "age_s"), [("of somebody else", 0), ("", 301), ("", -301)])
async def test_a_forged_an_old_and_a_postdated_request_are_refused_and_nothing_is_done(
    start: Start, slack: SlackServer, control: Control, secret: str, age_s: float
) -> None:
    body = _command(control)
    async with _door(start, slack) as door:
        assert await door.answers(body, door.signed(body, age_s=age_s, secret=secret)) == 401
        assert await door.answers(body, {"Content-Type": FORM}) == 401
        assert await door.answers(body + b"&text=other", door.signed(body)) == 401
    assert heads(control) == []


@pytest.mark.parametrize("more", [{}, RETRY], ids=["as it was", "called a repetition"])
async def test_a_replayed_command_is_refused_and_the_next_one_is_taken(
    start: Start, slack: SlackServer, control: Control, more: dict[str, str]
) -> None:
    body = _command(control)
    async with _door(start, slack) as door:
        headers = door.signed(body)
        assert await door.answers(body, headers) == 200
        assert await door.answers(body, headers | more) == 401
        assert len(await answered(control)) == 1
        assert await door.answers(body, headers | more) == 401
        other = _command(control, "3.4")
        assert await door.answers(other, door.signed(other)) == 200
        assert len(await answered(control, number=2)) == 2


async def test_slacks_own_repetition_of_an_event_is_taken_and_answered_once(
    start: Start, slack: SlackServer, control: Control
) -> None:
    body = _event(control)
    kind = "application/json"
    async with _door(start, slack) as door:
        assert await door.answers(body, door.signed(body, kind, age_s=60)) == 200
        assert await door.answers(body, door.signed(body, kind) | RETRY) == 200
        thread = lambda: control.thread("incidents", control.messages("incidents")[0].ts)  # noqa: E731
        await control.until(lambda: any(map(is_answer, thread())), 60)
        assert sum(map(is_answer, thread())) == 1


async def test_what_one_process_has_taken_another_refuses(
    start: Start, slack: SlackServer, control: Control, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = _command(control)
    async with connected(None, tmp_path / "redis") as redis:
        monkeypatch.setenv("REDIS_URL", redis.url)
        async with _door(start, slack) as one, _door(start, slack) as other:
            headers = one.signed(body)
            assert await one.answers(body, headers) == 200
            assert await other.answers(body, headers) == 401


async def test_without_its_memory_a_process_still_knows_what_it_has_taken(
    start: Start, slack: SlackServer, control: Control, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = _command(control)
    async with connected(None, tmp_path / "redis") as redis:
        monkeypatch.setenv("REDIS_URL", redis.url)
        async with _door(start, slack) as door:
            headers = door.signed(body)
            await _stop_for_good(redis)
            assert await door.answers(body, headers) == 200
            assert await door.answers(body, headers) == 401
            assert len(await answered(control)) == 1


async def _stop_for_good(redis: Connection) -> None:
    assert redis.embedded
    await redis.embedded.__aexit__(None, None, None)
