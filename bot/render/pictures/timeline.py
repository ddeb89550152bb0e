"""Puts what happened on one axis of time: lanes come in as they were read, a picture with its words goes out. Pure.

Called where an answer is put together: what changed on a cluster, the course of an incident, a support packet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.render.clean import one_line
from bot.render.pictures.picture import Lane, Mark, Picture, Timeline, Tone
from bot.render.pictures.plain_name import plain_name

MOST_NUMBERED = 8
"""Lines below the picture: more nobody reads on a phone."""
MOST_MARKS = 300
"""In one lane. More of them make one bar of colour, and a large file."""
LONGEST_LABEL = 56
LONGEST_LANE = 22
_LEAST_SPAN = timedelta(minutes=10)
"""Two events of one second apart need an axis, too."""
_WORDS = {Tone.PLAIN: "", Tone.GOOD: "", Tone.BAD: "", Tone.RUNNING: " (still running)"}


def timeline(
    title: str, file: str, lanes: Sequence[Lane], *, begins: datetime | None = None, ends: datetime | None = None
) -> Picture | None:
    """The picture of these lanes; None where nothing happened. Lanes without marks are left out.

    `file` names it (`changes-prod-weu`). Without `begins` and `ends` the axis reaches from the first mark to the last.
    """
    kept = [_kept(lane) for lane in lanes if lane.marks]
    if not kept:
        return None
    marks = [mark for lane in kept for mark in lane.marks]
    first, last = _axis(marks, begins, ends)
    drawn = Timeline(one_line(title), first, last, tuple(_numbered(kept, _listed(marks))))
    return Picture(f"{plain_name(file)}.png", described(drawn), drawn)


def described(drawn: Timeline) -> str:
    """The same in words, for who cannot see it: what is listed, in order, and how many more there are."""
    listed = sorted(numbered(drawn), key=lambda pair: pair[1].number)
    told = [f"{clock(drawn, mark.at)} {lane}: {mark.label}{_about(mark)}" for lane, mark in listed]
    unlisted = sum(len(lane.marks) for lane in drawn.lanes) - len(listed)
    more = [f"and {unlisted} more"] if unlisted else []
    when = f"{clock(drawn, drawn.begins)} to {clock(drawn, drawn.ends)} UTC"
    return f"{drawn.title}, {when}. {'; '.join([*told, *more])}."


def numbered(drawn: Timeline) -> Iterator[tuple[str, Mark]]:
    """The marks that are listed below, each with its lane."""
    return ((lane.name, mark) for lane in drawn.lanes for mark in lane.marks if mark.number)


def clock(drawn: Timeline, at: float) -> str:
    """The time of day, with the day where the axis covers more than one."""
    days = {_moment(moment).date() for moment in (drawn.begins, drawn.ends)}
    return f"{_moment(at):{'%H:%M' if len(days) == 1 else '%d %b %H:%M'}}"


def _moment(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)


def _about(mark: Mark) -> str:
    return f"{_WORDS[mark.tone]}{' (root cause)' if mark.root else ''}"


def _kept(lane: Lane) -> Lane:
    """Its newest marks, in order, with words that fit."""
    marks = sorted(lane.marks, key=lambda mark: mark.at)
    roots = [mark for mark in marks[:-MOST_MARKS] if mark.root]
    short = (replace(mark, label=_cut(mark.label, LONGEST_LABEL)) for mark in (*roots, *marks[-MOST_MARKS:]))
    return Lane(_cut(lane.name, LONGEST_LANE), tuple(short))


def _cut(text: str, most: int) -> str:
    line = one_line(text)
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def _axis(marks: Sequence[Mark], begins: datetime | None, ends: datetime | None) -> tuple[float, float]:
    first = begins.timestamp() if begins else min(mark.at for mark in marks)
    last = ends.timestamp() if ends else max(mark.until or mark.at for mark in marks)
    missing = max(0.0, _LEAST_SPAN.total_seconds() - (last - first)) / 2
    return first - missing, last + missing


def _listed(marks: Iterable[Mark]) -> list[Mark]:
    """What is worth a line: the root, what failed, then the newest."""
    worth = sorted(marks, key=lambda mark: (not mark.root, mark.tone is not Tone.BAD, -mark.at))
    return sorted(worth[:MOST_NUMBERED], key=lambda mark: mark.at)


def _numbered(lanes: Iterable[Lane], listed: Sequence[Mark]) -> Iterator[Lane]:
    numbers = {id(mark): number for number, mark in enumerate(listed, 1)}
    for lane in lanes:
        yield Lane(lane.name, tuple(replace(mark, number=numbers.get(id(mark), 0)) for mark in lane.marks))
