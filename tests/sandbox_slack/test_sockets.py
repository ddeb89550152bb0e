from __future__ import annotations

from typing import Any

import aiohttp
import pytest
from slack_bolt.async_app import AsyncAck, AsyncRespond, AsyncSay
from slack_sdk.web.async_client import AsyncWebClient

from sandbox.slack.cast import on_call_workspace
from sandbox.slack.clock import VirtualClock
from sandbox.slack.control import Control
from sandbox.slack.manifest import Manifest
from sandbox.slack.server import SlackServer
from tests.sandbox_slack.apps import SocketApp, bolt_app, refusal

Body = dict[str, Any]


class Socket:
    """A socket as a client that does everything by hand."""

    def __init__(self, slack: SlackServer, session: aiohttp.ClientSession) -> None:
        self._slack, self._session = slack, session

    async def open(self) -> aiohttp.ClientWebSocketResponse:
        client = AsyncWebClient(base_url=self._slack.url)
        answer = await client.apps_connections_open(app_token=self._slack.app_token)
        return await self._session.ws_connect(answer["url"])


@pytest.fixture
async def session() -> Any:
    async with aiohttp.ClientSession() as session:
        yield session


@pytest.fixture
def by_hand(slack: SlackServer, session: aiohttp.ClientSession) -> Socket:
    return Socket(slack, session)


async def test_a_slash_command_reaches_the_app_and_its_answers_come_back(app: SocketApp, control: Control) -> None:
    got: list[Body] = []

    @app.bolt.command("/aks")
    async def aks(ack: AsyncAck, body: Body, say: AsyncSay, respond: AsyncRespond) -> None:
        got.append(body)
        await ack("Looking at it")
        await say("Checking prod-weu")
        await respond("Only you can read this")

    await control.slash("requester", "incidents", "/aks", " check prod-weu ")
    await control.until(lambda: len(control.ephemerals("requester")) == 2)
    assert got[0]["text"] == "check prod-weu"
    assert got[0]["channel_name"] == "incidents"
    assert [one.text for one in control.messages("incidents")] == ["Checking prod-weu"]
    assert {one.text for one in control.ephemerals("requester")} == {"Looking at it", "Only you can read this"}
    assert control.ephemerals("approver") == []


async def test_each_envelope_goes_to_exactly_one_connection(slack: SlackServer, control: Control) -> None:
    heard: list[str] = []
    apps = [bolt_app(slack), bolt_app(slack)]

    def listen(bolt: Any, name: str) -> None:
        @bolt.event("app_mention")  # type: ignore[untyped-decorator]
        async def mentioned(event: Body) -> None:
            heard.append(f"{name}:{event['text'].split()[-1]}")

        @bolt.event("message")  # type: ignore[untyped-decorator]
        async def message() -> None: ...

    listen(apps[0], "first")
    listen(apps[1], "second")
    async with SocketApp(slack, apps[0]), SocketApp(slack, apps[1]):
        for number in range(6):
            control.mention("requester", "incidents", str(number))
        await control.until(lambda: slack.outbox.under_way == 0)
    assert sorted(one.split(":")[1] for one in heard) == ["0", "1", "2", "3", "4", "5"]
    assert slack.outbox.undelivered == []


async def test_a_command_without_a_connection_fails_visibly(control: Control) -> None:
    await control.slash("requester", "incidents", "/aks", "check")
    [told] = control.ephemerals("requester")
    assert told.text == "/aks failed with the error “dispatch_failed”"


async def test_a_command_that_is_not_acknowledged_in_three_seconds_fails_visibly(
    app: SocketApp, control: Control, clock: VirtualClock
) -> None:
    @app.bolt.command("/aks")
    async def aks() -> None:
        clock.advance(3.1)

    await control.slash("requester", "incidents", "/aks", "check")
    assert "operation_timeout" in control.ephemerals("requester")[0].text


async def test_a_socket_says_hello_with_the_number_of_connections(by_hand: Socket, slack: SlackServer) -> None:
    first = await by_hand.open()
    hello = await first.receive_json()
    second = await by_hand.open()
    assert (await second.receive_json())["num_connections"] == 2
    assert hello["type"] == "hello"
    assert hello["num_connections"] == 1
    assert hello["debug_info"]["host"]
    assert hello["connection_info"] == {"app_id": slack.site.app_id}


async def test_a_ticket_lets_in_once(slack: SlackServer, session: aiohttp.ClientSession) -> None:
    client = AsyncWebClient(base_url=slack.url)
    url = (await client.apps_connections_open(app_token=slack.app_token))["url"]
    await session.ws_connect(url)
    with pytest.raises(aiohttp.WSServerHandshakeError):
        await session.ws_connect(url)


async def test_pings_are_answered(by_hand: Socket) -> None:
    socket = await by_hand.open()
    await socket.receive_json()
    await socket.ping(b"sdk-ping-pong:1.0")
    await socket.close()


async def test_the_eleventh_connection_is_sent_away(by_hand: Socket, slack: SlackServer) -> None:
    sockets = [await by_hand.open() for _ in range(10)]
    slack.limits.refill()
    one_more = await by_hand.open()
    assert (await one_more.receive_json())["reason"] == "too_many_websockets"
    assert slack.sockets.count == len(sockets)


async def test_an_event_that_is_not_acknowledged_comes_again(
    by_hand: Socket, control: Control, slack: SlackServer, clock: VirtualClock
) -> None:
    socket = await by_hand.open()
    await socket.receive_json()
    control.say("requester", "incidents", "prod-weu is slow")
    first = await socket.receive_json()
    clock.advance(3.1)
    second = await socket.receive_json()
    assert first["retry_attempt"] == 0
    assert (second["retry_attempt"], second["retry_reason"]) == (1, "timeout")
    assert first["payload"]["event_id"] == second["payload"]["event_id"]
    assert first["envelope_id"] != second["envelope_id"]
    await socket.send_json({"envelope_id": second["envelope_id"]})
    await control.until(lambda: slack.outbox.under_way == 0)
    assert slack.outbox.undelivered == []


async def test_after_three_more_attempts_an_event_is_given_up(
    by_hand: Socket, control: Control, slack: SlackServer, clock: VirtualClock
) -> None:
    socket = await by_hand.open()
    await socket.receive_json()
    control.say("requester", "incidents", "prod-weu is slow")
    for pause_s in (0, 60, 300, None):
        await socket.receive_json()
        clock.advance(3.1)
        if pause_s:
            await control.until(lambda: slack.outbox.pausing)
            clock.advance(pause_s)
    await control.until(lambda: slack.outbox.undelivered)
    assert [one.attempt for one in slack.outbox.attempts] == [0, 1, 2, 3]


async def test_what_a_lost_connection_did_not_acknowledge_goes_to_the_next(
    by_hand: Socket, control: Control, slack: SlackServer
) -> None:
    lost = await by_hand.open()
    await lost.receive_json()
    control.say("requester", "incidents", "prod-weu is slow")
    first = await lost.receive_json()
    other = await by_hand.open()
    await other.receive_json()
    await lost.close()
    again = await other.receive_json()
    assert again["payload"]["event_id"] == first["payload"]["event_id"]
    await other.send_json({"envelope_id": again["envelope_id"]})
    await control.until(lambda: slack.outbox.under_way == 0)


async def test_what_goes_to_a_connection_that_has_gone_silent_is_lost_until_slack_tries_again(
    by_hand: Socket, control: Control, slack: SlackServer, clock: VirtualClock
) -> None:
    silent, other = await by_hand.open(), await by_hand.open()
    await silent.receive_json()
    await other.receive_json()
    slack.sockets.silence(1)
    control.say("requester", "incidents", "prod-weu is slow")
    await control.until(lambda: len(slack.outbox.attempts) == 1)
    clock.advance(3.1)
    again = await other.receive_json()
    assert (again["retry_attempt"], again["retry_reason"]) == (1, "timeout")
    await other.send_json({"envelope_id": again["envelope_id"]})
    await control.until(lambda: slack.outbox.under_way == 0)


async def test_while_slack_lets_nobody_in_a_ticket_is_used_up(by_hand: Socket, slack: SlackServer) -> None:
    slack.sockets.closed_to_new = True
    with pytest.raises(aiohttp.WSServerHandshakeError):
        await by_hand.open()
    slack.sockets.closed_to_new = False
    assert (await (await by_hand.open()).receive_json())["type"] == "hello"


async def test_an_acknowledgement_may_come_over_another_connection(
    by_hand: Socket, control: Control, slack: SlackServer
) -> None:
    old, new = await by_hand.open(), await by_hand.open()
    await old.receive_json()
    await new.receive_json()
    control.say("requester", "incidents", "prod-weu is slow")
    envelope = await old.receive_json()
    await new.send_json({"envelope_id": envelope["envelope_id"]})
    await control.until(lambda: slack.outbox.under_way == 0)
    assert len(slack.outbox.attempts) == 1


@pytest.mark.parametrize("how", ["warn", "refresh"])
async def test_an_app_that_is_told_to_go_comes_back(app: SocketApp, slack: SlackServer, how: str) -> None:
    before = slack.sockets.opened
    await getattr(slack.sockets, how)()
    await slack.until(lambda: slack.sockets.opened == before + 1 and slack.sockets.count == 1)


async def test_only_an_app_token_opens_a_socket(slack: SlackServer, client: AsyncWebClient) -> None:
    bot = await refusal(client.apps_connections_open(app_token=slack.bot_token))
    app_token = await refusal(client.auth_test(token=slack.app_token))
    assert (bot["error"], app_token["error"]) == ("not_allowed_token_type", "not_allowed_token_type")


async def test_an_app_without_socket_mode_gets_no_socket() -> None:
    async with SlackServer(on_call_workspace(), manifest=Manifest(socket_mode=False)) as slack:
        client = AsyncWebClient(base_url=slack.url)
        answer = await refusal(client.apps_connections_open(app_token=slack.app_token))
    assert answer["error"] == "socket_mode_not_enabled"
