"""What the bot knows of incidents: frozen values, no I/O. The incidents of one cluster stand in one book."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from hashlib import sha256

from bot.address import Address

REOPENS_WITHIN = timedelta(days=1)
"""What comes back within this time is the same incident, in the same thread."""
FORGOTTEN_AFTER = timedelta(days=2)
"""An incident of which nothing was heard for so long is over, whatever became of it."""


_NOWHERE = Address()


class State(StrEnum):
    """How far the bot is with an incident."""

    CHECKING = "checking"
    OPEN = "open"
    CLOSED = "closed"


class Verdict(StrEnum):
    """What a check says to what a message said."""

    PENDING = "pending"
    CONFIRMED = "confirmed"
    NOT_CONFIRMED = "not-confirmed"
    COULD_NOT_CHECK = "could-not-check"
    NO_CHECK = "no-check"
    """No check exists for what was recognised: the text is all there is."""


class How(StrEnum):
    """What a message was to an incident."""

    NEW = "new"
    REOPENED = "reopened"
    ELSEWHERE = "elsewhere"
    """The first word of it in another thread."""
    REPEAT = "repeat"


@dataclass(frozen=True, slots=True)
class Cause:
    """A root cause that a check has proved."""

    code: str
    subject: str
    said: str = ""
    """The line that says most."""
    effect: str = ""
    """What does not work and why, as answers begin; empty in records of earlier versions, and where no page says it."""
    do: str = ""

    @property
    def key(self) -> tuple[str, str]:
        return self.code, self.subject.lower()


def fingerprint(cluster: str, cause: Cause) -> str:
    """The same for the same problem, whoever reports it and in whatever words."""
    return sha256("\0".join((cluster.lower(), *cause.key)).encode(errors="replace")).hexdigest()[:24]


@dataclass(frozen=True, slots=True)
class Sighting:
    """A turn of somebody's messages in which a problem of a cluster was recognised."""

    id: str
    """The same when Slack or a worker repeats itself."""
    cluster: str
    codes: tuple[str, ...]
    """What is suspected, best first."""
    why: str
    spot: Address
    message_ts: str
    at_ms: int
    signs: tuple[tuple[str, str], ...] = ()
    """What each code was recognised by."""
    user: str = ""
    """The person who said it; empty where an app did."""
    ids: tuple[str, ...] = ()
    """All its messages, by which it is known again when more is said in the same breath, or in another order."""
    asked: bool = False
    """Somebody pressed a button to have it checked, and is answered there."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.id, *self.ids)))


@dataclass(frozen=True, slots=True)
class Incident:
    """One problem of one cluster, and the thread in which the bot speaks of it."""

    id: str
    cluster: str
    codes: tuple[str, ...]
    why: str
    home: Address
    message_ts: str
    opened_ms: int
    changed_ms: int
    state: State = State.CHECKING
    verdict: Verdict = Verdict.PENDING
    causes: tuple[Cause, ...] = ()
    known: tuple[str, ...] = ()
    """Every code of the checks that belongs to it: causes and what follows from them."""
    count: int = 1
    rounds: int = 1
    """How often it was opened."""
    seen: tuple[tuple[str, How], ...] = ()
    """The latest sightings, and what each was."""
    elsewhere: tuple[Address, ...] = ()
    silenced: bool = False
    merged_into: str = ""
    found: tuple[str, ...] = ()
    """What was suspected and the latest check has found: its title must not be what an earlier one found."""
    settled: tuple[str, ...] | None = None
    """The root causes of the first verdict of its latest round; none yet, or unknown to an earlier version."""
    began: Address = _NOWHERE
    """The report with which its latest round began: its message carries the sign that a check runs."""
    signs: tuple[tuple[str, str], ...] = ()
    """What each code was recognised by."""

    user: str = ""
    """Who reported it first, for whom the verdict is; empty where an app did."""
    joined: tuple[str, ...] = ()
    """Who reported it again and got no link of their own, because Slack takes only so many messages."""
    closed_ms: int = 0
    settled_ms: int = 0
    """When the check was asked for that gave the first verdict: entered twice, it closes nothing."""
    closed_by: str = ""
    """Who had it checked when it was found over; empty where the bot looked by itself."""

    def recognised_by(self, code: str) -> str:
        """What this code was recognised by; where nobody has noted that, what the first report was."""
        return dict(self.signs).get(code) or self.why

    @property
    def proved(self) -> str:
        """What it is called once something was proved: the suspect that the latest check found, else the first root."""
        causes = [cause.code for cause in self.causes]
        if self.verdict is Verdict.CONFIRMED:
            return next((code for code in self.codes if code in (*causes, *self.found)), (causes or [""])[0])
        return (causes or [""])[0]

    @property
    def since_found(self) -> tuple[Cause, ...]:
        """Root causes that a check has found since the first verdict: the edit of a card rings no bell."""
        if self.state is not State.OPEN or self.settled is None:
            return ()
        return tuple(cause for cause in self.causes if cause.code not in self.settled)

    @property
    def sign(self) -> Address:
        """The message under which a sign says that its check runs."""
        return self.began if self.began.message_ts else Address(channel=self.home.channel, message_ts=self.message_ts)

    @property
    def has_no_thread(self) -> bool:
        """Whether it was first reported in the thread of another cluster, and its card, which is to head a thread of
        its own, is not posted yet."""
        return not self.home.thread_ts

    @property
    def is_closed(self) -> bool:
        return self.state is State.CLOSED

    @property
    def fingerprints(self) -> frozenset[str]:
        return frozenset(fingerprint(self.cluster, cause) for cause in self.causes)

    def speaks_of(self, codes: tuple[str, ...]) -> bool:
        """Whether a message about one of these codes is about this incident."""
        return not set(codes).isdisjoint((*self.codes, *self.known))

    def speaks_of_all(self, codes: tuple[str, ...]) -> bool:
        return set(codes) <= {*self.codes, *self.known}

    def has_posted_in(self, spot: Address) -> bool:
        return spot.thread in (self.home, *self.elsewhere)


@dataclass(frozen=True, slots=True)
class Book:
    """The incidents of one cluster, the oldest first."""

    incidents: tuple[Incident, ...] = ()

    def get(self, name: str) -> Incident | None:
        return next((incident for incident in self.incidents if incident.id == name), None)

    def put(self, incident: Incident) -> Book:
        """With this one in the place of the one with its id, or at the end."""
        if self.get(incident.id) is None:
            return Book((*self.incidents, incident))
        return Book(
            tuple(incident if each_incident.id == incident.id else each_incident for each_incident in self.incidents)
        )

    def told_in(self, spot: Address) -> Incident | None:
        """The latest one that is spoken of in this thread."""
        return next((incident for incident in reversed(self.incidents) if incident.has_posted_in(spot)), None)


def silenced(book: Book, name: str) -> Book:
    """Nothing more is said in its threads."""
    found = book.get(name)
    return book.put(replace(found, silenced=True)) if found else book


def pruned(book: Book, now_ms: int) -> Book:
    """Without those of which nothing was heard for long."""
    oldest = now_ms - int(FORGOTTEN_AFTER.total_seconds() * 1000)
    return Book(tuple(incident for incident in book.incidents if incident.changed_ms >= oldest))
