"""`/aks fixes` for a cluster with many problems: everything is there, or the list says how much more there is."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.checks.offered_fix import Fix
from bot.fixes.proposal import State
from bot.slack.fixes.lists import view as lists_view
from handlers.remedy.plan import Forbidden
from tests.slack.limits_held import assert_accepted
from tests.slack.reading import read
from tests.slack.surfaces_fixes import FIX, MOMENT, NO_FIX, OPEN


def offers(number: int) -> list[Fix]:
    return [
        Fix(replace(FIX.offer, subject=f"{FIX.offer.subject}{one}"), f"0f3c1d2e-7a5b-4c6d-8e9f-{one:012}")
        for one in range(number)
    ]


@pytest.mark.parametrize("number", [1, 20, 60, 100])
def test_each_of_many_offers_has_its_line_and_its_button(number: int) -> None:
    said = lists_view.fixes("prod-weu", offers(number), (OPEN,))
    assert_accepted(said)
    shown = read(said)
    assert shown.count("[ Fix: ") == number
    assert shown.count("  • nodepool-failed on pool apps") == number
    assert "more" not in shown


def test_beyond_a_hundred_it_says_how_many_more_there_are() -> None:
    said = lists_view.fixes("prod-weu", offers(130), ())
    assert_accepted(said)
    assert read(said).count("[ Fix: ") == 100
    assert "… and 30 more" in read(said)


def test_of_many_requests_it_says_how_many_more_there_are() -> None:
    waiting = [replace(OPEN, title=f"Reconcile pool p{one}") for one in range(25)]
    shown = read(lists_view.fixes("prod-weu", (), waiting))
    assert "Reconcile pool p19 " in shown
    assert "Reconcile pool p20" not in shown
    assert "… and 5 more" in shown


def test_what_is_under_way_has_no_time_at_which_it_expires() -> None:
    over = MOMENT - timedelta(hours=1)
    open_ones = [replace(OPEN, title=state.value, expires_at=over, state=state) for state in State]
    shown = read(lists_view.fixes("prod-weu", (), open_ones[:3])).partition("*Open requests*")[2]
    waits, begins, runs = shown.strip().split("\n")
    assert "open until 02:14 UTC" in waits
    assert "· approved, starting ·" in begins
    assert "· running ·" in runs


def test_a_reason_that_several_fixes_have_is_told_once_and_names_them() -> None:
    locked = Forbidden("a lock stands on it", "have it removed")
    without = [Fix(replace(FIX.offer, plan=None, remedy=f"remedy-{one}"), reasons=(locked,)) for one in range(5)]
    shown = read(lists_view.fixes("prod-weu", [FIX, *without], ()))
    assert shown.count("a lock stands on it") == 1
    named = ", ".join(f"remedy-{one} on pool apps" for one in range(3))
    assert f"{named}, … and 2 more: a lock stands on it" in shown
    assert "Why the others have no button" in shown


def test_where_none_has_a_button_it_does_not_speak_of_others() -> None:
    shown = read(lists_view.fixes("prod-weu", [NO_FIX], ()))
    assert "Why there is no button" in shown
