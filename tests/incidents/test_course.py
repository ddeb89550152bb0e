"""The course of an incident as a picture: what is on it, what is its root, and when there is none."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.address import Address
from bot.incidents.course import course
from bot.incidents.model import Cause, Incident, State, Verdict
from bot.render.pictures.picture import Picture, Timeline, Tone
from bot.report.past import History, Past, PastKind
from handlers.changes.change import Change, Changes, Part, Result
from runbooks.library import Library

LIBRARY = Library.load()
OPENED = datetime(2026, 11, 20, 2, 0, tzinfo=UTC)
OVER = OPENED + timedelta(minutes=40)
INCIDENT = Incident(
    "i1",
    "prod-weu",
    ("nodepool-failed",),
    "its words",
    Address(channel="C0INCIDENTS", thread_ts="1.0"),
    "1.0",
    int(OPENED.timestamp() * 1000),
    int(OVER.timestamp() * 1000),
    state=State.CLOSED,
    verdict=Verdict.NOT_CONFIRMED,
    causes=(Cause("quota-exceeded", "cores", "full"),),
    count=3,
    closed_ms=int(OVER.timestamp() * 1000),
)


def past(minutes: float, kind: PastKind, said: str, *, bad: bool = False, good: bool = False) -> Past:
    return Past(OPENED + timedelta(minutes=minutes), kind, said, bad=bad, good=good)


HISTORY = History(
    "prod-weu",
    (
        past(40, PastKind.VERDICT, "healthy", good=True),
        past(30, PastKind.FIX, "reconcile-pool ended fixed", good=True),
        past(20, PastKind.VERDICT, "unhealthy: A node pool is in a failed state", bad=True),
        past(1, PastKind.VERDICT, "unhealthy: A core quota is used up", bad=True),
        past(-600, PastKind.VERDICT, "healthy", good=True),
    ),
)


def change(minutes: float, result: Result = Result.FAILED) -> Change:
    at = OPENED + timedelta(minutes=minutes)
    return Change(at, Part.CLUSTER, "node pool apps", "upgrade", result, "pipeline", "id", "op", at)


def changes(*made: Change) -> Changes:
    return Changes("prod-weu", OPENED - timedelta(hours=1), OVER, made, ("rg",))


def drawn(made: Picture | None) -> Timeline:
    assert made is not None
    assert isinstance(made.chart, Timeline)
    return made.chart


def test_reports_changes_verdicts_and_fixes_stand_on_one_axis_in_lanes() -> None:
    timeline = drawn(course(INCIDENT, HISTORY, changes(change(-10)), LIBRARY))
    assert [lane.name for lane in timeline.lanes] == ["Reports", "Activity log", "Verdicts", "Fixes"]
    assert [mark.label for mark in timeline.lanes[1].marks] == ["node pool apps: upgrade (failed)"]
    assert timeline.begins == (OPENED - timedelta(hours=1)).timestamp()


def test_the_check_that_proved_the_cause_is_the_root() -> None:
    timeline = drawn(course(INCIDENT, HISTORY, None, LIBRARY))
    (root,) = [mark for lane in timeline.lanes for mark in lane.marks if mark.root]
    assert root.at == (OPENED + timedelta(minutes=1)).timestamp()
    assert root.label == "proved: A core quota is used up"
    assert root.tone is Tone.BAD


def test_nothing_is_the_root_where_nothing_was_proved() -> None:
    timeline = drawn(course(replace(INCIDENT, causes=()), HISTORY, None, LIBRARY))
    assert not any(mark.root for lane in timeline.lanes for mark in lane.marks)


def test_what_was_long_before_or_after_is_not_on_it() -> None:
    timeline = drawn(course(INCIDENT, HISTORY, changes(change(-300), change(500)), LIBRARY))
    assert [lane.name for lane in timeline.lanes] == ["Reports", "Verdicts", "Fixes"]
    assert sum(len(lane.marks) for lane in timeline.lanes) == 6


def test_where_the_activity_log_cannot_be_read_the_rest_is_drawn() -> None:
    made = course(INCIDENT, HISTORY, None, LIBRARY)
    assert made is not None
    assert "Activity log" not in made.alt
    assert "Reports: reported, 3 times" in made.alt


def test_too_little_for_a_picture_is_left_in_words() -> None:
    assert course(INCIDENT, History("prod-weu", ()), None, LIBRARY) is None
