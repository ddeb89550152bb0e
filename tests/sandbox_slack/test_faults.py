from __future__ import annotations

import asyncio

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from sandbox.slack.control import Control
from sandbox.slack.faults import Fault
from sandbox.slack.server import SlackServer
from tests.sandbox_slack.apps import refusal


async def _post(client: AsyncWebClient, control: Control) -> None:
    await client.chat_postMessage(channel=control.team.channel("incidents").id, text="x")


async def test_a_rate_limit_on_demand_has_its_retry_after(
    slack: SlackServer, client: AsyncWebClient, control: Control
) -> None:
    slack.faults.append(Fault("429", method="chat.postMessage", times=1, retry_after_s=7))
    answer = await refusal(_post(client, control))
    assert (answer["status"], answer["headers"]["Retry-After"]) == (429, "7")
    await _post(client, control)


async def test_invalid_blocks_on_demand_say_why(slack: SlackServer, client: AsyncWebClient, control: Control) -> None:
    messages = ("unsupported type: plan [json-pointer:/blocks/0/type]",)
    slack.faults.append(Fault("error", "chat.postMessage", error="invalid_blocks", messages=messages))
    answer = await refusal(_post(client, control))
    assert answer["error"] == "invalid_blocks"
    assert answer["response_metadata"]["messages"] == [f"[ERROR] {messages[0]}"]


@pytest.mark.parametrize("executed", [False, True])
@pytest.mark.parametrize("kind", ["500", "reset"])
async def test_an_answer_can_be_lost_whether_or_not_the_call_took_effect(
    slack: SlackServer, client: AsyncWebClient, control: Control, kind: str, executed: bool
) -> None:
    # The client of Slack's library sends a call again when its connection was reset.
    slack.faults.append(Fault(kind, executed=executed))  # type: ignore[arg-type]
    with pytest.raises((SlackApiError, aiohttp.ClientError)):
        await _post(client, control)
    assert bool(control.messages("incidents")) == executed


async def test_a_call_can_stay_without_an_answer(slack: SlackServer, client: AsyncWebClient, control: Control) -> None:
    slack.faults.append(Fault("timeout", "chat.postMessage", times=1))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(_post(client, control), timeout=0.1)
    assert control.messages("incidents") == []


async def test_a_fault_is_of_one_method_one_team_and_comes_when_it_is_meant_to(slack: SlackServer) -> None:
    fault = Fault("500", method="auth.test", team="T1", skip=1, times=1)
    asked = [("auth.test", "T2"), ("users.list", "T1"), ("auth.test", "T1"), ("auth.test", "T1"), ("auth.test", "T1")]
    assert [fault.takes(*one) for one in asked] == [False, False, False, True, False]
