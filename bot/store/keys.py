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

WRITE = f"{PREFIX}write"
"""Set by whoever wants to know whether the server takes writes."""

CONNECTED = f"{PREFIX}connected"
"""The last moment in which a process was connected to Slack. Never expires."""

CAUGHT_UP = f"{PREFIX}caught-up"
"""From when until when the history of Slack was read last, after a time without a connection."""

CATCHING_UP = f"{PREFIX}catching-up"
"""Set while a process reads that history."""

AUDIT = f"{PREFIX}audit"
"""A stream: the audit's records. Never expires, never trimmed."""

AUDIT_TIP = f"{PREFIX}audit:tip"
"""A hash: number and hash of the audit's last record."""

AUDIT_WITNESS = f"{PREFIX}recorded"
"""A hash: number and hash of the audit's last record once more, under a name that deleting the audit does not touch."""

AUDIT_ASIDE = f"{PREFIX}audit:aside"
"""A list: the broken audits that somebody has set aside. Never expires."""

AUDIT_KNOWN = timedelta(days=30)
"""How long it is known what stands in the audit and must not stand there twice: as long as an offer is kept."""

FENCE = f"{PREFIX}fence"
"""A counter: every worker that takes up a fix gets the next number."""

PROPOSAL_TEAMS = f"{PREFIX}proposals"
"""A set: the workspaces that have offered fixes."""

EXECUTING = f"{PREFIX}executing"
"""A set: the fixes that have begun and not ended."""

FIXES_UNTOLD = f"{PREFIX}fixes:untold"
"""A sorted set: the fixes that have ended and whose end has not been said yet, by when they ended."""

EVENT_TTL = timedelta(hours=24)
"""Slack repeats an event for about an hour; a person repeats a message within the day."""
SIGNATURE_TTL = timedelta(minutes=11)
"""Longer than a signature is good for: five minutes, from a clock that may be five minutes ahead of ours."""
WRITE_TTL = timedelta(minutes=1)
"""It need not last: only that it was taken counts."""
CHECK_TTL = timedelta(seconds=60)
"""How long a check is taken as running without a sign of life. A killed worker's job is taken up long before."""
ASKING_TTL = timedelta(hours=1)
"""How long those who wait for a check are remembered."""
RESULT_TTL = timedelta(minutes=15)
"""How long the latest report on a question is known. How old an answer may be is the asker's matter."""
REPORT_TTL = timedelta(days=30)
"""How long the buttons under an answer work with its facts: as long as the message itself is known."""
DONE_TTL = timedelta(hours=24)
"""How long it is known that a request was answered: longer than any retry."""
RECENT_TTL = timedelta(days=7)
"""How long a check is listed in App Home."""
VERDICT_TTL = timedelta(days=30)
"""How long a verdict belongs to a cluster's history."""
INCIDENT_TTL = timedelta(days=3)
"""How long the book of a cluster's incidents is kept after the last word."""
NAMED_TTL = timedelta(days=2)
"""How long a node, pod or namespace that a check has named says which cluster is meant."""
TURN_TTL = timedelta(hours=24)
"""How long the messages of a turn are kept, and known as heard."""
TELLING_TTL = timedelta(seconds=10)
"""How long a process that says what is known of an incident is waited for: longer than Slack takes for an edit."""
CONNECTED_TTL = timedelta(days=30)
"""A bot that comes back after longer says nothing of what it has not read."""
READERS_TTL = timedelta(minutes=10)

POSTED_TTL = timedelta(days=30)
"""How long a message can be found again by the job that posted it."""


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


def readers(team: str, channel_id: str) -> str:
    """Whether another company or guests read a channel."""
    return f"{PREFIX}readers:{team}:{channel_id}"


def guests(team: str) -> str:
    """The guests of a workspace."""
    return f"{PREFIX}guests:{team}"


def recent(team: str) -> str:
    """A sorted set: the checks of a workspace that were answered, by when."""
    return f"{PREFIX}recent:{team}"


def verdicts(cluster: str) -> str:
    """A sorted set: how whole checks of a cluster ended, by when."""
    return f"{PREFIX}verdicts:{_short(cluster.strip('/').lower())}"


def proposal(name: str) -> str:
    """An offered fix and what people said to it."""
    return f"{PREFIX}proposal:{name}"


def proposals(team: str) -> str:
    """A sorted set: the offers of a workspace that have not ended, by when they expire."""
    return f"{PREFIX}proposals:{team}"


def audit_aside(at_ms: int) -> tuple[str, str]:
    """Where a broken audit is kept, and its tip. Never expire."""
    return f"{AUDIT_ASIDE}:{at_ms}", f"{AUDIT_ASIDE}:{at_ms}:tip"


def tries(cluster: str, remedy: str, target: str) -> str:
    """A sorted set: the tries of one fix that have not worked lately, by when they were over."""
    return f"{PREFIX}tried:{_short(' '.join([cluster, remedy, target]).lower())}"


def held(cluster: str) -> str:
    """A hash: which fix acts on this cluster, and its worker's fence."""
    return f"{PREFIX}held:{_short(cluster.strip('/').lower())}"


def offered(request: str) -> str:
    """A hash: the plans that an answer offers, by digest, and the proposal of each."""
    return f"{PREFIX}offered:{request}"


def fix_alive(name: str) -> str:
    """Set while a worker has this fix in hand, or has put its next piece into the queue."""
    return f"{PREFIX}fix:{name}:alive"


def audit_once(name: str) -> str:
    """The audit's record of something that happens once."""
    return f"{PREFIX}audit-once:{_short(name)}"


def fix_piece(name: str) -> str:
    """The latest piece of this fix that was put into the queue."""
    return f"{PREFIX}fix:{name}:piece"


def fix_crashes(name: str) -> str:
    """A counter: how often a piece of this fix has failed inside."""
    return f"{PREFIX}fix:{name}:crashes"


def execution(name: str) -> str:
    """How far a fix is."""
    return f"{PREFIX}execution:{name}"


def _short(text: str) -> str:
    """Text from elsewhere can be long and hold anything; a key should not."""
    return sha256(text.encode(errors="replace")).hexdigest()[:32]


def incidents(team: str, cluster: str) -> str:
    """The book of a cluster's incidents."""
    return f"{PREFIX}incidents:{team}:{_short(cluster.lower())}"


def incident_thread(team: str, channel: str, thread_ts: str) -> str:
    """A set: the clusters of whose incidents a thread speaks."""
    return f"{PREFIX}incident-clusters:{team}:{channel}:{thread_ts}"


def incident_thread_owner(team: str, channel: str, thread_ts: str) -> str:
    """The cluster that a thread is about: incidents of another have a thread of their own."""
    return f"{PREFIX}incident-thread-owner:{team}:{channel}:{thread_ts}"


def telling(team: str, incident: str) -> str:
    """Set while a process says what is known of an incident."""
    return f"{PREFIX}incident-telling:{team}:{incident}"


def shown(team: str, what: str) -> str:
    """The digest of what a message of an incident says."""
    return f"{PREFIX}incident-shown:{team}:{_short(what)}"


def named_by_check(team: str, name: str) -> str:
    """A set: the clusters of which a check has named this node, pod or namespace."""
    return f"{PREFIX}named:{team}:{_short(name.lower())}"


def incident_threads(team: str, channel: str) -> str:
    """A sorted set: the threads of a channel in which incidents are told, by when one was last."""
    return f"{PREFIX}incident-threads:{team}:{channel}"


def hushed_thread(team: str, channel: str, thread_ts: str) -> str:
    """Set while the bot says nothing by itself in a thread that is no incident's."""
    return f"{PREFIX}hushed-thread:{team}:{channel}:{thread_ts}"


def app_waits(team: str, app: str) -> str:
    """A list: the turns of an app's posts that are read once somebody allows it."""
    return f"{PREFIX}app-waits:{team}:{_short(app)}"


def turn(name: str) -> str:
    """A list: the messages of a turn."""
    return f"{PREFIX}turn:{name}"


def turn_of(team: str, channel: str, thread_or_author: str) -> str:
    """Which turn takes in what is said there now. Expires when the turn closes."""
    return f"{PREFIX}turn-of:{team}:{channel}:{_short(thread_or_author)}"


def heard(name: str) -> str:
    """In which turn a message of Slack is."""
    return f"{PREFIX}heard:{_short(name)}"


def turn_taken(name: str) -> str:
    """Set once somebody reads a turn: what comes now comes too late for it."""
    return f"{PREFIX}turn-taken:{name}"


def turn_read(name: str) -> str:
    """How many messages of a turn are dealt with before it closes."""
    return f"{PREFIX}turn-read:{name}"


def turn_done(name: str) -> str:
    """Set once a turn has been dealt with."""
    return f"{PREFIX}turn-done:{name}"


def alert_apps(team: str) -> str:
    """A hash: app → whether its posts are read, who said so, and when. Never expires."""
    return f"{PREFIX}alert-apps:{team}"


def claim(what: str) -> str:
    """Who does something that is done once."""
    return f"{PREFIX}claim:{_short(what)}"


def mutes(team: str) -> str:
    """A sorted set: the mutes of a workspace, by when they end. Expires with the last of them."""
    return f"{PREFIX}mute-ends:{team}"


def mute(team: str, name: str) -> str:
    """Until when nothing is said of a code of a cluster, who wants that, and why. Expires when it ends."""
    return f"{PREFIX}mute:{team}:{name}"


def old_mutes(team: str) -> str:
    """A hash: code and cluster → the mute, as an earlier version kept it, for ever. Read once, then deleted."""
    return f"{PREFIX}mutes:{team}"


def mute_name(code_and_cluster: str) -> str:
    return _short(code_and_cluster)


def watches(team: str) -> str:
    """A hash: what people of a workspace wait for, by the watch's name. Expires with the last of them."""
    return f"{PREFIX}watches:{team}"
