from __future__ import annotations

from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from sandbox.slack import response_urls
from sandbox.slack.clock import VirtualClock
from sandbox.slack.control import Control
from sandbox.slack.server import SlackServer

Body = dict[str, Any]


@pytest.fixture
def hook(slack: SlackServer, control: Control) -> AsyncWebhookClient:
    """Of a command in a channel in which the app is not."""
    team, person = control.team, control.team.person("requester")
    return AsyncWebhookClient(response_urls.give(slack.site, team, team.channel("general"), person.id))


async def test_a_response_url_answers_where_the_app_is_no_member(hook: AsyncWebhookClient, control: Control) -> None:
    await hook.send(text="for you")
    await hook.send(text="for all", response_type="in_channel")
    assert [one.text for one in control.ephemerals("requester", "general")] == ["for you"]
    assert [one.text for one in control.messages("general")] == ["for all"]


async def test_a_response_url_takes_five_messages(hook: AsyncWebhookClient, clock: VirtualClock) -> None:
    for _ in range(5):
        clock.advance(1)
        assert (await hook.send(text="x")).status_code == 200
    clock.advance(1)
    sixth = await hook.send(text="x")
    assert sixth.status_code == 404
    assert "used_url" in sixth.body


async def test_a_response_url_lives_for_half_an_hour(hook: AsyncWebhookClient, clock: VirtualClock) -> None:
    clock.advance(30 * 60 - 1)
    assert (await hook.send(text="x")).status_code == 200
    clock.advance(2)
    late = await hook.send(text="x")
    assert (late.status_code, "expired_url" in late.body) == (404, True)


async def test_a_burst_over_a_response_url_is_slowed(slack: SlackServer, control: Control) -> None:
    team, person = control.team, control.team.person("requester")
    answers = []
    for _ in range(5):
        url = response_urls.give(slack.site, team, team.channel("general"), person.id)
        answers.append(await AsyncWebhookClient(url).send(text="x"))
    assert [one.status_code for one in answers] == [200, 200, 200, 200, 429]
    assert answers[-1].headers["Retry-After"] == "1"


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"text": ""}, "no_text"),
        ({"blocks": [{"type": "sing"}]}, "invalid_blocks"),
        ({"text": "x" * 40_001}, "msg_too_long"),
    ],
)
async def test_what_a_response_url_does_not_take(hook: AsyncWebhookClient, body: Body, error: str) -> None:
    answer = await hook.send_dict(body)
    assert answer.status_code == 400
    assert error in answer.body


async def test_a_refused_message_is_no_use(hook: AsyncWebhookClient, slack: SlackServer, control: Control) -> None:
    await hook.send(text="")
    [url] = slack.site.response_urls.values()
    assert url.uses == 0


async def test_a_url_that_was_never_given_out_is_unknown(slack: SlackServer) -> None:
    url = f"{slack.site.base}/commands/T1/2/3"
    async with aiohttp.ClientSession() as session, session.post(url, json={"text": "x"}) as response:
        assert (response.status, (await response.json())["error"]) == (404, "no_service")


async def test_an_ephemeral_message_is_replaced_over_its_own_url(
    client: AsyncWebClient, slack: SlackServer, control: Control
) -> None:
    channel, person = control.team.channel("incidents"), control.team.person("requester")
    await client.chat_postEphemeral(channel=channel.id, user=person.id, text="pick one")
    [message] = control.ephemerals("requester")
    url = response_urls.give(slack.site, control.team, channel, person.id, message)
    hook = AsyncWebhookClient(url)
    await hook.send(text="picked", replace_original=True)
    assert [one.text for one in control.ephemerals("requester")] == ["picked"]
    await hook.send(delete_original=True)
    assert control.ephemerals("requester") == []


async def test_many_blocks_fit_where_a_posted_message_would_be_too_long(
    hook: AsyncWebhookClient, client: AsyncWebClient, control: Control
) -> None:
    blocks: list[Any] = [{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3000}}] * 10
    assert (await hook.send(text="x", blocks=blocks)).status_code == 200
