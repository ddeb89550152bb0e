"""The course of an incident as a picture: reports, changes, verdicts and fixes on one axis. Pure.

Made once it is over, for the thread that people read the next morning.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from bot.checks.fleet.lines import title_of
from bot.incidents.model import Incident
from bot.render.pictures.changes import mark as change_mark
from bot.render.pictures.picture import Lane, Mark, Picture, Tone
from bot.render.pictures.timeline import timeline
from bot.report.past import History, Past, PastKind
from handlers.changes.change import Changes
from runbooks.library import Library

BEFORE = timedelta(hours=1)
"""What set it off was done before anybody reported it."""
AFTER = timedelta(minutes=2)
FEWEST = 3
"""Fewer events are read faster in words."""


def course(incident: Incident, history: History, changes: Changes | None, library: Library) -> Picture | None:
    """The picture; None where too little happened. `changes`: None where the activity log could not be read."""
    begins, ends = _moment(incident.opened_ms) - BEFORE, _moment(incident.closed_ms) + AFTER
    lanes = [
        Lane("Reports", tuple(_reports(incident))),
        *_changes(changes, begins, ends),
        *(_past(history, kind, incident, library, begins, ends) for kind in (PastKind.VERDICT, PastKind.FIX)),
    ]
    if sum(len(lane.marks) for lane in lanes) < FEWEST:
        return None
    title = f"{incident.cluster}: from the first report until it was over"
    return timeline(title, f"incident-{incident.cluster}", lanes, begins=begins, ends=ends)


def _reports(incident: Incident) -> Iterator[Mark]:
    times = f", {incident.count} times" if incident.count > 1 else ""
    over = incident.closed_ms / 1000
    yield Mark(incident.opened_ms / 1000, f"reported{times}", Tone.BAD, until=over)
    yield Mark(over, "found over", Tone.GOOD)


def _changes(changes: Changes | None, begins: datetime, ends: datetime) -> Iterator[Lane]:
    if changes:
        inside = [change for change in changes.changes if begins <= change.at <= ends]
        yield Lane("Activity log", tuple(change_mark(change, changes.until) for change in inside))


def _past(
    history: History, kind: PastKind, incident: Incident, library: Library, begins: datetime, ends: datetime
) -> Lane:
    marks = [_mark(past) for past in history.past if past.kind is kind and begins <= past.at <= ends]
    if kind is PastKind.VERDICT and incident.causes and marks:
        # The history is newest first: the last of them is the check that proved the cause.
        proved = next((mark for mark in reversed(marks) if mark.tone is Tone.BAD), None)
        if proved:
            said = f"proved: {title_of(incident.proved, library)}"
            marks[marks.index(proved)] = Mark(proved.at, said, Tone.BAD, proved.until, root=True)
    return Lane(kind.value, tuple(marks))


def _mark(past: Past) -> Mark:
    tone = Tone.BAD if past.bad else Tone.GOOD if past.good else Tone.PLAIN
    return Mark(past.at.timestamp(), past.said, tone, past.until.timestamp() if past.until else None)


def _moment(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC)
