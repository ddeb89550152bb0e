from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlencode

import aiohttp
import pytest
from aiohttp import web
from slack_bolt.async_app import AsyncAck

from sandbox.slack.clock import VirtualClock
from sandbox.slack.control import Control
from sandbox.slack.http_road import UnverifiedUrl, signed_headers
from sandbox.slack.server import SlackServer
from tests.sandbox_slack.apps import HttpApp, bolt_app

Body = dict[str, Any]


@pytest.fixture
async def app(slack: SlackServer) -> AsyncIterator[HttpApp]:
    async with HttpApp(bolt_app(slack)) as running:
        await slack.connect_http(running.url)
        yield running


async def test_a_new_url_is_verified_with_a_challenge(app: HttpApp) -> None:
    headers, body = app.requests[0]
    assert json.loads(body)["type"] == "url_verification"
    assert headers["X-Slack-Signature"].startswith("v0=")


async def test_a_url_that_does_not_answer_the_challenge_is_refused(slack: SlackServer) -> None:
    async with HttpApp(bolt_app(slack)) as running:
        running.instead.append(web.Response(text="hello"))
        with pytest.raises(UnverifiedUrl):
            await slack.connect_http(running.url)


async def test_commands_and_their_answers_go_over_http(app: HttpApp, control: Control) -> None:
    @app.bolt.command("/aks")
    async def aks(ack: AsyncAck, command: Body) -> None:
        await ack(response_type="in_channel", text=f"got {command['text']}")

    await control.slash("requester", "incidents", "/aks", "check prod-weu")
    assert [one.text for one in control.messages("incidents")] == ["got check prod-weu"]


async def test_events_go_over_http_signed(app: HttpApp, control: Control, slack: SlackServer) -> None:
    heard: list[str] = []

    @app.bolt.event("message")
    async def message(event: Body) -> None:
        heard.append(event["text"])

    control.say("requester", "incidents", "prod-weu is slow")
    await control.until(lambda: slack.outbox.under_way == 0)
    assert heard == ["prod-weu is slow"]


async def test_an_event_that_fails_comes_again_with_its_number_and_reason(
    app: HttpApp, control: Control, slack: SlackServer, clock: VirtualClock
) -> None:
    app.instead += [web.Response(status=500), web.Response(status=500)]

    @app.bolt.event("message")
    async def message() -> None: ...

    control.say("requester", "incidents", "prod-weu is slow")
    await control.until(lambda: slack.outbox.pausing)
    clock.advance(60)
    await control.until(lambda: slack.outbox.under_way == 0)
    sent = [headers for headers, _ in app.requests[1:]]
    assert [one.get("X-Slack-Retry-Num") for one in sent] == [None, "1", "2"]
    assert sent[1]["X-Slack-Retry-Reason"] == "http_error"


async def test_an_event_that_is_answered_too_late_comes_again(
    app: HttpApp, control: Control, slack: SlackServer, clock: VirtualClock
) -> None:
    late = [True]

    @app.bolt.event("message", middleware=[])
    async def message() -> None: ...

    @app.bolt.middleware
    async def slow(next: Any) -> None:  # noqa: A002 - the name is Bolt's
        if late:
            late.clear()
            clock.advance(3.1)
        await next()

    control.say("requester", "incidents", "prod-weu is slow")
    await control.until(lambda: slack.outbox.under_way == 0)
    assert app.requests[-1][0]["X-Slack-Retry-Reason"] == "http_timeout"


async def test_an_app_may_ask_not_to_be_told_again(app: HttpApp, control: Control, slack: SlackServer) -> None:
    app.instead.append(web.Response(status=503, headers={"X-Slack-No-Retry": "1"}))
    control.say("requester", "incidents", "prod-weu is slow")
    await control.until(lambda: slack.outbox.undelivered)
    assert len(app.requests) == 2


async def test_an_app_that_is_not_there_is_told_later(
    slack: SlackServer, control: Control, clock: VirtualClock
) -> None:
    async with HttpApp(bolt_app(slack)) as running:
        await slack.connect_http(running.url)
    control.say("requester", "incidents", "prod-weu is slow")
    await control.until(lambda: slack.outbox.pausing)
    assert [one.reason for one in slack.outbox.attempts] == ["", "connection_failed"]


@pytest.mark.parametrize(("secret", "age_s", "status"), [("own", 0, 200), ("own", 600, 401), ("forged", 0, 401)])
async def test_bolt_takes_only_what_is_signed_and_fresh(
    app: HttpApp, slack: SlackServer, secret: str, age_s: int, status: int
) -> None:
    @app.bolt.command("/aks")
    async def aks(ack: AsyncAck) -> None:
        await ack()

    body = urlencode({"command": "/aks", "text": "check", "team_id": "T1", "user_id": "U1"}).encode()
    key = slack.signing_secret if secret == "own" else "somebody else's"
    headers = signed_headers(key, body, content_type="application/x-www-form-urlencoded", at=time.time() - age_s)
    async with aiohttp.ClientSession() as session, session.post(app.url, data=body, headers=headers) as response:
        assert response.status == status
