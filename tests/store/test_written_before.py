"""A store written by an earlier version, with jobs in flight, can be read: an upgrade loses nothing.

`stored/` has it key by key, as it was in Redis. Never regenerate it: add another one when the format
changes.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import pytest

from bot.address import Address
from bot.checks.request import CheckRequest
from bot.checks.service import CHECK
from bot.checks.store.recent import RecentChecks
from bot.checks.store.running import RunningChecks
from bot.fixes import runner
from bot.fixes.moves import NotMoved
from bot.fixes.proposal import Proposal
from bot.fixes.proposal import State as FixState
from bot.fixes.runner import Piece
from bot.fixes.store.executions import Executions
from bot.fixes.store.offers import FixesInHand, OfferedPlans
from bot.fixes.store.proposals import Proposals
from bot.incidents.alerts import Alert
from bot.incidents.model import Cause, How, Verdict
from bot.incidents.model import State as IncidentState
from bot.incidents.store import Incidents
from bot.incidents.turns import Turns
from bot.incidents.watches import Watches
from bot.queue.cancel import end
from bot.queue.job import Job, Kind
from bot.queue.priority import Priority
from bot.queue.worker import Queue
from bot.report import report_json
from bot.report.events import Selection
from bot.slack.inbound import asks
from bot.slack.inbound.asks import Ask, What
from bot.slack.inbound.message_reader import Utterance
from bot.slack.incidents import tasks
from bot.slack.incidents.tasks import Do, Task
from bot.store.codec import decode
from bot.store.connect import Connection
from bot.store.state import Posting, State
from handlers.fleet.cluster_text import ClusterRef
from handlers.problem import Problem
from handlers.remedy.execution import Phase
from tests.bot.diagnoses import CLUSTER
from tests.fixes.plans import APPROVER, PLAN, REQUESTER

STORED = Path(__file__).parent / "stored"
KEPT = json.loads((STORED / "before_one_envelope.json").read_text("utf-8"))
NAMES: dict[str, str] = KEPT["names"]
AT = datetime(2026, 11, 19, 2, 30, tzinfo=UTC)
TS = "1795055400.000100"
THREAD = Address(channel="C1", thread_ts=TS)
ASKED = Address("T1", "C1", "U1", TS, response_url="https://hooks.slack.com/commands/T1/2/3")

P = TypeVar("P")


async def _put(redis: Any, name: str, kind: str, value: Any) -> None:
    if kind == "string":
        await redis.set(name, value)
    elif kind == "hash":
        await redis.hset(name, mapping=value)
    elif kind == "set":
        await redis.sadd(name, *value)
    elif kind == "list":
        await redis.rpush(name, *value)
    elif kind == "zset":
        await redis.zadd(name, dict(value))
    else:
        for number, fields in value:
            await redis.xadd(name, fields, id=number)


@pytest.fixture
async def store(connection: Connection) -> Connection:
    """As it stood. Those who follow it do not notice that it is another server."""
    for name, held in KEPT["keys"].items():
        await _put(connection.redis, name, held["type"], held["value"])
    return connection


class Worker:
    """Notes the jobs that it is given."""

    def __init__(self) -> None:
        self.done: dict[str, Any] = {}
        self._noted = asyncio.Condition()

    def kind(self, name: str, payload: type[P]) -> Kind[P]:
        async def run(given: P, interrupted: asyncio.Event) -> bool:
            await self._note(given)
            return True

        async def give_up(given: P, problem: Problem) -> None:
            raise AssertionError(problem)

        return Kind(name, payload, run, give_up)

    async def _note(self, given: Any) -> None:
        name = f"fix-{given.number}" if isinstance(given, Piece) else given.id
        async with self._noted:
            self.done[name] = given
            self._noted.notify_all()

    @asynccontextmanager
    async def at_work(self, connection: Connection, most_tries: int = 5) -> AsyncIterator[None]:
        kinds = (
            self.kind(CHECK, CheckRequest),
            self.kind(asks.KIND, Ask),
            self.kind(tasks.KIND, Task),
            self.kind(runner.KIND, Piece),
        )
        queue = Queue(connection.url, connection.redis, kinds, most_tries=most_tries)
        working = asyncio.create_task(queue.keep_working())
        try:
            yield
        finally:
            await queue.drain(1.0)
            await working

    async def has(self, *names: str) -> None:
        async with asyncio.timeout(60), self._noted:
            await self._noted.wait_for(lambda: self.done.keys() >= set(names))


async def test_every_job_in_the_queue_is_done_with_all_that_it_held(store: Connection) -> None:
    worker = Worker()
    async with worker.at_work(store):
        await worker.has("command-1", "event-1-said", "click-1", "turn-1", "alert-a-1", "fix-3")
    check, said, click = (worker.done[name] for name in ("command-1", "event-1-said", "click-1"))
    assert check == CheckRequest(
        "command-1", ClusterRef.of(CLUSTER), ASKED, Selection("network"), fresh=True, asked_at=AT
    )
    assert (said.what, said.place, said.said.text, said.said.blocks) == (
        What.SAY,
        ASKED,
        "It is down",
        ({"type": "divider"},),
    )
    assert (click.what, click.pressed, click.number, click.view, click.pressed_ms, click.asked_at) == (
        What.FIX_APPROVE,
        '["p","d","c","C1","1.1"]',
        2,
        "V1",
        int(AT.timestamp() * 1000),
        AT,
    )
    assert worker.done["turn-1"] == Task(
        "turn-1",
        Do.TURN,
        ASKED,
        "U0BOT",
        "prod-weu",
        "i-1",
        "quota-exceeded",
        "it is down",
        1,
        ("T1", "C1", f"{TS} U1"),
    )
    alert = worker.done["alert-a-1"]
    assert (alert.do, alert.place) == (Do.ALERT, Address("T1"))
    assert decode(Alert, alert.text) == Alert(
        "Alertmanager", "a-1", "Nodes are not Ready", "NodeNotReady\nprod-weu", over=True, chosen="Nodes are not Ready"
    )
    assert worker.done["fix-3"] == Piece(NAMES["running"], 3, 1, 0.5)


async def _submit(connection: Connection, kind: Kind[P], job: Job[P]) -> None:
    queue = Queue(connection.url, connection.redis, (kind,))
    sending = asyncio.create_task(queue.send_until_stopped())
    await queue.submit(job)
    await end(sending)


async def test_a_job_that_cannot_be_read_is_given_up_and_costs_no_other(connection: Connection) -> None:
    """As a later version may have written it."""
    ours, asked = Worker(), CheckRequest("command-9", ClusterRef.of(CLUSTER), ASKED)
    await _submit(connection, Worker().kind(CHECK, str), Job("command-8", "unreadable", Priority.CLICK))
    await _submit(connection, ours.kind(CHECK, CheckRequest), Job("command-9", asked, Priority.TRIAGE))
    async with ours.at_work(connection, most_tries=1):
        await ours.has("command-9")
    assert ours.done == {"command-9": asked}


async def test_who_waits_for_a_check_that_runs_is_still_known(store: Connection) -> None:
    running = RunningChecks(store.redis)
    waiting = [decode(CheckRequest, one.request) for one in await running.waiting(NAMES["asking"])]
    assert {one.id: one.place for one in waiting} == {"command-1": ASKED, "command-3": Address("T1", "C2", "U3")}
    assert {one.question for one in waiting} == {NAMES["asking"]}


async def test_a_report_that_was_shown_opens_its_buttons(store: Connection) -> None:
    kept = await RunningChecks(store.redis).report("command-2")
    assert kept
    report = report_json.load(kept.text)
    (offer,) = report.offers
    assert (offer.plan, report.diagnosis.findings[0].finding.facts["limit"]) == (PLAN, 100)


async def test_what_was_answered_lately_is_listed(store: Connection) -> None:
    first, second = await RecentChecks(store.redis).latest("T1", AT)
    assert (first.request, first.at, first.ts, first.area, first.of_the_whole) == (
        "command-1",
        AT,
        TS,
        "network",
        False,
    )
    assert (second.cluster, second.verdict, second.cause, second.channel) == ("prod-neu", "", "no access", "D1")


async def test_what_stands_in_slack_is_not_said_again(store: Connection) -> None:
    state = State(store.redis)
    assert await state.posting("command-1", "head", AT) == Address(channel="C1", message_ts=TS)
    assert await state.posting("command-1", "thread-0", AT) is Posting.UNSURE
    assert await state.default_cluster("T1", "C1") == "prod-weu"


async def test_an_incident_goes_on_in_its_thread(store: Connection) -> None:
    incidents = Incidents(store.redis)
    (one,) = await incidents.told_in("T1", THREAD)
    assert (one.home, one.elsewhere) == (THREAD, (Address(channel="C2", thread_ts="1795055401.000200"),))
    assert (one.state, one.verdict, one.rounds) == (IncidentState.OPEN, Verdict.CONFIRMED, 2)
    assert one.causes == (Cause("quota-exceeded", "standardDSv5Family", "96 of 100 vCPUs"),)
    assert one.seen == (("i-1", How.NEW), ("i-1b", How.REOPENED))
    assert await incidents.open_threads("T1", "C1") == [THREAD]
    assert await incidents.is_hushed("T1", Address("T1", "C3", "U1", "1.1"))


async def test_apps_mutes_turns_and_watches_are_still_there(store: Connection) -> None:
    incidents, now_ms = Incidents(store.redis), int(AT.timestamp() * 1000)
    assert await incidents.is_alert_app("T1", "A1")
    assert [(one.code, one.reason) for one in await incidents.mutes("T1", now_ms)] == [("subnet-full", "a migration")]
    (turn,) = await incidents.waited("T1", "A1")
    spoken, card = (decode(Utterance, one) for one in await Turns(store.redis).kept(turn))
    assert (spoken.spot, spoken.files[0].preview, card.app, card.stranger) == (THREAD, "error", "A1", True)
    first, second = await Watches(store.redis).all_of("T1", now_ms)
    assert (first.thread_ts, first.causes) == (TS, (("quota-exceeded", "standardDSv5Family"),))
    assert (second.thread_ts, second.causes, second.state) == ("", (), "Updating")


async def test_a_fix_that_runs_is_carried_on_with_the_plan_that_was_approved(store: Connection) -> None:
    proposals, executions = Proposals(store.redis), Executions(store.redis)
    one = await proposals.load(NAMES["running"])
    assert one
    assert (one.state, one.requester, one.spot) == (FixState.RUNNING, REQUESTER, THREAD)
    assert [(word.person, word.digest) for word in one.approvals] == [(APPROVER, PLAN.digest)]
    here = await executions.load(one.id)
    assert here
    assert (here.plan, here.phase, here.began, here.calls[0].result) == (PLAN, Phase.RUNNING, AT, "202")
    assert [name async for name in executions.running()] == [one.id]
    assert await OfferedPlans(store.redis).proposal("command-1", PLAN.digest) == one.id
    in_hand = FixesInHand(store.redis)
    assert decode(Piece, await in_hand.later_piece(one.id, 0, "{}")) == Piece(one.id, 3, 1, 0.5)
    assert await in_hand.unreported_outcomes() == [one.id]


async def test_a_fix_that_was_offered_can_still_be_asked_for(store: Connection) -> None:
    def ask(one: Proposal, now_ms: int) -> Proposal:
        return one.moved(requester=REQUESTER)

    moved = await Proposals(store.redis).move(NAMES["offered"], ask)
    assert not isinstance(moved, NotMoved)
    assert (moved.requester, moved.spot.message_ts, moved.rules.needed) == (REQUESTER, TS, 2)
    again = await Proposals(store.redis).load(NAMES["offered"])
    assert again == moved
