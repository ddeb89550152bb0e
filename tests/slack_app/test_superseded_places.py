"""Who may see that an older answer is over, or where the newer one is: the policy is asked again before each edit."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.address import Address
from bot.checks.reporter import Answer
from bot.checks.request import CheckRequest
from bot.checks.store.recent import RecentCheck, RecentChecks
from bot.metrics import Metrics
from bot.policy.model import DIRECT, Look, LookRule
from bot.report.events import Report
from bot.slack.api.calls import Calls
from bot.slack.api.messages import SlackMessages
from bot.slack.api.people import People
from bot.slack.api.poster import Poster, Reply
from bot.slack.api.readers import ChannelReaders
from bot.slack.checks.reporter import HEAD
from bot.slack.checks.superseding import Superseding
from bot.slack.inbound.gate import Gate
from bot.slack.inbound.outside import Outside
from bot.slack.kit.message import Message
from bot.store.connect import Connection
from bot.store.state import State
from handlers.fleet.cluster_text import ClusterRef
from sandbox.slack.server import Fault, SlackServer
from tests.bot.diagnoses import CLUSTER, TARGET, found
from tests.checking import LIBRARY
from tests.slack_app.reading import seen

BEFORE = TARGET.asked_at - timedelta(hours=1)
ANYWHERE = Look()


@asynccontextmanager
async def superseding(
    slack: SlackServer, redis: Connection, look: Look
) -> AsyncIterator[tuple[Superseding, Poster, RecentChecks]]:
    async with aiohttp.ClientSession() as session:
        client = AsyncWebClient(slack.bot_token, base_url=slack.url, session=session, retry_handlers=[])
        calls = Calls(client, session, Metrics())
        messages, recent, people = SlackMessages(calls), RecentChecks(redis.redis), People(calls)
        poster = Poster(messages, State(redis.redis))
        outside = Outside(look, ChannelReaders(calls, State(redis.redis)))
        yield Superseding(messages, recent, people, Gate(look, people), outside, LIBRARY), poster, recent


async def after_a_check(
    slack: SlackServer, redis: Connection, look: Look, *, stands_in: str, asked_in: str, user: str = "requester"
) -> str:
    """What an older answer says once somebody has checked the cluster again elsewhere."""
    team, person = slack.control.team, slack.control.team.person(user).id
    channels = {
        name: (slack.control.direct(user) if name == DIRECT else team.channel(name)) for name in (stands_in, asked_in)
    }
    async with superseding(slack, redis, look) as (newer, poster, recent):
        there = Address(team.id, channels[stands_in].id, person)
        head, _ = await poster.once(Reply("old", there, BEFORE), HEAD, Message("it stood here"))
        old = RecentCheck(
            "old", "prod-weu", "FOUND", "no quota", person, head.channel, BEFORE, ts=head.message_ts, id=CLUSTER
        )
        await recent.add(team.id, old)
        request = CheckRequest("new", ClusterRef.of("prod-weu"), Address(team.id, channels[asked_in].id, person))
        new = RecentCheck(
            "new", "prod-weu", "FOUND", "", person, channels[asked_in].id, datetime.now(UTC), ts="9.1", id=CLUSTER
        )
        await recent.add(team.id, new)
        await newer.note(request, Answer(Report(found(), 1.0, 1)), told=True)
    (stands,) = [one for one in channels[stands_in].messages if one.ts == head.message_ts]
    return f"{seen(stands)} {stands.blocks}"


def only(*channels: str, people: tuple[str, ...] = ("*",)) -> Look:
    return Look(rules=(LookRule(clusters=("*",), channels=channels, people=people),))


async def test_an_answer_is_brought_up_to_date_with_a_link_where_all_may_read_both(
    slack: SlackServer, redis: Connection
) -> None:
    said = await after_a_check(slack, redis, ANYWHERE, stands_in="incidents", asked_in="platform-on-call")
    assert "Checked again" in said
    assert "/archives/" in said


async def test_a_channel_from_which_nobody_may_look_any_more_keeps_what_stands_there(
    slack: SlackServer, redis: Connection
) -> None:
    look = only(slack.control.team.channel("platform-on-call").id)
    assert (await after_a_check(slack, redis, look, stands_in="incidents", asked_in="platform-on-call")).startswith(
        "it stood here"
    )


@pytest.mark.parametrize("asked_in", [DIRECT, "payments-private"])
async def test_there_is_no_link_to_where_the_readers_are_not(
    slack: SlackServer, redis: Connection, asked_in: str
) -> None:
    said = await after_a_check(slack, redis, ANYWHERE, stands_in="incidents", asked_in=asked_in)
    assert "Checked again" in said
    assert "/archives/" not in said


@pytest.mark.parametrize(
    ("user", "may"), [("requester", True), ("approver", False)], ids=["who-may-look", "who-may-no-longer"]
)
async def test_direct_messages_follow_what_their_person_may_see_now(
    slack: SlackServer, redis: Connection, user: str, may: bool
) -> None:
    team = slack.control.team
    look = only("*", people=(f"{team.id}:{team.person('requester').id}",))
    said = await after_a_check(slack, redis, look, stands_in=DIRECT, asked_in="platform-on-call", user=user)
    assert ("Checked again" in said) is may


async def test_where_slack_does_not_say_who_somebody_is_their_messages_stay_as_they_are(
    slack: SlackServer, redis: Connection
) -> None:
    slack.faults.append(Fault("error", "users.info", error="internal_error"))
    said = await after_a_check(slack, redis, ANYWHERE, stands_in=DIRECT, asked_in="platform-on-call")
    assert said.startswith("it stood here")


async def test_where_another_company_reads_along_an_older_answer_says_the_state_alone(
    slack: SlackServer, redis: Connection
) -> None:
    said = await after_a_check(slack, redis, ANYWHERE, stands_in="partner-support", asked_in="incidents")
    assert "UNHEALTHY" in said
    assert "Checked again" in said
    assert not [
        private for private in ("no quota", "98 of 100", "Before", "/archives/", "/subscriptions/") if private in said
    ]
    assert "button" not in said
