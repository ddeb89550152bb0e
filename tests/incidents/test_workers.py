"""Several workers on the incidents of one cluster: what one has proved, no other takes back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from bot.address import Address
from bot.incidents.model import How
from bot.policy.model import Look, LookRule
from bot.slack.incidents.tasks import Do
from bot.store import keys
from bot.store.connect import Connection
from sandbox.slack.cast import on_call_workspace
from sandbox.slack.message import Message
from sandbox.slack.server import Fault, SlackServer
from tests.deploy.slack_manifests import shipped
from tests.incidents.books import seen
from tests.incidents.workers import Worker, worker
from tests.slack_app.reading import seen as text_in
from tests.store.servers import until

QUOTA, SUBNET = ("quota-exceeded", "westeurope"), ("subnet-full", "aks-nodes")


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    async with SlackServer(on_call_workspace(), manifest=shipped()) as server:
        yield server


def cards(slack: SlackServer, channel: str = "incidents") -> list[Message]:
    found = [one for one in slack.control.messages(channel) if one.metadata]
    return [one for one in found if (one.metadata or {})["event_payload"]["part"] == "card"]


def said(slack: SlackServer, channel: str = "incidents") -> list[str]:
    bot = slack.control.team.bot.id
    return [text_in(one) for one in slack.control.messages(channel) if one.user == bot]


async def checked(
    judge: Worker, cluster: str, *roots: tuple[str, str], at_ms: int = 0, proof: str = "the proof"
) -> None:
    """A check of a cluster has ended."""
    found = seen(*roots, at_ms=at_ms)
    causes = tuple(replace(cause, said=proof) for cause in found.roots)
    await judge.service._observed(judge.team, cluster, replace(found, roots=causes))


async def test_a_card_that_is_late_does_not_overwrite_the_verdict_of_another_worker(
    slack: SlackServer, connection: Connection
) -> None:
    async with worker(slack, connection, timeout_s=1) as late, worker(slack, connection) as judge:
        # What the judge asks of Slack once for all, it has asked: the answers that do not come are the late one's.
        await judge.report(slack.control.say("approver", "platform-on-call", "prod-eus2: no quota"), "prod-eus2")
        await checked(judge, "prod-eus2", QUOTA)
        before = len(slack.log)
        await late.report(slack.control.say("requester", "incidents", "prod-weu: no quota"), "prod-weu")
        (show,) = [task for task in late.queue.tasks if task.do is Do.SHOW]
        slack.faults.append(Fault("timeout", "auth.test", times=2))
        showing = asyncio.create_task(late.do(show))

        async def is_asked() -> bool:
            return any(call.method == "auth.test" for call in slack.log[before:])

        await until(is_asked)
        await checked(judge, "prod-weu", QUOTA)
        await showing
    (card,) = cards(slack)
    assert "Confirmed:" in text_in(card)


async def test_what_one_worker_wrote_before_another_is_written_again_where_it_holds_again(
    slack: SlackServer, connection: Connection
) -> None:
    async with worker(slack, connection) as one, worker(slack, connection) as other:
        await one.report(slack.control.say("requester", "incidents", "prod-weu: no quota"), "prod-weu")
        for judge, proof in ((one, "198 of 200"), (other, "204 of 200"), (one, "198 of 200")):
            await checked(judge, "prod-weu", QUOTA, proof=proof)
            (card,) = cards(slack)
            assert proof in text_in(card)


async def test_of_several_reports_of_another_cluster_in_one_thread_at_once_one_gets_a_thread(
    slack: SlackServer, connection: Connection
) -> None:
    async with worker(slack, connection) as one, worker(slack, connection) as other:
        head = slack.control.say("requester", "incidents", "prod-weu: no quota")
        await one.report(head, "prod-weu")
        replies = [
            slack.control.say(user, "incidents", "prod-eus2: no quota", thread_ts=head.ts)
            for user in ("approver", "visitor")
        ]
        both = await asyncio.gather(
            one.report(replies[0], "prod-eus2"), other.report(replies[1], "prod-eus2"), return_exceptions=True
        )
        await checked(one, "prod-eus2", QUOTA)
    assert sorted(how for _, how in both) == [How.NEW, How.REPEAT]  # type: ignore[misc]
    (card,) = cards(slack)
    assert not card.is_reply
    assert "Confirmed:" in text_in(card)
    assert "prod-eus2" in text_in(card)
    assert all("prod-eus2" not in line or "thread" in line for line in _in_thread(slack, head))


async def test_a_worker_that_died_before_the_thread_stood_leaves_it_to_whoever_comes_next(
    slack: SlackServer, connection: Connection
) -> None:
    async with worker(slack, connection) as one:
        head = slack.control.say("requester", "incidents", "prod-weu: no quota")
        await one.report(head, "prod-weu")
        reply = slack.control.say("approver", "incidents", "prod-eus2: no quota", thread_ts=head.ts)
        slack.faults.append(Fault("error", "chat.postMessage", error="internal_error", times=1))
        with pytest.raises(Exception, match="internal_error"):
            await one.report(reply, "prod-eus2")
    async with worker(slack, connection) as next_one:
        await checked(next_one, "prod-eus2", QUOTA)
        (incident,) = (await next_one.incidents.book(next_one.team, "prod-eus2")).incidents
    (card,) = cards(slack)
    assert incident.home == Address(channel=card.channel, thread_ts=card.ts)
    assert "Confirmed:" in text_in(card)


async def test_a_thread_stays_its_clusters_own_for_as_long_as_somebody_speaks_of_it(
    slack: SlackServer, connection: Connection
) -> None:
    async with worker(slack, connection) as one:
        head = slack.control.say("requester", "incidents", "prod-weu: no quota")
        incident, _ = await one.report(head, "prod-weu")
        owner = keys.incident_thread_owner(one.team, head.channel, head.ts)
        lasts_s = int(keys.INCIDENT_TTL.total_seconds())
        for again in ("report", "check"):
            await connection.redis.expire(owner, 60)
            if again == "report":
                reply = slack.control.say("approver", "incidents", "still no quota", thread_ts=head.ts)
                await one.report(reply, "prod-weu")
            else:
                await checked(one, "prod-weu", QUOTA)
            assert await connection.redis.ttl(owner) > lasts_s - 60
        await connection.redis.delete(owner)  # of an earlier version, which did not keep it
        await checked(one, "prod-weu", QUOTA)
        assert not await one.incidents.owns(one.team, incident.home, "prod-eus2")


async def test_whoever_reports_it_again_gets_one_link_wherever_they_do(
    slack: SlackServer, connection: Connection
) -> None:
    async with worker(slack, connection) as one:
        await one.report(slack.control.say("requester", "incidents", "prod-weu: no quota"), "prod-weu")
        for _ in range(2):
            again = slack.control.say("approver", "platform-on-call", "prod-weu: no quota")
            await one.report(again, "prod-weu")
    assert len([line for line in said(slack, "platform-on-call") if "known already" in line]) == 1


async def test_the_sign_of_an_incident_that_is_back_stands_under_the_report_that_brought_it_back(
    slack: SlackServer, connection: Connection
) -> None:
    def signs() -> dict[str, list[str]]:
        return {one.text: list(one.reactions) for one in slack.control.messages("incidents") if one.reactions}

    async with worker(slack, connection) as one:
        await one.report(slack.control.say("requester", "incidents", "first"), "prod-weu")
        await checked(one, "prod-weu", QUOTA)
        await checked(one, "prod-weu", at_ms=1)
        assert signs() == {}
        _, how = await one.report(slack.control.say("approver", "incidents", "second"), "prod-weu")
        assert (how, signs()) == (How.REOPENED, {"second": ["eyes"]})
        await checked(one, "prod-weu", QUOTA)
    assert signs() == {}


async def test_what_a_later_check_finds_is_a_message_of_its_own_which_reaches_who_reported_it(
    slack: SlackServer, connection: Connection
) -> None:
    async with worker(slack, connection) as one:
        report = slack.control.say("requester", "incidents", "prod-weu: no quota")
        await one.report(report, "prod-weu")
        await checked(one, "prod-weu", SUBNET)
        before = len(_in_thread(slack, report))
        for _ in range(2):
            await checked(one, "prod-weu", SUBNET, QUOTA)
    *_, last = slack.control.thread("incidents", report.ts)
    assert len(_in_thread(slack, report)) == before + 1
    assert "A later check of" in text_in(last)
    assert "quota" in text_in(last).lower()
    assert "the proof" in text_in(last)
    assert report.user in str(last.blocks)


@pytest.mark.parametrize("channel", ["partner-support", "contractors"])
async def test_where_others_read_it_what_a_later_check_finds_is_said_without_its_proof(
    slack: SlackServer, connection: Connection, channel: str
) -> None:
    async with worker(slack, connection) as one:
        await one.report(slack.control.say("requester", channel, "prod-weu: no quota"), "prod-weu")
        await checked(one, "prod-weu", SUBNET)
        await checked(one, "prod-weu", SUBNET, QUOTA)
    assert "A later check of" in said(slack, channel)[-1]
    assert not any("the proof" in line for line in said(slack, channel))


async def test_where_nobody_may_look_any_more_a_card_is_left_as_it_is(
    slack: SlackServer, connection: Connection
) -> None:
    async with worker(slack, connection) as before:
        await before.report(slack.control.say("requester", "incidents", "prod-weu: no quota"), "prod-weu")
        await checked(before, "prod-weu", QUOTA)
    (stood,) = said(slack)
    elsewhere = slack.control.team.channel("platform-on-call").id
    look = Look(rules=(LookRule(clusters=("*",), channels=(elsewhere,)),))
    async with worker(slack, connection, look=look) as after:
        await checked(after, "prod-weu", at_ms=1)
        assert said(slack) == [stood]
    async with worker(slack, connection) as allowed:
        await checked(allowed, "prod-weu", at_ms=1)
    assert "Over:" in said(slack)[0]


def _in_thread(slack: SlackServer, head: Message) -> list[str]:
    bot = slack.control.team.bot.id
    return [text_in(one) for one in slack.control.thread("incidents", head.ts) if one.user == bot]
