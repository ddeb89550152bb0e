from __future__ import annotations

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from sandbox.slack.api.methods import METHODS
from sandbox.slack.clock import VirtualClock
from sandbox.slack.control import Control
from sandbox.slack.limits import CHANNEL_BURST, known_methods
from sandbox.slack.server import SlackServer
from tests.sandbox_slack.apps import refusal


def test_every_method_has_its_limit() -> None:
    assert set(METHODS) == known_methods()


async def test_a_channel_takes_a_burst_and_then_one_message_a_second(
    client: AsyncWebClient, control: Control, clock: VirtualClock
) -> None:
    incidents, other = (control.team.channel(one).id for one in ("incidents", "platform-on-call"))
    for _ in range(CHANNEL_BURST):
        await client.chat_postMessage(channel=incidents, text="x")
    answer = await refusal(client.chat_postMessage(channel=incidents, text="x"))
    assert (answer["status"], answer["error"], answer["headers"]["Retry-After"]) == (429, "ratelimited", "1")
    await client.chat_postMessage(channel=other, text="x")
    clock.advance(1)
    await client.chat_postMessage(channel=incidents, text="x")
    assert (await refusal(client.chat_postMessage(channel=incidents, text="x")))["status"] == 429


async def test_updates_are_of_tier_three_for_the_workspace(
    client: AsyncWebClient, control: Control, clock: VirtualClock
) -> None:
    channel = control.team.channel("incidents").id
    ts = (await client.chat_postMessage(channel=channel, text="x"))["ts"]
    for _ in range(50):
        await client.chat_update(channel=channel, ts=ts, text="y")
    answer = await refusal(client.chat_update(channel=channel, ts=ts, text="y"))
    assert (answer["status"], answer["headers"]["Retry-After"]) == (429, "2")
    clock.advance(2)
    await client.chat_update(channel=channel, ts=ts, text="y")


async def test_every_workspace_has_buckets_of_its_own(slack: SlackServer, client: AsyncWebClient) -> None:
    other = AsyncWebClient(token=slack.bot_token_of("Fabrikam"), base_url=slack.url)
    for _ in range(20):
        await client.users_list()
    assert (await refusal(client.users_list()))["status"] == 429
    await other.users_list()


@pytest.mark.parametrize("wait_s", [59, 61])
async def test_sockets_may_be_opened_now_and_then(slack: SlackServer, clock: VirtualClock, wait_s: int) -> None:
    client = AsyncWebClient(base_url=slack.url)
    for _ in range(10):
        await client.apps_connections_open(app_token=slack.app_token)
    clock.advance(wait_s)
    call = client.apps_connections_open(app_token=slack.app_token)
    if wait_s < 60:
        assert (await refusal(call))["status"] == 429
    else:
        await call
