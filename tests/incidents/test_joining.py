"""To which incident a message belongs."""

from __future__ import annotations

from dataclasses import replace

from bot.incidents.joining import join
from bot.incidents.model import Book, How, Incident, Sighting, State
from bot.incidents.observing import observe
from bot.incidents.store import read_book
from bot.store.codec import encode
from tests.incidents.books import ALERTS, HOUR_MS, seen, sighting

QUOTA = ("quota-exceeded", "westeurope")


NOTHING = Book()


def entered(*those: Sighting, book: Book = NOTHING) -> tuple[Book, list[How]]:
    hows = []
    for one in those:
        book, joined = join(book, one)
        hows.append(joined.how)
    return book, hows


def test_the_same_problem_in_other_words_and_places_is_one_incident() -> None:
    book, hows = entered(
        sighting("1"),
        sighting("2", "quota-exceeded", "nodepool-failed"),
        sighting("3", channel=ALERTS),
        sighting("4", channel=ALERTS),
    )
    assert hows == [How.NEW, How.REPEAT, How.ELSEWHERE, How.REPEAT]
    (incident,) = book.incidents
    assert incident.count == 4
    assert [one.channel for one in incident.elsewhere] == [ALERTS]


def test_a_repetition_changes_nothing_and_is_what_it_was_the_first_time() -> None:
    book, _ = entered(sighting("1"), sighting("2", channel=ALERTS))
    again, hows = entered(sighting("1"), sighting("2", channel=ALERTS), book=book)
    assert again == book
    assert hows == [How.NEW, How.ELSEWHERE]


def test_while_nothing_is_checked_yet_all_about_a_cluster_is_one_incident() -> None:
    _, hows = entered(sighting("1", "nodepool-failed"), sighting("2", "node-not-ready"))
    assert hows == [How.NEW, How.REPEAT]


def test_after_the_check_what_it_did_not_find_is_an_incident_of_its_own() -> None:
    book, _ = entered(sighting("1"))
    book, _ = observe(book, seen(QUOTA))
    _, hows = entered(sighting("2", "node-not-ready"), book=book)
    assert hows == [How.NEW]


def test_after_the_check_what_follows_from_the_cause_belongs_to_it() -> None:
    book, _ = entered(sighting("1", "nodepool-failed"))
    book, _ = observe(book, seen(QUOTA, explained=(("nodepool-failed", "quota-exceeded"),)))
    _, hows = entered(sighting("2", "quota-exceeded"), sighting("3", "nodepool-failed"), book=book)
    assert hows == [How.REPEAT, How.REPEAT]


def test_within_a_day_it_is_opened_again_in_its_thread_and_later_anew() -> None:
    book, _ = entered(sighting("1"))
    book, _ = observe(book, seen(QUOTA))
    book, _ = observe(book, seen(at_ms=HOUR_MS))
    assert book.incidents[0].state is State.CLOSED
    soon, hows = entered(sighting("2", at_ms=20 * HOUR_MS), book=book)
    assert hows == [How.REOPENED]
    assert (soon.incidents[0].home.thread_ts, soon.incidents[0].rounds) == ("1", 2)
    late, hows = entered(sighting("2", at_ms=26 * HOUR_MS), book=book)
    assert hows == [How.NEW]
    assert late.incidents[-1].home.thread_ts == "2"


def test_its_own_thread_is_its_own_whatever_is_said_there() -> None:
    book, _ = entered(sighting("1"))
    book, _ = observe(book, seen(QUOTA))
    _, hows = entered(sighting("2", "subnet-full", thread="1"), book=book)
    assert hows == [How.REPEAT]


def test_what_was_written_in_another_channel_is_not_repeated_in_the_thread() -> None:
    book, _ = join(Book(), replace(sighting("s1"), signs=(("quota-exceeded", "“quota”"),)))
    there = replace(sighting("s2", "subnet-full", channel="C0PRIVATE"), signs=(("subnet-full", "“SubnetIsFull of x”"),))
    book, joined = join(book, there)
    assert "SubnetIsFull" not in joined.incident.recognised_by("subnet-full")
    assert joined.incident.recognised_by("quota-exceeded") == "“quota”"
    book = book.put(replace(joined.incident, state=State.CLOSED))
    _, again = join(book, replace(there, id="s3", why="“SubnetIsFull of x”"))
    assert again.how is How.REOPENED
    assert "SubnetIsFull of x" not in str(again.incident)


def test_a_book_comes_back_from_its_json_as_it_was() -> None:
    told = replace(sighting("1"), signs=(("quota-exceeded", "“QuotaExceeded” (error code)"),))
    book, _ = entered(told, sighting("2", channel=ALERTS))
    book, _ = observe(book, seen(QUOTA, ("subnet-full", "nodes")))
    assert read_book(encode(book.incidents, tuple[Incident, ...])) == book
    assert read_book("") == Book()


def test_a_message_changed_to_another_cluster_opens_an_incident_of_its_own() -> None:
    said = sighting("1")
    _, here = join(Book(), said)
    _, again = join(Book(), said)
    _, there = join(Book(), replace(said, cluster=f"{said.cluster}-2"))
    assert here.incident.id == again.incident.id != there.incident.id
