"""Every key that the bot keeps in Redis, and how long it lives. Nobody else spells one.

Keys of the queue are streaQ's own: they begin with `streaq:aksbot`.
"""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256

PREFIX = "aksbot:"

QUEUE = "aksbot"
"""The name of the queue."""

EPOCH = f"{PREFIX}epoch"
"""Made once, never expires: when it is another than before, the server has lost its data."""

AUDIT = f"{PREFIX}audit"
"""A stream: the audit's records. Never expires, never trimmed."""

AUDIT_TIP = f"{PREFIX}audit:tip"
"""A hash: number and hash of the audit's last record."""

FENCE = f"{PREFIX}fence"
"""A counter: every worker that takes up a fix gets the next number."""

PROPOSAL_TEAMS = f"{PREFIX}proposals"
"""A set: the workspaces that have offered fixes."""

EXECUTING = f"{PREFIX}executing"
"""A set: the fixes that have begun and not ended."""

EVENT_TTL = timedelta(hours=24)
"""Slack repeats an event for about an hour; a person repeats a message within the day."""
SIGNATURE_TTL = timedelta(minutes=11)
"""Longer than a signature is good for: five minutes, from a clock that may be five minutes ahead of ours."""
CHECK_TTL = timedelta(seconds=60)
"""How long a check is taken as running without a sign of life. A killed worker's job is taken up long before."""
ASKING_TTL = timedelta(hours=1)
"""How long those who wait for a check are remembered."""
RESULT_TTL = timedelta(minutes=15)
"""How long a report can be shown again (*Show all checks*). How old an answer may be is the asker's matter."""
DONE_TTL = timedelta(hours=24)
"""How long it is known that a request was answered: longer than any retry."""
RECENT_TTL = timedelta(days=7)
"""How long a check is listed in App Home."""
POSTED_TTL = timedelta(days=30)
"""How long a message can be found again by the job that posted it."""


def event(name: str) -> str:
    """Set while an event of Slack counts as seen: an event id, or `(team, channel, ts)`."""
    return f"{PREFIX}event:{_short(name)}"


def signature(text: str) -> str:
    """Set once a signed request has come in."""
    return f"{PREFIX}signature:{_short(text)}"


def running(question: str) -> str:
    """A hash: which job runs this question's check, in which attempt, since when."""
    return f"{PREFIX}check:{_short(question)}:running"


def asking(question: str) -> str:
    """A hash: request id → the request, for all who wait for this question's answer."""
    return f"{PREFIX}check:{_short(question)}:asking"


def result(question: str) -> str:
    """The latest report on this question."""
    return f"{PREFIX}check:{_short(question)}:result"


def report(request: str) -> str:
    """The report that a request was answered with, for the buttons under it."""
    return f"{PREFIX}report:{request}"


def done(request: str) -> str:
    """Set once a request has been answered."""
    return f"{PREFIX}done:{request}"


def posted(job: str) -> str:
    """A hash: which message of a job stands where."""
    return f"{PREFIX}posted:{job}"


def channel(team: str, channel_id: str) -> str:
    """A hash: the settings of a channel, such as its default cluster. Never expires."""
    return f"{PREFIX}channel:{team}:{channel_id}"


def recent(team: str) -> str:
    """A sorted set: the checks of a workspace that were answered, by when."""
    return f"{PREFIX}recent:{team}"


def proposal(name: str) -> str:
    """An offered fix and what people said to it."""
    return f"{PREFIX}proposal:{name}"


def proposals(team: str) -> str:
    """A sorted set: the offers of a workspace that have not ended, by when they expire."""
    return f"{PREFIX}proposals:{team}"


def tries(cluster: str, remedy: str, target: str) -> str:
    """A set: the tries of one fix that have not worked lately."""
    return f"{PREFIX}tries:{_short(' '.join([cluster, remedy, target]).lower())}"


def held(cluster: str) -> str:
    """A hash: which fix acts on this cluster, and its worker's fence."""
    return f"{PREFIX}held:{_short(cluster.strip('/').lower())}"


def execution(name: str) -> str:
    """How far a fix is."""
    return f"{PREFIX}execution:{name}"


def _short(text: str) -> str:
    """Text from elsewhere can be long and hold anything; a key should not."""
    return sha256(text.encode(errors="replace")).hexdigest()[:32]
