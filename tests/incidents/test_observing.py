"""What a check means for the incidents of its cluster."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.incidents.joining import join
from bot.incidents.model import Book, State, Verdict
from bot.incidents.observing import Changed, observe
from tests.incidents.books import HOUR_MS, seen, sighting

QUOTA, SUBNET = ("quota-exceeded", "westeurope"), ("subnet-full", "nodes")


@pytest.fixture
def book() -> Book:
    return join(Book(), sighting("1"))[0]


def test_what_was_suspected_and_found_is_confirmed(book: Book) -> None:
    after, changes = observe(book, seen(QUOTA))
    assert [one.what for one in changes] == [Changed.SETTLED]
    (incident,) = after.incidents
    assert (incident.state, incident.verdict) == (State.OPEN, Verdict.CONFIRMED)
    assert [one.key for one in incident.causes] == [QUOTA]


def test_a_symptom_is_confirmed_and_its_root_is_the_cause() -> None:
    book, _ = join(Book(), sighting("1", "cluster-failed"))
    chain = (("cluster-failed", "nodepool-failed"), ("nodepool-failed", "quota-exceeded"))
    after, _ = observe(book, seen(QUOTA, SUBNET, explained=chain))
    assert after.incidents[0].verdict is Verdict.CONFIRMED
    assert [one.key for one in after.incidents[0].causes] == [QUOTA]


def test_what_was_not_found_is_not_confirmed_and_stays_open_until_a_second_look(book: Book) -> None:
    after, _ = observe(book, seen())
    assert (after.incidents[0].state, after.incidents[0].verdict) == (State.OPEN, Verdict.NOT_CONFIRMED)
    after, changes = observe(after, seen(at_ms=HOUR_MS))
    assert after.incidents[0].is_closed
    assert [one.what for one in changes] == [Changed.CLOSED]


def test_the_check_that_did_not_confirm_it_closes_nothing_when_it_is_entered_twice(book: Book) -> None:
    first = replace(seen(), asked_ms=1_000)
    once, (settled,) = observe(book, first)
    assert settled.what is Changed.SETTLED
    again, changes = observe(once, first)
    assert (again, changes) == (once, ())
    _, (closed,) = observe(once, replace(seen(), asked_ms=1_001))
    assert closed.what is Changed.CLOSED


def test_something_else_that_was_found_is_named(book: Book) -> None:
    after, _ = observe(book, seen(SUBNET))
    assert after.incidents[0].verdict is Verdict.NOT_CONFIRMED
    assert [one.key for one in after.incidents[0].causes] == [SUBNET]


def test_could_not_look_is_never_over(book: Book) -> None:
    after, _ = observe(book, seen(QUOTA))
    blind, changes = observe(after, seen(unsure=("quota-exceeded",), at_ms=HOUR_MS))
    assert blind == after
    assert changes == ()
    first, _ = observe(book, seen(unsure=("quota-exceeded",)))
    assert first.incidents[0].verdict is Verdict.COULD_NOT_CHECK
    second, _ = observe(first, seen(unsure=("quota-exceeded",), at_ms=HOUR_MS))
    assert not second.incidents[0].is_closed


def test_a_cause_that_could_not_be_looked_at_stays_beside_one_that_is_found() -> None:
    book, _ = join(Book(), sighting("1", "quota-exceeded", "subnet-full"))
    both, _ = observe(book, seen(QUOTA, SUBNET))
    half, _ = observe(both, seen(SUBNET, unsure=("quota-exceeded",), at_ms=HOUR_MS))
    assert [one.key for one in half.incidents[0].causes] == [SUBNET, QUOTA]
    blind, _ = observe(half, seen(unsure=("quota-exceeded",), at_ms=2 * HOUR_MS))
    assert not blind.incidents[0].is_closed
    over, (closed,) = observe(blind, seen(at_ms=3 * HOUR_MS))
    assert closed.what is Changed.CLOSED
    assert over.incidents[0].is_closed


def test_what_no_check_asks_about_is_never_over_by_a_check() -> None:
    book, _ = join(Book(), sighting("1", "vm-image-build-failed"))
    after, _ = observe(book, seen())
    assert after.incidents[0].verdict is Verdict.NO_CHECK
    after, _ = observe(after, seen(at_ms=HOUR_MS))
    assert not after.incidents[0].is_closed


def test_another_cause_of_the_same_complaint_is_a_new_fact() -> None:
    book, _ = join(Book(), sighting("1", "nodepool-failed"))
    book, _ = observe(book, seen(QUOTA, explained=(("nodepool-failed", "quota-exceeded"),)))
    after, changes = observe(book, seen(SUBNET, explained=(("nodepool-failed", "subnet-full"),), at_ms=HOUR_MS))
    assert [one.what for one in changes] == [Changed.FACTS]
    assert [one.key for one in after.incidents[0].causes] == [SUBNET]


def test_its_title_is_what_the_latest_check_has_found(book: Book) -> None:
    both, _ = join(book, sighting("2", "subnet-full", at_ms=1))
    first, _ = observe(both, seen(QUOTA, SUBNET))
    assert first.incidents[0].proved == "quota-exceeded"
    then, _ = observe(first, seen(SUBNET, at_ms=1))
    assert then.incidents[0].proved == "subnet-full"


def test_the_same_again_changes_nothing(book: Book) -> None:
    after, _ = observe(book, seen(QUOTA))
    assert observe(after, seen(QUOTA, at_ms=HOUR_MS)) == (after, ())


def test_two_that_turn_out_to_have_one_cause_go_on_as_the_earlier() -> None:
    book, _ = join(Book(), sighting("1"))
    book, _ = observe(book, seen(QUOTA))
    book, _ = join(book, sighting("2", "node-not-ready"))
    after, changes = observe(book, seen(QUOTA, explained=(("node-not-ready", "quota-exceeded"),), at_ms=HOUR_MS))
    assert [one.what for one in changes] == [Changed.MERGED]
    first, second = after.incidents
    assert (second.is_closed, second.merged_into) == (True, first.id)
    assert (first.is_closed, first.count) == (False, 2)
