"""What is said about fixes: under an answer, who may, and why a click did nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.fixes.may import Barred, Barrier
from bot.fixes.moves import NotMoved, Why
from bot.fixes.proposal import End, Person
from bot.policy.fixes import Freeze
from bot.slack.words import code, plain
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

NO_BUTTON = "Why there is no button"
DO = "do"


def fix_button(plan: Plan) -> str:
    return f"Fix: {plan.title}"


def escalate(tries: int, title: str) -> Forbidden:
    return Forbidden(
        f"“{title}” was tried {tries} times in the last day and has not worked",
        "trying again will not help: take it to whoever owns this cluster, or to Azure's support with this thread",
    )


MEMORY_AWAY = Forbidden(
    "the bot's memory (Redis) is away, and without it nobody can approve anything",
    "wait until it is back, then check again; the steps under Fix do the same by hand",
)
SECRET_IN_PLAN = Forbidden(
    "the plan holds something that looks like a secret, and nobody can approve what must not be shown",
    "do the steps under Fix by hand",
)

# -- who may ---------------------------------------------------------------------------------------------------------


def barred(one: Barred, cluster: str, remedy: str) -> Forbidden:
    """Why the policy lets nobody, or not this person, or not now."""
    explain = f"`aksbot policy explain {cluster} --remedy {remedy}` shows the rules"
    match one.barrier:
        case Barrier.NO_RULE:
            because = f"no rule of the policy lets anybody run {remedy} on {cluster}"
            return Forbidden(because, f"add a rule under `fixes:` in the policy file (AKSBOT_POLICY); {explain}")
        case Barrier.NOBODY:
            because = f"rule {one.rule} of the policy names nobody who may approve {remedy} on {cluster}"
            return Forbidden(because, f"name people or user groups under `approvers:`; {explain}")
        case Barrier.RISK:
            because = f"{remedy} is riskier than rule {one.rule} of the policy allows on {cluster}"
            return Forbidden(because, f"follow the steps by hand, or raise `highest_risk:`; {explain}")
        case Barrier.FROZEN:
            return Forbidden(_frozen(one), f"wait until the freeze is over, or follow the steps by hand; {explain}")
        case Barrier.PERSON:
            because = f"you are not among those who may approve {remedy} on {cluster}"
            return Forbidden(because, "ask one of them")
        case Barrier.GUEST:
            because = "guests, people of other companies and closed accounts never approve a fix"
            return Forbidden(because, "ask somebody of this workspace who may")


def _frozen(one: Barred) -> str:
    return freeze_is_on(one.freeze) if one.freeze else "fixes are frozen now"


def freeze_is_on(freeze: Freeze) -> str:
    return f"the freeze “{freeze.name}” is on ({freeze.hours} {freeze.timezone})"


def who_instead(one: Barred) -> Said:
    """Only the one who was refused sees it, so nobody is called."""
    approvers = ("Who may approve: ", *people(one.approvers), ". ") if one.approvers else ()
    glass = ("Who may break the glass: ", *people(one.glass), ".") if one.glass else ()
    return approvers + glass


def refused(one: Forbidden) -> str:
    return f"*Not done:* {plain(one.because, LONGEST)}. {_do(one.do)}"


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
    called = [Who(one.rpartition(":")[2]) for one in names]
    return tuple(part for one in called for part in (one, ", "))[:-1]


def person(one: Person | None) -> str | Who:
    return Who(one.user) if one and one.user else "aksbot"


# -- a click that cannot be ------------------------------------------------------------------------------------------

END_WORDS = {
    End.FIXED: "fixed",
    End.NOT_FIXED: "not fixed",
    End.UNVERIFIED: "could not be verified",
    End.STALE: "out of date: nothing was done",
    End.EXPIRED: "expired: nothing was done",
    End.DENIED: "declined: nothing was done",
    End.FAILED: "failed",
    End.CANCELLED: "stopped",
}
_NOT_MOVED = {
    Why.UNKNOWN: "this offer is not known, or it was forgotten after a month. *Check again* makes a new one",
    Why.EXPIRED: "this offer has expired. *Check again* makes a new one",
    Why.OTHER_PLAN: "this button is of another plan than the one that is kept. *Check again* shows what it is now",
    Why.ENDED: "this has ended already",
    Why.RUNS: "this runs already",
    Why.APPROVED: "this is approved already, and begins",
    Why.NOT_APPROVED: "this is not approved",
    Why.TWICE: "you have approved this already. It needs somebody else, too",
    Why.REQUESTER: "you have asked for this, so somebody else must approve it",
    Why.NO_REASON: "a reason is needed",
    Why.NOT_ASKED: "nobody has asked for this yet: press its *Fix* button first",
    Why.PRESSED_LONG_AGO: "it was pressed more than a minute ago and could not be kept in time. Press again if you "
    "still want it",
    Why.ASKED_ALREADY: "somebody has asked for this already: its message is in this thread",
}


def not_moved(one: NotMoved) -> str:
    said = f"*Nothing was done by your click:* {_NOT_MOVED[one.why]}"
    proposal = one.proposal
    if one.why is Why.ENDED and proposal and proposal.end:
        said += f" ({END_WORDS[proposal.end]})"
    return f"{said}."


AUDIT_BROKEN = "the audit is broken, and nothing is changed that cannot be recorded"


def audit_broken(why: str) -> Forbidden:
    do = "whoever looks after aksbot must look: `aksbot audit verify` says where, and how fixes become possible again"
    return Forbidden(f"{AUDIT_BROKEN}: {why}", do)


def held_by_another(cluster: str) -> Forbidden:
    return Forbidden(f"another fix runs on {cluster}", "press again when it has ended: two never run at once")


def reason_missing() -> str:
    return "Somebody will ask later why this was done."


CANNOT_TELL_WHO = "Slack does not say who you are"


def cannot_tell_who(why: str) -> Forbidden:
    because = f"{CANNOT_TELL_WHO} and which user groups you are in ({why})"
    return Forbidden(because, "press again in a moment")


NO_PLACE = Forbidden(
    "aksbot is not in this channel, so nobody here would see the request",
    "press *Invite me* under the answer, check again, and press there",
)
ALONE = Forbidden(
    "somebody else must approve this, and nobody else sees this conversation",
    "check again in a channel where those who may approve it are, and press there",
)
