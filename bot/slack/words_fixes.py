"""What is said about fixes: offers, plans, approvals, how it goes and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.approvals.may import Barred, Barrier
from bot.approvals.moves import NotMoved, Why
from bot.approvals.proposal import End, Person, Proposal, State
from bot.render.verdict import count
from bot.slack.words import code, plain, span
from handlers.remedy.plan import Forbidden, Plan, Risk

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
    freeze = one.freeze
    if freeze is None:
        return "fixes are frozen now"
    return f"the freeze “{freeze.name}” is on ({freeze.since:%H:%M} to {freeze.until:%H:%M} {freeze.timezone})"


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
    return Forbidden(f"{AUDIT_BROKEN}: {why}", "whoever looks after aksbot must look: `aksbot audit verify` says where")


def held_by_another(cluster: str) -> Forbidden:
    return Forbidden(f"another fix runs on {cluster}", "press again when it has ended: two never run at once")


def reason_missing() -> str:
    return "Somebody will ask later why this was done."


CANNOT_TELL_WHO = "Slack does not say who you are"


def cannot_tell_who(why: str) -> Forbidden:
    return Forbidden(f"{CANNOT_TELL_WHO} ({why})", "try again in a minute")


NO_PLACE = Forbidden(
    "aksbot is not in this channel, so nobody here would see the request",
    "press *Invite me* under the answer, check again, and press there",
)
ALONE = Forbidden(
    "somebody else must approve this, and nobody else sees this conversation",
    "check again in a channel where those who may approve it are, and press there",
)

# -- the plan --------------------------------------------------------------------------------------------------------

PLAN_TITLE = "Plan of a fix"
GLASS_TITLE = "Break the glass"
CANCEL_WORD = "Not now"
CLOSE = "Close"
RUN_IT, ASK_FOR_IT, BREAK_IT = "Run it", "Ask for approval", "Break the glass"
STEPS, ONLY_IF, WRONG, CAREFUL, UNDO, FIXED_WHEN, WHO = (
    "Steps",
    "Only if this is still so",
    "What could go wrong",
    "Careful",
    "Undo",
    "Fixed when",
    "Who decides",
)
REASON, WHY_NOW = "Reason", "Why is this done?"
GLASS_WARNING = (
    ":rotating_light: You would let this run alone, without the approvals that the policy asks for. Everybody in the "
    "thread is told, and the audit keeps your name and your reason."
)
_RISKS = {
    Risk.LOW: ":large_green_circle: low risk",
    Risk.MEDIUM: ":large_orange_circle: medium risk",
    Risk.HIGH: ":red_circle: high risk",
}


def cost(plan: Plan) -> str:
    return f"{_RISKS[plan.risk]} · about {span(plan.eta)} · given up after {span(plan.limit)}"


def fixed_when(plan: Plan, subject: str) -> str:
    return f"{plan.verify.code} is gone from {subject}"


def who_decides(needed: int, *, requester_counts: bool, alone: bool) -> str:
    if alone:
        return "Your own word is enough: it runs at once."
    own = "" if requester_counts else ", and whoever asks does not count"
    return f"{count(needed, 'approval')} needed{own}."


def more_steps(number: int, cluster: str, remedy: str) -> str:
    return f"… and {count(number, 'more step')}. {code(f'aksbot plan {cluster} {remedy}')} prints all of it."


# -- the message of a proposal ---------------------------------------------------------------------------------------

APPROVE, DECLINE, SHOW, GLASS, STOP, WITHDRAW = (
    "Approve",
    "Decline",
    "Show the plan",
    "Break glass",
    "Stop",
    "Withdraw",
)
SURE, SURE_APPROVE, SURE_STOP, BACK = "Sure?", "Yes, approve", "Yes, stop", "Back"


def sure(plan: Plan) -> str:
    return f"{plan.title} on {name(plan)}: {count(len(plan.steps), 'step')}. It begins as soon as it is approved."


SURE_TO_STOP = "What was sent goes on; no further step begins, except what puts things back."


def name(plan: Plan) -> str:
    return plan.cluster.rstrip("/").rpartition("/")[2]


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
_MARKS = {
    End.FIXED: ":white_check_mark:",
    End.NOT_FIXED: ":x:",
    End.UNVERIFIED: ":grey_question:",
    End.STALE: ":leaves:",
    End.EXPIRED: ":hourglass:",
    End.DENIED: ":no_entry:",
    End.FAILED: ":x:",
    End.CANCELLED: ":octagonal_sign:",
}
_GOING = {
    State.OFFERED: (":raised_hand:", "waits for approval"),
    State.APPROVED: (":hourglass_flowing_sand:", "approved, begins"),
    State.RUNNING: (":gear:", "runs"),
}


def head(one: Proposal) -> str:
    mark, state = (_MARKS[one.end], END_WORDS[one.end]) if one.end else _GOING[one.state]
    return f"{mark} *{plain(one.plan.title, LONGEST)}* on {code(name(one.plan))}: *{state}*"


def asked_by(one: Proposal) -> Said:
    return ("Asked for by ", person(one.requester), f": {one.reason}" if one.reason else "")


def words_given(one: Proposal) -> Said:
    """Who has approved, and how many are missing."""
    said: Said = ()
    for word in one.approvals:
        glass = f" {BROKE}" if word.broke_glass else ""
        why = f": {word.reason}" if word.reason else ""
        said += (", " if said else "Approved by ", person(word.person), f"{glass}{why}")
    if one.state is State.OFFERED and one.missing:
        missing = f"{one.missing} of {count(one.rules.needed, 'approval')} missing"
        said += (f" · {missing}" if said else missing,)
    return said


def may_approve(names: tuple[str, ...]) -> Said:
    return ("Who may approve: ", *people(names))


def open_until(moment: datetime) -> Said:
    return ("Open until ", Moment(moment))


def running_for(time: timedelta) -> str:
    return f"running for {span(time)}"


LOOKING_AGAIN = "All steps are over. In a moment a new check says whether it worked."


def stopping(one: Person) -> Said:
    return (person(one), " has asked it to stop: no further step begins.")


def ended_by(one: Proposal) -> Said:
    if one.ended_by is None:
        return ()
    word = {End.DENIED: "Declined", End.CANCELLED: "Withdrawn"}.get(one.end or End.CANCELLED, "Ended")
    return (f"{word} by ", person(one.ended_by))


def for_the_requester(one: Proposal) -> Said:
    """An edit rings no bell; this does."""
    return ("For ", person(one.requester)) if one.requester else ()


def broke_glass(one: Proposal) -> str:
    what = f"{plain(one.plan.title, LONGEST)} on {code(name(one.plan))}"
    return f":rotating_light: *The glass is broken:* {what} runs without the approvals that the policy asks for."


def broke_glass_by(who: Person, reason: str) -> Said:
    return ("By ", person(who), f". Reason: {reason}")


BROKE = "(broke the glass)"


def steps_before(number: int) -> str:
    return f"{count(number, 'step')} before"


STEP_MARKS = {"done": "✓", "now": "▸", "failed": "✗", "skipped": "–", "later": "·"}
NEW_PLAN = "What can be done now"

# -- why it ended ----------------------------------------------------------------------------------------------------


def stale(changes: tuple[str, ...]) -> str:
    return "The world has moved since the plan was made: " + "; ".join(changes)


def fixed(plan: Plan, verdict: str) -> str:
    return f"Before: {plan.verify.code}. After: it is gone. The cluster now: {verdict}"


def still_there(plan: Plan, verdict: str) -> str:
    return f"Everything was done, and {plan.verify.code} is still there. The cluster now: {verdict}"


def looked(answer: str) -> str:
    return f"It only looks, and repairs nothing. What it saw: {answer}"


def unseen(plan: Plan, why: str) -> str:
    return f"Everything was done, but whether {plan.verify.code} is gone could not be seen: {why}. Check again"


def acts_failed(why: str, verdict: str) -> str:
    return f"{why.rstrip('.')}. The cluster now: {verdict}" if verdict else why


def not_known(why: str, ask: str) -> str:
    return f"{why}. {ask}".strip()


def no_look(problem: str) -> str:
    return f"it could not be checked: {problem}"


OTHER_FIX = "another fix runs on this cluster: two never run at once"
AUDIT_REFUSED = "the audit could not be written, and nothing is changed that cannot be recorded"
LOST_HOLD = "another fix has taken this cluster over, or the bot's memory was lost: nobody knows how far it was"
LOST_PLAN = "the bot's memory was lost after this had begun: what was sent goes on by itself"
NOT_AS_APPROVED = "the plan that is kept is another one than the one that was approved"
NOBODY_MAY_NOW = "the policy does not allow it any more"


def approved_long_ago(minutes: int) -> str:
    return (
        f"It was approved, and could not begin within {count(minutes, 'minute')}: aksbot was away, or had too much to "
        "do. Whether it is still wanted now is for people to say: check again, and ask again"
    )


def not_enough_now(missing: int, needed: int) -> str:
    return (
        "By what the policy says now its approvals are not enough: "
        f"{missing} of {count(needed, 'approval')} missing. Check again, and ask again"
    )


def tried_enough(tries: int, plan: Plan) -> str:
    why = escalate(tries, plan.title)
    return f"{why.because}: {why.do}"


def crashed(why: str) -> str:
    return f"aksbot itself failed while it carried this out ({why}); what was sent goes on by itself"


LOOK_YOURSELF = "Look at it in the portal, then check again"

# -- lists -----------------------------------------------------------------------------------------------------------

FIXES_TITLE = "Fixes"
OPEN_TITLE = "Open requests"
NOTHING_TO_FIX = "Nothing here has a fix."
NOTHING_OPEN = "No fix waits or runs."
NAME_A_CLUSTER = "Say for which cluster: `/aks fixes &lt;cluster&gt;`"
LOOKING = "Looking what can be done …"
AUDIT_TITLE = "Audit"
REQUEST = "the request"
UNREADABLE = "this record cannot be read"
NO_RECORDS = "Nothing has been recorded yet about clusters that you may look at."
AUDIT_HERE = "Reading the audit …"


def fixes_of(cluster: str) -> str:
    return f"What can be done about {code(cluster)}"


def audit_state(records: int, broken: str) -> str:
    if broken:
        return f":rotating_light: *The audit is broken:* {plain(broken, LONGEST)}. Fixes are refused."
    return f"{count(records, 'record')}, whole."
