"""An older answer is over once nothing of what it found is left, neither its causes nor their consequences."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.checks.store.recent import RecentCheck
from bot.report.events import Report
from bot.slack.api.poster import Reply
from bot.slack.checks.reporter import HEAD
from bot.slack.kit.message import Message
from bot.store import keys
from bot.store.codec import encode
from bot.store.connect import Connection
from handlers.model import Diagnosis, Outcome, Ranked
from sandbox.slack.server import SlackServer
from tests.bot.diagnoses import CLUSTER, check, clear, found, warned
from tests.slack_app.reading import seen
from tests.slack_app.test_superseded_places import ANYWHERE, BEFORE, Address, superseding

FINDINGS = tuple(ranked.finding.key for ranked in found().findings)
"""The first is the cause."""


def pool_still_failed() -> Diagnosis:
    """There is room again, and the pool, which nobody has touched, is its own cause now."""
    pool = found().findings[1].finding
    ended = check("nodepool-failed", Outcome.FOUND, "provisioningState is Failed", pool)
    checks = tuple(ended if one.id == ended.id else one for one in clear().checks)
    return replace(clear(), findings=(Ranked(pool),), checks=checks)


async def after_a_look(
    slack: SlackServer, redis: Connection, diagnosis: Diagnosis, *, earlier_version: bool = False
) -> tuple[str, RecentCheck]:
    """What an answer about a full quota says after a look of which nothing is told, and what is remembered of it."""
    team, person, channel = slack.control.team, slack.control.team.person("requester").id, "incidents"
    there = Address(team.id, team.channel(channel).id, person)
    async with superseding(slack, redis, ANYWHERE) as (newer, poster, recent):
        head, _ = await poster.once(Reply("old", there, BEFORE), HEAD, Message("it stood here"))
        old = RecentCheck("old", "prod-weu", "UNHEALTHY", "no quota", person, head.channel, BEFORE, ts=head.message_ts)
        old = replace(old, id=CLUSTER, roots=FINDINGS[:1], findings=FINDINGS)
        if earlier_version:
            written = {name: value for name, value in json.loads(encode(old)).items() if name != "findings"}
            text = json.dumps(written, separators=(",", ":"))
            await redis.redis.zadd(keys.recent(team.id), {text: BEFORE.timestamp()})
        else:
            await recent.add(team.id, old)
        await newer.seen(team.id, Report(diagnosis, 1.0, 1))
        (kept,) = await recent.latest(team.id, datetime.now(UTC))
    return seen(next(one for one in slack.control.messages(channel) if one.ts == head.message_ts)), kept


@pytest.mark.parametrize("earlier_version", [False, True])
async def test_a_consequence_that_is_left_keeps_it_from_being_over(
    slack: SlackServer, redis: Connection, earlier_version: bool
) -> None:
    said, kept = await after_a_look(slack, redis, pool_still_failed(), earlier_version=earlier_version)
    assert (said, kept.now) == ("it stood here", "")


@pytest.mark.parametrize("earlier_version", [False, True])
@pytest.mark.parametrize("now", [clear(), replace(clear(), findings=warned().findings)], ids=["clear", "warned"])
async def test_it_is_over_once_all_of_it_is_gone(
    slack: SlackServer, redis: Connection, now: Diagnosis, earlier_version: bool
) -> None:
    said, kept = await after_a_look(slack, redis, now, earlier_version=earlier_version)
    assert "Over" in said
    assert kept.now == "over", "it is not edited again"
