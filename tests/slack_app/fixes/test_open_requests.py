"""Which requests are open, for App Home: if the viewer cannot be identified, that is shown instead of an empty list."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.app import Bot
from bot.fixes import moves
from bot.fixes.proposal import Person, Proposal
from bot.fixes.store.proposals import Proposals
from bot.metrics import Metrics
from bot.policy.model import Look
from bot.slack.api.calls import Calls
from bot.slack.api.messages import SlackMessages
from bot.slack.api.people import People
from bot.slack.api.poster import Poster
from bot.slack.fixes.lists.handlers import FixLists
from bot.slack.home import view as home_view
from bot.slack.home.view import Shown
from bot.slack.inbound.gate import Gate
from bot.slack.kit.message import Message
from bot.store.connect import Connection
from bot.store.state import State
from sandbox.slack.control import Control
from sandbox.slack.server import Fault, SlackServer
from tests.slack.surfaces_fixes import NOW
from tests.slack_app.fixes.steps import CHANNEL, Desk, asked_proposal
from tests.slack_app.reading import seen

ELSEWHERE: Any = None
"""What this question does not need."""


@pytest.fixture
async def lists(slack: SlackServer, redis: Connection) -> AsyncIterator[FixLists]:
    """As another process has them, which has asked Slack nothing yet."""
    async with aiohttp.ClientSession() as session:
        client = AsyncWebClient(slack.bot_token, base_url=slack.url, session=session, retry_handlers=[])
        calls = Calls(client, session, Metrics())
        people, message_poster = People(calls), Poster(SlackMessages(calls), State(redis.redis))
        gate = Gate(Look(), people)
        yield FixLists(
            Proposals(redis.redis),
            ELSEWHERE,
            ELSEWHERE,
            ELSEWHERE,
            gate,
            ELSEWHERE,
            people,
            message_poster,
            ELSEWHERE,
            ELSEWHERE,
        )


async def test_where_slack_does_not_say_who_looks_nothing_is_called_none(
    bot: Bot, desk: Desk, control: Control, slack: SlackServer, redis: Connection, lists: FixLists
) -> None:
    await desk.asked()
    one = await asked_proposal(redis)
    slack.faults.append(Fault("error", "users.info", error="internal_error"))
    found = await lists.open_for(one.team, control.team.person("approver").id)
    assert isinstance(found, Message)
    said = str(home_view.page(Shown((), NOW, (), approvals=found), "D0")["blocks"])
    assert "Slack does not say who you are" in said
    assert "Whether approvals are open cannot be shown" in said
    assert "No approvals are open" not in said
    assert "Redis" not in said


async def test_where_slack_does_not_say_where_it_lives_requests_are_listed_without_a_link(
    bot: Bot, desk: Desk, control: Control, slack: SlackServer, redis: Connection, lists: FixLists
) -> None:
    await desk.asked()
    one = await asked_proposal(redis)
    slack.faults.append(Fault("error", "auth.test", error="internal_error"))
    (found,) = await lists.open_for(one.team, control.team.person("approver").id)  # type: ignore[misc]
    assert (found.title, found.link) == (one.plan.title, "")


async def test_what_runs_waits_for_nobody_and_is_listed_as_running(
    bot: Bot, desk: Desk, control: Control, redis: Connection, lists: FixLists
) -> None:
    await desk.asked()
    one = await asked_proposal(redis)
    approver = control.team.person("approver").id
    assert await lists.open_for(one.team, approver)
    proposals = Proposals(redis.redis)
    word = partial(moves.approve, who=Person(one.team, approver), digest=one.digest)
    for move in (word, moves.start):
        assert isinstance(await proposals.move(one.id, move), Proposal)
        assert await lists.open_for(one.team, approver) == []
    await control.slash("requester", CHANNEL, "/aks", f"fixes {desk.cluster}")
    listed = seen(await desk.listed())
    assert f"{one.plan.title} · running" in listed.replace("  ", " ")
    assert "open until" not in listed
