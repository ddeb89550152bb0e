"""Any sequence of events: repeated, late, edited, unfurled, our own, from bots. Nothing is taken in twice or lost."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from itertools import permutations
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from bot.address import Address
from bot.incidents.joining import join
from bot.incidents.model import Book, How
from bot.incidents.observing import Observation, observe
from bot.incidents.store import Incidents
from bot.incidents.turns import Turns
from bot.slack.inbound.message_reader import Me, Utterance, latest, names, original, read
from bot.store import keys
from bot.store.codec import decode, encode
from bot.store.connect import Connection
from tests.incidents.books import seen, sighting

NOW = 1_800_000_000.0
CLUSTERS = ("prod-weu", "dev-shared")
ME = Me("U0AKSBOT", "B0AKSBOT", "A0AKSBOT")
UNFURL = [{"from_url": "https://example.org", "text": "quota"}]

Kind = tuple[str, int, int]
"""The event, its message and its author."""
EVENTS = some.lists(
    some.tuples(
        some.sampled_from(["said", "again", "unfurled", "edited", "ours", "echo", "old", "check", "clear"]),
        some.integers(0, 5),
        some.integers(0, 1),
    ),
    max_size=40,
)


def body(kind: str, number: int, cluster: int, run: str) -> dict[str, Any]:
    """An event as Slack would send it."""
    seconds = NOW - 100_000 if kind == "old" else NOW - 60 + number
    said: dict[str, Any] = {
        "user": f"U{number}",
        "ts": f"{seconds:.0f}.00{cluster}",
        "text": f"{CLUSTERS[cluster]} is down",
    }
    if kind == "ours":
        said["bot_id"] = ME.bot
    if kind == "echo":
        said |= {"bot_id": "B0OTHER", "app_id": "A0OTHER", "ts": f"{NOW - 30:.0f}.{number}{cluster}"}
    event = {"channel": f"C{number % 2}{run}", "channel_type": "channel", **said}
    if kind in ("unfurled", "edited"):
        after = {"attachments": UNFURL} if kind == "unfurled" else {"text": f"{said['text']}!"}
        event |= {"subtype": "message_changed", "previous_message": said, "message": said | after, "ts": f"{NOW:.0f}.1"}
    return {"team_id": "T1", "event_id": f"{kind}{number}{cluster}{run}", "event": event}


@dataclass
class Model:
    """What must be so, kept in the simplest way."""

    messages: set[tuple[str, str]] = field(default_factory=set)
    posts: list[tuple[str, How]] = field(default_factory=list)


async def play(sequence: list[Kind], connection: Connection) -> None:
    """Each event goes the way that it goes in the bot; what is said in Slack is a list."""
    turns, incidents, model, run = Turns(connection.redis), Incidents(connection.redis), Model(), uuid4().hex
    for kind, number, cluster in sequence:
        team = f"T{run}"
        if kind in ("check", "clear"):
            roots = (("quota-exceeded", "westeurope"),) if kind == "check" else ()
            check = seen(*roots)

            def checked(book: Book, check: Observation = check) -> tuple[Book, None]:
                return observe(book, check)[0], None

            await incidents.change(team, CLUSTERS[cluster], checked)
            continue
        arrived = body(kind, number, cluster, run)
        said = read(arrived, ME, NOW)
        if not isinstance(said, Utterance):
            assert kind in ("ours", "old", "unfurled")
            continue
        kept = await turns.hear(names(arrived, said), said.turn, said.of, encode(said), timedelta())
        known = (said.channel, f"{said.ts} {said.edited}") in model.messages
        assert kept.needs_job is not known, "a message is taken in once, and never lost"
        model.messages.add((said.channel, f"{said.ts} {said.edited}"))
        if not kept.needs_job:
            continue
        texts = await turns.take(kept.turn, said.of)
        assert [decode(Utterance, one) for one in texts] == [said]
        one = sighting(said.id, cluster=CLUSTERS[cluster], channel=said.channel, thread=said.ts)
        joined = await incidents.change(team, one.cluster, partial(join, sighting=one))
        if joined.how in (How.NEW, How.REOPENED):
            model.posts.append((joined.incident.id, joined.how))
        await turns.done(kept.turn)
        assert await turns.take(kept.turn, said.of) == []
    for name in CLUSTERS:
        book = await incidents.book(f"T{run}", name)
        alive = [one for one in book.incidents if not one.is_closed]
        assert len(alive) <= 1, "one problem of one cluster is one incident"
        told = [how for one in book.incidents for _, how in one.seen]
        assert told.count(How.NEW) == len(book.incidents)
        homes = [one.home for one in book.incidents]
        assert len(set(homes)) == len(homes)
        for incident in book.incidents:
            assert incident.count == len(incident.seen) == len({name for name, _ in incident.seen})


async def test_whatever_comes_in_whatever_order_is_taken_in_once(connection: Connection) -> None:
    loop = asyncio.get_running_loop()

    @given(EVENTS)
    @settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
    def any_sequence(sequence: list[Kind]) -> None:
        asyncio.run_coroutine_threadsafe(play(sequence, connection), loop).result(60)

    await asyncio.to_thread(any_sequence)


@given(EVENTS)
@settings(deadline=None, max_examples=200)
def test_two_bots_cannot_keep_each_other_talking(sequence: list[Kind]) -> None:
    """Another bot repeats each of our posts in a new thread of the same channels: that makes no new post."""
    book, posts = Book(), 0
    for number, (kind, channel, _) in enumerate(sequence):
        if kind == "check":
            book, _ = observe(book, seen(("quota-exceeded", "westeurope")))
            continue
        said = sighting(f"m{number}", channel=f"C{channel % 2}")
        book, joined = join(book, said)
        posts += joined.how is not How.REPEAT
        for echo in range(20):
            book, joined = join(book, sighting(f"e{number}.{echo}", channel=f"C{channel % 2}"))
            assert joined.how is How.REPEAT
    assert posts <= 2, "one incident, and one link from each other channel"


async def test_a_job_that_never_came_is_asked_for_when_the_event_comes_again(connection: Connection) -> None:
    """The queue was away when the message was kept: Slack says it again, and it is not taken for done."""
    turns, arrived = Turns(connection.redis), body("said", 1, 0, "x")
    said = read(arrived, ME, NOW)
    assert isinstance(said, Utterance)
    for _ in range(2):
        kept = await turns.hear(names(arrived, said), said.turn, said.of, encode(said), timedelta(seconds=15))
        assert kept.needs_job
    assert len(await turns.take(kept.turn, said.of)) == 1
    await turns.done(kept.turn)
    assert not (await turns.hear(names(arrived, said), said.turn, said.of, encode(said), timedelta())).needs_job


async def test_what_comes_while_a_turn_is_open_is_in_it_and_after_that_in_the_next(connection: Connection) -> None:
    turns, of, lasts = Turns(connection.redis), ("T1", "C1", " U1"), timedelta(seconds=60)
    first = await turns.hear(("e1", "m1"), "turn-1", of, "one", lasts)
    second = await turns.hear(("e2", "m2"), "turn-2", of, "two", lasts)
    assert (first.turn, first.needs_job, second.turn, second.needs_job) == ("turn-1", True, "turn-1", False)
    assert await turns.take("turn-1", of) == ["one", "two"]
    third = await turns.hear(("e3", "m3"), "turn-3", of, "three", lasts)
    assert (third.turn, third.needs_job) == ("turn-3", True)


async def test_another_version_of_a_message_is_in_its_turn_until_somebody_has_read_it(connection: Connection) -> None:
    turns, team, run = Turns(connection.redis), "T1", uuid4().hex
    of, lasts = (team, f"C{run}", "requester"), timedelta(seconds=15)
    await turns.hear((f"e1{run}", f"m1{run}"), f"turn{run}", of, "one", lasts)
    for _ in range(2):  # Slack says some things twice
        later = (f"e2{run}", f"m1{run} later")
        kept = await turns.hear(later, f"changed{run}", of, "two", lasts, original=f"m1{run}")
        assert kept.turn == f"turn{run}"
    assert await turns.take(f"turn{run}", of) == ["one", "two"]
    last = await turns.hear((f"e4{run}", f"m1{run} last"), f"last{run}", of, "three", lasts, original=f"m1{run}")
    assert (last.turn, last.needs_job, last.lasts) == (f"last{run}", True, timedelta())
    assert await turns.take(f"turn{run}", of) == ["one", "two"], "a worker that repeats itself reads the same"


SAID = {
    "first": Utterance("T1", "", "1800000000.000100", "prod-weu is down", "U1"),
    "second": Utterance("T1", "", "1800000000.000200", "out of", "U1"),
    "changed": Utterance("T1", "", "1800000000.000200", "out of quota", "U1", edited="1800000000.000300"),
    "changed again": Utterance("T1", "", "1800000000.000200", "out of vCPU quota", "U1", edited="1800000000.000400"),
}


@pytest.mark.parametrize("order", list(permutations(SAID)), ids=", ".join)
async def test_in_whatever_order_a_turn_arrives_it_is_one_and_reads_the_same(
    connection: Connection, order: tuple[str, ...]
) -> None:
    turns, kept = Turns(connection.redis), []
    channel = f"C{uuid4().hex}"
    said = {name: replace(utterance, channel=channel) for name, utterance in SAID.items()}
    for one in (said[name] for name in order):
        first_version = original(one) if one.edited else None
        known_by, lasts = names({"event_id": one.turn}, one), timedelta(seconds=15)
        kept.append(await turns.hear(known_by, one.turn, one.of_person, encode(one), lasts, original=first_version))
    assert [one.turn for one in kept] == [kept[0].turn] * 4
    assert kept[0].needs_job
    texts = await turns.take(kept[0].turn, said["first"].of_person)
    assert [one.text for one in latest([decode(Utterance, text) for text in texts])] == [
        "prod-weu is down",
        "out of vCPU quota",
    ]


async def test_a_message_that_comes_after_it_was_taken_back_or_changed_says_nothing_new(connection: Connection) -> None:
    turns, run = Turns(connection.redis), uuid4().hex
    of, lasts = ("T1", f"C{run}", "requester"), timedelta(seconds=15)
    await turns.take_back((f"e1{run}", f"m1{run} later"), f"m1{run}", "", f"gone{run}")
    assert not (await turns.hear((f"e2{run}", f"m1{run}"), f"turn1{run}", of, "one", lasts)).needs_job
    assert await turns.take(f"turn1{run}", of) == []
    changed = f"changed{run}"
    await turns.hear((f"e3{run}", f"m2{run} later"), changed, of, "two, changed", timedelta(), original=f"m2{run}")
    await turns.hear((f"e4{run}", f"m2{run}"), f"turn2{run}", of, "two", lasts)
    assert await turns.take(changed, of) == ["two, changed"]
    assert await turns.take(f"turn2{run}", of) == []


async def test_what_an_app_posted_waits_once_and_not_for_ever(connection: Connection) -> None:
    incidents, app = Incidents(connection.redis), f"A{uuid4().hex}"
    for number in (*range(60), 59, 20):
        await incidents.waits("T1", app, f"turn-{number}")
    waiting = await incidents.waited("T1", app)
    assert len(waiting) == len(set(waiting)) == 50
    assert waiting[-2:] == ["turn-59", "turn-20"]
    assert 0 < await connection.redis.ttl(keys.app_waits("T1", app)) <= keys.TURN_TTL.total_seconds()


async def test_threads_know_their_incident_and_apps_are_decided_once(connection: Connection) -> None:
    incidents, spot = Incidents(connection.redis), Address(channel="C1", thread_ts="1.1")
    await incidents.change("T1", "prod-weu", lambda book: join(book, sighting("1.1", channel="C1")))
    await incidents.speaks_in("T1", spot, "prod-weu")
    (told,) = await incidents.told_in("T1", spot)
    assert told is not None
    assert told.cluster == "prod-weu"
    assert await incidents.told_in("T2", spot) == []
    assert await incidents.is_alert_app("T1", "A1") is None
    assert await incidents.allow_app("T1", "A1", "U1", allowed=True)
    assert not await incidents.allow_app("T1", "A1", "U2", allowed=False)
    assert await incidents.is_alert_app("T1", "A1") is True
