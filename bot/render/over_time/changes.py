"""What was done to a cluster, for a terminal and for programs; and the sentences that Slack shares with it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from bot.render.clean import one_line, wrapped
from bot.render.line import Line
from bot.render.verdict import count
from handlers.changes.change import Change, Changes
from handlers.changes.told import line
from handlers.evidence.monitor import LAG
from handlers.evidence.upgrade_length import spoken
from handlers.model import Unavailable

_A_DAY = timedelta(days=1)


def headline(found: Changes) -> str:
    """`prod-weu: 7 changes in the last 2 h`. Nothing is said to have happened only where everything was read."""
    length = span(found.until - found.since)
    seen = " in what could be seen" if found.gaps or found.cut else ""
    if found.changes:
        return f"{count(len(found.changes), 'change')} in the last {length}{seen}"
    if not found.groups:
        return f"what changed in the last {length} could not be seen"
    return f"nothing was changed in the last {length}{seen}"


def notes(found: Changes) -> Iterator[str]:
    """What a reader must know of how far this goes."""
    for gap in found.gaps:
        yield unseen(gap)
    if found.cut:
        yield "The log was longer than was read: the oldest changes are missing. Ask for a shorter time."
    if found.groups:
        read = " and ".join(found.groups)
        yield f"Times are UTC. From the activity log of {read}; Azure may take {spoken(LAG)} to write an event down."


def unseen(gap: Unavailable) -> str:
    do = f"; grant {gap.grant}" if gap.grant else ""
    return f"Could not see {gap.wanted}: {gap.detail}{do}"


def clock(found: Changes, change: Change) -> str:
    return f"{change.at:{'%H:%M' if found.since.date() == found.until.date() else '%d %b %H:%M'}}"


def span(length: timedelta) -> str:
    """`14 d`, `24 h`, `90 min`."""
    if length >= 2 * _A_DAY:
        return f"{length.days} d"
    minutes = round(length.total_seconds() / 60)
    return f"{minutes // 60} h" if minutes % 60 == 0 else f"{minutes} min"


def changes_lines(found: Changes, columns: int) -> Iterator[Line]:
    """Newest first, one line each; UTC."""
    yield Line.of((one_line(found.cluster), "title"), (f": {headline(found)}", ""))
    for change in found.changes:
        at = clock(found, change)
        told = wrapped(line(change, found.until), columns=columns - len(at) - 2, hang="")
        style = "found" if change.result.bad else ""
        for number, words in enumerate(told):
            yield Line.of((f"{at if not number else ' ' * len(at)}  ", "dim"), (words, style))
    for note in notes(found):
        for words in wrapped(note, columns=columns):
            yield Line.of((words, "unsure" if note.startswith("Could") else "dim"))


def as_json(found: Changes) -> str:
    return json.dumps(_as_dict(found), indent=2)


def _as_dict(found: Changes) -> dict[str, Any]:
    return {
        "cluster": found.cluster,
        "since": _moment(found.since),
        "until": _moment(found.until),
        "groups": list(found.groups),
        "changes": [_change(change) for change in found.changes],
        "unseen": [
            {"wanted": gap.wanted, "why": gap.why.value, "detail": gap.detail, "grant": gap.grant} for gap in found.gaps
        ],
        "cut": found.cut,
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "at": _moment(change.at),
        "until": _moment(change.until) if change.until else None,
        "part": change.part.value,
        "subject": change.subject,
        "action": change.action,
        "result": change.result.value,
        "caller": change.caller,
        "details": list(change.details),
        "why": change.why,
        "times": change.times,
        "resource": change.resource,
        "operation": change.operation,
        "correlation": change.correlation,
    }


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"
