"""What is said about fixes: under an answer, who may, and why a click did nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from bot.fixes import reasons
from bot.fixes.may import Barrier, NotAllowed
from bot.fixes.moves import NotMoved, Why
from bot.fixes.proposal import End, Person, Proposal
from bot.slack.kit.escaping import code, plain
from handlers.remedy.plan import Forbidden, Plan

LONGEST = 300


@dataclass(frozen=True, slots=True)
class Who:
    """Somebody, or a user group, who is called by being named."""

    id: str


@dataclass(frozen=True, slots=True)
class Moment:
    """In the reader's own time."""

    at: datetime


Said = tuple[str | Who | Moment, ...]
"""A sentence with people in it. Its texts are shown letter by letter: whatever they hold calls nobody."""


def name(plan: Plan) -> str:
    return plan.cluster.rstrip("/").rpartition("/")[2]


# -- under an answer -------------------------------------------------------------------------------------------------

NO_BUTTON, OTHERS_NO_BUTTON = "Why there is no button", "Why the others have no button"
DO = "do"


def fix_button(plan: Plan) -> str:
    return f"Fix: {plan.title}"


# -- who may ---------------------------------------------------------------------------------------------------------


def barred(allowed: NotAllowed, cluster: str, remedy: str) -> Forbidden:
    """Why the policy lets nobody, or not this person, or not now: said to the person."""
    said = reasons.barred(allowed, cluster, remedy)
    if allowed.barrier is not Barrier.PERSON:
        return said
    return replace(said, because=f"you are not among those who may approve {remedy} on {cluster}")


def who_instead(allowed: NotAllowed) -> Said:
    """Only the one who was refused sees it, so nobody is called."""
    approvers = ("Who may approve: ", *people(allowed.approvers), ". ") if allowed.approvers else ()
    glass = ("Who may break the glass: ", *people(allowed.glass), ".") if allowed.glass else ()
    return approvers + glass


def refused(forbidden: Forbidden) -> str:
    return f"*Not done:* {plain(forbidden.because, LONGEST)}. {_do(forbidden.do)}"


def _do(text: str) -> str:
    """Our own sentence: its code spans are ours."""
    said = text[:1].upper() + text[1:]
    parts = said.split("`")
    shown = [code(part) if number % 2 else plain_keep(part) for number, part in enumerate(parts)]
    return "".join(shown) + "."


def plain_keep(text: str) -> str:
    """As `plain`, and a space at an end stays."""
    core = plain(text, 1000)
    before, after = text[:1].isspace(), text[-1:].isspace()
    return f"{' ' if before and core else ''}{core}{' ' if after else ''}"


def people(names: tuple[str, ...]) -> Said:
    """Only where somebody is called: everybody named gets a sound."""
    called = [Who(name.rpartition(":")[2]) for name in names]
    return tuple(part for who in called for part in (who, ", "))[:-1]


def person(each_person: Person | None) -> str | Who:
    return Who(each_person.user) if each_person and each_person.user else "aksbot"


# -- a click that cannot be ------------------------------------------------------------------------------------------

END_WORDS = {
    End.FIXED: "fixed",
    End.NOT_FIXED: "not fixed",
    End.ANSWERED: "answered",
    End.UNVERIFIED: "could not be verified",
    End.STALE: "out of date: nothing was done",
    End.EXPIRED: "expired: nothing was done",
    End.DENIED: "declined: nothing was done",
    End.FAILED: "failed",
    End.CANCELLED: "stopped",
}
WITHDRAWN = "withdrawn: nothing was done"


def end_of(proposal: Proposal, end: End) -> str:
    """Somebody ends it before it runs; a running one is asked to stop, and does so between two steps."""
    return WITHDRAWN if end is End.CANCELLED and proposal.ended_by else END_WORDS[end]


_NOT_MOVED = {
    Why.UNKNOWN: "this offer is not known, or it was forgotten after a month. *Check again* makes a new one",
    Why.EXPIRED: "this offer has expired. *Check again* makes a new one",
    Why.OTHER_PLAN: "this button is of another plan than the one that is kept. *Check again* shows what it is now",
    Why.ENDED: "this has ended already",
    Why.RUNS: "this is running already",
    Why.APPROVED: "this is approved already, and is starting",
    Why.NOT_APPROVED: "this is not approved",
    Why.TWICE: "you have approved this already. It needs someone else, too",
    Why.REQUESTER: "you have asked for this, so someone else must approve it",
    Why.NO_REASON: "a reason is needed",
    Why.NOT_ASKED: "nobody has asked for this yet: press its *Fix* button first",
    Why.PRESSED_LONG_AGO: "it was pressed more than a minute ago and could not be kept in time. Press again if you "
    "still want it",
    Why.ASKED_ALREADY: "someone has asked for this already: its message is in this thread",
}


def not_moved(moved: NotMoved) -> str:
    said = f"*Nothing was done by your click:* {_NOT_MOVED[moved.why]}"
    proposal = moved.proposal
    if moved.why is Why.ENDED and proposal and proposal.end:
        said += f" ({end_of(proposal, proposal.end)})"
    return f"{said}."


def audit_broken(why: str) -> Forbidden:
    do = "whoever looks after aksbot must look: `aksbot audit verify` says where, and how fixes become possible again"
    return Forbidden(reasons.audit_broken(why), do)


def held_by_another(cluster: str) -> Forbidden:
    return Forbidden(f"another fix runs on {cluster}", "press again when it has ended: two never run at once")


CANNOT_TELL_WHO = "Slack does not say who you are"


def cannot_tell_who(why: str) -> Forbidden:
    because = f"{CANNOT_TELL_WHO} and which user groups you are in ({why})"
    return Forbidden(because, "press again in a moment")


NO_PLACE = Forbidden(
    reasons.NOT_IN_CHANNEL,
    "press *Invite me* under the answer, or go to an internal channel; check again, and press there",
)
READ_OUTSIDE = Forbidden(
    "guests or people of another company read this channel",
    "check again in an internal channel, and press there",
)
ALONE = Forbidden(
    "someone else must approve this, and no one else sees this conversation",
    "check again in a channel where those who may approve it are, and press there",
)
