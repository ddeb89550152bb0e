from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from sandbox.slack.cast import on_call_workspace
from sandbox.slack.clock import VirtualClock
from sandbox.slack.control import Control
from sandbox.slack.server import SlackServer
from tests.sandbox_slack.apps import SocketApp, bolt_app


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
async def slack(clock: VirtualClock) -> AsyncIterator[SlackServer]:
    async with SlackServer([on_call_workspace(), on_call_workspace("Fabrikam")], clock=clock) as server:
        yield server


@pytest.fixture
def control(slack: SlackServer) -> Control:
    return slack.control


@pytest.fixture
def client(slack: SlackServer) -> AsyncWebClient:
    return AsyncWebClient(token=slack.bot_token, base_url=slack.url)


@pytest.fixture
async def app(slack: SlackServer) -> AsyncIterator[SocketApp]:
    """A Bolt app in Socket Mode with one connection."""
    async with SocketApp(slack, bolt_app(slack)) as running:
        yield running
