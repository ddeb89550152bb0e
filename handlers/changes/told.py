"""One change as a line for people: plain text, for the terminal, for Slack and for the words of a picture."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from handlers.changes.change import Change, Result
from handlers.evidence.upgrade_length import spoken

_WORTH_SAYING = timedelta(minutes=1)
_LOST = timedelta(hours=24)
_LONGEST_WHY = 160
"""Azure repeats whole ids in its errors; all of it is in the JSON."""


def line(change: Change, now: datetime) -> str:
    """`node pool apps: node image upgrade, failed after 35 min: ScopeLocked: … · by pipeline`."""
    return " · ".join(
        [f"{what(change)}{_ending(change, now)}", *_more(change), f"by {change.caller or 'nobody named'}"]
    )


def what(change: Change) -> str:
    """Without how it ended: `node pool apps: created or updated (count 6)`."""
    details = f" ({', '.join(change.details)})" if change.details else ""
    return f"{change.subject}: {change.action}{details}"


def briefly(change: Change) -> str:
    """For a picture: what, and one word on how it ended where that is not well."""
    ended = {Result.SUCCEEDED: "", Result.RUNNING: ""}.get(change.result, f" ({change.result})")
    return f"{change.subject}: {change.action}{ended}"


def _ending(change: Change, now: datetime) -> str:
    lasted, why = change.lasted, f": {_cut(change.why)}" if change.why else ""
    match change.result:
        case Result.SUCCEEDED:
            return f", in {spoken(lasted)}" if lasted and lasted >= _WORTH_SAYING else ""
        case Result.RUNNING:
            return f", {_running(now - change.at)}"
        case Result.DENIED:
            return f", denied by {_cut(change.why) or 'a policy'}"
        case _:
            after = f" after {spoken(lasted)}" if lasted and lasted >= _WORTH_SAYING else ""
            return f", {change.result}{after}{why}"


def _running(length: timedelta) -> str:
    """What has run for days has ended, most likely, and the log does not say how."""
    return f"still running after {spoken(length)}" if length < _LOST else "without an end in the log"


def _more(change: Change) -> Iterator[str]:
    if change.times > 1 and change.since:
        yield f"{change.times} times since {change.since:%d %b %H:%M}"
    if change.below:
        yield f"{change.below} {'write' if change.below == 1 else 'writes'} of AKS to its nodes"


def _cut(why: str) -> str:
    return why if len(why) <= _LONGEST_WHY else f"{why[: _LONGEST_WHY - 1].rstrip()}…"
