"""Random conversations about incidents: several people and clusters, alerts, edits, checks, and what is over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Any, cast
from uuid import uuid4

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from bot.address import Address
from bot.checks.request import CheckRequest
from bot.incidents.model import Book, Incident, Sighting
from bot.incidents.observing import Observation
from bot.incidents.spans import Spans
from bot.incidents.store import Incidents
from bot.slack.incidents import view as incidents_view
from bot.slack.incidents.messages import IncidentMessages
from bot.slack.incidents.queue import IncidentQueue
from bot.slack.incidents.service import IncidentService
from bot.slack.incidents.tasks import Task
from bot.store.connect import Connection
from tests.checking import LIBRARY
from tests.incidents.books import seen

CLUSTERS = ("prod-weu", "prod-eus2")
CODES = ("quota-exceeded", "subnet-full", "node-not-ready")
EVENTS = some.lists(
    some.one_of(
        some.tuples(
            some.just("said"),
            some.integers(0, 3),
            some.sampled_from(CLUSTERS),
            some.sampled_from(CODES),
            some.integers(0, 5),
        ),
        some.tuples(
            some.just("alert"), some.just(9), some.sampled_from(CLUSTERS), some.sampled_from(CODES), some.just(0)
        ),
        some.tuples(
            some.just("edited"),
            some.integers(0, 9),
            some.sampled_from(CLUSTERS),
            some.sampled_from(CODES),
            some.just(0),
        ),
        some.tuples(
            some.just("check"),
            some.just(0),
            some.sampled_from(CLUSTERS),
            some.sampled_from(CODES),
            some.integers(0, 3),
        ),
        some.tuples(some.just("clear"), some.just(0), some.sampled_from(CLUSTERS), some.just(""), some.just(0)),
    ),
    max_size=25,
)
Event = tuple[str, int, str, str, int]


@dataclass
class Thread:
    """A fake Slack thread that records cards, links and their owners."""

    cards: dict[str, str] = field(default_factory=dict)
    """The first line of each card."""
    links: set[tuple[Address, str]] = field(default_factory=set)
    proved: dict[str, set[str]] = field(default_factory=dict)
    """The findings that checks have confirmed per cluster."""
    latest: dict[str, set[str]] = field(default_factory=dict)
    """What the latest check of each cluster has found."""
    numbers: Any = field(default_factory=count)

    async def show(self, team: str, book: Book, incident: Incident) -> None:
        home = book.get(incident.merged_into) if incident.merged_into else None
        card = incidents_view.card(incident, LIBRARY, lambda spot: "", home=home)
        self.cards[incident.id] = card.text
        if incident.causes:
            true = self.proved if incident.is_closed else self.latest
            titles = [incidents_view.title_of(LIBRARY, code) for code in true[incident.cluster]]
            assert any(title in card.text for title in titles), "its title is what the latest check has proved"

    async def react(self, incident: Incident) -> None:
        return None

    async def head(self, team: str, incident: Incident) -> Address:
        return Address(channel=incident.home.channel, message_ts=f"head-{next(self.numbers)}")

    async def point_from(self, team: str, incident: Incident, spot: Address, *, apart: bool = False) -> None:
        assert spot != incident.home, "nobody is sent to where they are"
        assert not incident.proved or incident.proved in self.proved[incident.cluster], "a guess is not passed on"
        self.links.add((spot, incident.cluster))


@dataclass
class Line:
    """The queue: what is to be done, and not done here."""

    checks: set[str] = field(default_factory=set)

    async def submit(self, task: Task, *, after_s: float = 0.0) -> None:
        return None

    async def check(self, request: CheckRequest) -> None:
        self.checks.add(request.id)


@dataclass
class Played:
    service: IncidentService
    incidents: Incidents
    thread: Thread
    team: str
    said: list[tuple[Sighting, str]] = field(default_factory=list)
    """Each report with its incident."""

    async def play(self, event: Event) -> None:
        what, who, cluster, code, number = event
        if what in ("check", "clear"):
            codes = [code, *CODES[number : number + 1]] if code else []
            self.thread.proved.setdefault(cluster, set()).update(codes)
            self.thread.latest[cluster] = set(codes)
            roots = tuple((found, "westeurope") for found in dict.fromkeys(codes))
            await self._observed(cluster, seen(*roots))
            return
        self.thread.proved.setdefault(cluster, set())
        if what == "edited":
            if not self.said:
                return
            before = self.said[who % len(self.said)][0]
            name, spot, user = before.id, before.spot, before.user
        else:
            user = f"U{who}" if what == "said" else ""
            name, spot = f"m{len(self.said)}", Address(channel=f"C{who % 2}", thread_ts=f"m{len(self.said)}")
            if what == "said" and number < len(self.said):
                spot = self.said[number][0].spot  # a reply in somebody's thread
        sighting = Sighting(name, cluster, (code,), "its words", spot, name, 1, user=user)
        joined = await self.service.report(self.team, sighting, user or "B1")
        self.said.append((sighting, joined.incident.id))

    async def _observed(self, cluster: str, observation: Observation) -> None:
        await self.service._observed(self.team, cluster, observation)

    async def judge(self) -> None:
        books = {name: await self.incidents.book(self.team, name) for name in CLUSTERS}
        homes: dict[Address, str] = {}
        for name, book in books.items():
            for incident in book.incidents:
                assert homes.setdefault(incident.home, name) == name, "a thread is about one cluster"
        for sighting, identity in self.said:
            if sighting.user:
                self._is_told(sighting, books[sighting.cluster], identity)
        assert not any(":red_circle:" in card for card in self.thread.cards.values()), "what is clear is not red"

    def _is_told(self, sighting: Sighting, book: Book, identity: str) -> None:
        incident = book.get(identity)
        assert incident is not None
        spots = {one.spot for one, _ in self.said if one.user == sighting.user and one.cluster == sighting.cluster}
        homes = {one.home for one in book.incidents}
        linked = {spot for spot, cluster in self.thread.links if cluster == sighting.cluster}
        named = {user for one in book.incidents for user in one.joined}
        assert spots & (homes | linked) or sighting.user in named, "whoever reports it has an answer or a link"


async def conversation(events: list[Event], connection: Connection) -> None:
    incidents, thread = Incidents(connection.redis), Thread()

    async def nothing_else(team: str, report: Any) -> None:
        return None

    service = IncidentService(
        queue=cast("IncidentQueue", Line()),
        incidents=incidents,
        telling=cast("IncidentMessages", thread),
        run=cast("Any", None),
        spans=Spans(looks_again=(), together=timedelta(seconds=1)),
        looked=nothing_else,
    )
    played = Played(service, incidents, thread, f"T{uuid4().hex}")
    for event in events:
        await played.play(event)
    for name in CLUSTERS:
        for _ in range(2):  # the first look settles what no scheduler has looked at
            await played.play(("clear", 0, name, "", 0))
    await played.judge()


async def test_in_any_conversation_each_thread_has_one_cluster_and_nobody_is_left_without_an_answer(
    connection: Connection,
) -> None:
    run = _here(asyncio.get_running_loop())

    @given(EVENTS)
    @settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
    def any_conversation(events: list[Event]) -> None:
        run(conversation(events, connection))

    await asyncio.to_thread(any_conversation)


def _here(loop: asyncio.AbstractEventLoop) -> Callable[[Coroutine[Any, Any, None]], None]:
    def run(work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, loop).result(60)

    return run


async def test_a_message_that_is_changed_to_name_another_cluster_keeps_no_link_from_its_second(
    connection: Connection,
) -> None:
    events: list[Event] = [
        ("alert", 9, "prod-eus2", "quota-exceeded", 0),
        ("edited", 0, "prod-weu", "quota-exceeded", 0),
        ("alert", 9, "prod-weu", "quota-exceeded", 0),
        ("said", 0, "prod-weu", "quota-exceeded", 0),
        ("said", 0, "prod-weu", "quota-exceeded", 0),
        ("said", 0, "prod-eus2", "quota-exceeded", 2),
    ]
    await conversation(events, connection)


async def test_whoever_opens_it_again_in_the_thread_of_another_cluster_gets_a_link(connection: Connection) -> None:
    events: list[Event] = [
        ("said", 0, "prod-weu", "quota-exceeded", 0),
        ("alert", 9, "prod-eus2", "quota-exceeded", 0),
        ("check", 0, "prod-eus2", "quota-exceeded", 3),
        ("check", 0, "prod-eus2", "subnet-full", 3),
        ("said", 0, "prod-eus2", "quota-exceeded", 0),
    ]
    await conversation(events, connection)


async def test_of_two_problems_that_were_reported_and_found_the_one_that_lasts_is_the_title(
    connection: Connection,
) -> None:
    events: list[Event] = [
        ("said", 0, "prod-weu", "quota-exceeded", 9),
        ("said", 1, "prod-weu", "subnet-full", 9),
        ("check", 0, "prod-weu", "quota-exceeded", 1),
        ("check", 0, "prod-weu", "subnet-full", 1),
    ]
    await conversation(events, connection)


async def test_what_was_proved_and_is_gone_is_no_longer_red(connection: Connection) -> None:
    events: list[Event] = [
        ("said", 0, "prod-weu", "node-not-ready", 9),
        ("check", 0, "prod-weu", "quota-exceeded", 3),
        ("said", 1, "prod-eus2", "subnet-full", 0),
        ("said", 2, "prod-weu", "quota-exceeded", 9),
    ]
    await conversation(events, connection)
