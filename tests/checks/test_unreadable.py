"""A record that cannot be read, damaged or of another version, is not there: what can be read is used all the same."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

import pytest

from bot.address import Address
from bot.checks.store.recent import RecentCheck, RecentChecks
from bot.checks.store.running import RunningChecks
from bot.incidents.joining import join
from bot.incidents.model import Book, Sighting
from bot.incidents.mutes import Mute
from bot.incidents.store import Incidents
from bot.incidents.watches import Watches
from bot.incidents.watching import Watch
from bot.report import report_json
from bot.report.events import Report
from bot.slack.inbound.message_reader import Utterance
from bot.slack.incidents.handlers import readable
from bot.store import keys
from bot.store.codec import decode, encode
from bot.store.connect import Connection
from handlers.problem import Problem
from tests.bot.diagnoses import found
from tests.checks.people import Listener, SlowCheck, request, working

NOW = datetime(2026, 3, 4, 3, 12, tzinfo=UTC)
NOW_MS = int(NOW.timestamp() * 1000)
LATER_MS = 4_000_000_000_000
BROKEN = ("", "null", "{", '{"of": "another version"}', "[1, 2]", '"text"')
"""What may stand there instead of a record."""
SIGHTING = Sighting("s1", "prod-weu", ("quota-exceeded",), "why", Address(channel="C1", thread_ts="1"), "1", NOW_MS)


@pytest.mark.parametrize("text", BROKEN)
async def test_lists_leave_it_out(connection: Connection, text: str) -> None:
    redis, recent = connection.redis, RecentChecks(connection.redis)
    check = RecentCheck("r1", "prod-weu", "FOUND", "no quota", "U1", "C1", NOW)
    await recent.add("T1", check)
    await redis.zadd(keys.recent("T1"), {text: NOW.timestamp()})
    assert await recent.latest("T1", NOW) == [check]

    watches, watch = Watches(redis), Watch("w1", "T1", "/id", "prod-weu", "C1", "", "U1", 1, LATER_MS, "", ())
    await watches.put(watch)
    await redis.hset(keys.watches("T1"), "w2", text)
    assert await watches.all_of("T1", 1) == [watch]
    assert await watches.get("T1", "w2") is None

    incidents, mute = Incidents(redis), Mute("quota-exceeded", "prod-weu", LATER_MS)
    await incidents.mute("T1", mute)
    await redis.zadd(keys.mutes("T1"), {"broken": mute.until_ms})
    await redis.set(keys.mute("T1", "broken"), text)
    assert await incidents.mutes("T1", NOW_MS) == [mute]

    said = Utterance("T1", "C1", "1.2", "prod-weu is down", "U1")
    assert readable([text, encode(said)]) == [said]


@pytest.mark.parametrize("text", BROKEN)
async def test_incidents_begin_anew_and_an_app_is_asked_about_again(connection: Connection, text: str) -> None:
    incidents = Incidents(connection.redis)
    await connection.redis.set(keys.incidents("T1", "prod-weu"), text)
    assert await incidents.book("T1", "prod-weu") == Book()
    joined = await incidents.change("T1", "prod-weu", lambda book: join(book, SIGHTING))
    assert (await incidents.book("T1", "prod-weu")).incidents == (joined.incident,)
    await connection.redis.hset(keys.alert_apps("T1"), "A1", text)
    assert await incidents.is_alert_app("T1", "A1") is None
    assert await incidents.allow_app("T1", "A1", "U1", allowed=True)
    assert await incidents.is_alert_app("T1", "A1") is True


@pytest.mark.parametrize("text", ["{", "[1, 2]", "zlib:no", "zlib:VPaVQ"])
async def test_a_report_that_cannot_be_read_is_made_again(connection: Connection, text: str) -> None:
    check, listener, ada = SlowCheck(waits=False), Listener(), request("ada")
    running = RunningChecks(connection.redis)
    at_ms = int(datetime.now(UTC).timestamp() * 1000)
    await connection.redis.set(keys.result(ada.question), f"{at_ms} {text}")
    await connection.redis.set(keys.report("bob"), f"{at_ms} {text}")
    async with working(connection, check, listener) as jobs:
        await jobs.check(ada)
        (told,) = await listener.answered("ada")
        assert await jobs.checks.report("bob") is None
    assert told.how == "done"
    assert check.began == ["ada"]
    kept = await running.kept(ada.question)
    assert kept
    assert report_json.load(kept.text).diagnosis == found()


async def test_a_request_that_cannot_be_read_holds_up_nobody_who_waits_for_the_same(connection: Connection) -> None:
    check, listener, ada = SlowCheck(), Listener(), request("ada")
    async with working(connection, check, listener) as jobs:
        await jobs.check(ada)
        await listener.heard("started", "ada")
        await connection.redis.hset(keys.asking(ada.question), "eve", "1 {broken")
        check.go.set()
        await listener.answered("ada")
        await jobs.check(bob := request("bob", fresh=True))
        await listener.answered("bob")
    assert bob.question == ada.question
    assert [told.how for told in listener.answers()] == ["done", "done"]


async def test_a_request_that_cannot_be_read_does_not_keep_the_others_from_hearing_that_it_was_given_up(
    connection: Connection,
) -> None:
    check, listener, ada = SlowCheck(), Listener(), request("ada")
    async with working(connection, check, listener) as jobs:
        await connection.redis.hset(keys.asking(ada.question), "eve", "1 {broken")
        await jobs.checks.give_up(ada, Problem("cannot check", "no reason", "try again"))
        assert not await connection.redis.exists(keys.asking(ada.question))
    assert [told.how for told in listener.answers("ada")] == ["gave up"]


def test_the_log_says_so_once(caplog: pytest.LogCaptureFixture) -> None:
    text = report_json.dump(Report(found(), 1.0, 1)).replace('"findings"', '"once findings"')
    with caplog.at_level(logging.ERROR):
        for _ in range(3):
            assert report_json.load_or_none(text) is None
    assert [record.getMessage().partition(" (")[0] for record in caplog.records] == [
        "the report of a check cannot be read and counts as not there"
    ]


def test_whatever_a_record_stumbles_over_it_is_a_value_error() -> None:
    report = report_json.dump(Report(found(), 1.0, 1))
    for broken in (report.replace('"offers":[]', '"offers":[{}]'), report.replace('"offers":[]', '"offers":[7]')):
        assert broken != report
        with pytest.raises(ValueError, match=r"offers|KeyError|TypeError|AttributeError"):
            decode(report_json.Kept, broken)
