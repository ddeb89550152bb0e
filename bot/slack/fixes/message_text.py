"""What the message of a proposal says, as it goes."""

from __future__ import annotations

from datetime import datetime, timedelta

from bot.fixes import reasons
from bot.fixes.may import Called, NotAllowed
from bot.fixes.proposal import End, Person, Proposal, State
from bot.render.clean import one_line
from bot.render.verdict import count
from bot.slack.fixes.text import LONGEST, Moment, Said, end_of, name, people, person
from bot.slack.kit import escaping, limits
from bot.slack.kit.escaping import code, plain, span
from handlers.remedy.plan import Plan
from handlers.remedy.titles import shortened

APPROVE, DECLINE, SHOW, GLASS, STOP, WITHDRAW = (
    "Approve",
    "Decline",
    "Show the plan",
    "Break glass",
    "Stop",
    "Withdraw",
)
SURE, SURE_APPROVE, SURE_STOP, BACK = "Sure?", "Yes, approve", "Yes, stop", "Back"


def approve_what(plan: Plan) -> str:
    """The cluster first; of a name that is too long both ends stay."""
    what = f": {plan.title}?"
    return f"{shortened(name(plan), limits.CONFIRM_TITLE - len(what))}{what}"


def effect(plan: Plan) -> str:
    """What it does to whom. For a plan of an earlier version, what it is called."""
    return plan.effect or f"{plan.title} on {name(plan)}: {count(len(plan.steps), 'step')}"


def sure(plan: Plan) -> str:
    """What is approved. How long it takes, and that it begins at once, is said in any case."""
    then = f". About {span(plan.eta)}. It begins as soon as it is approved."
    return f"{escaping.cut(one_line(effect(plan)), limits.CONFIRM_TEXT - len(then))}{then}"


SURE_TO_STOP = "What was sent goes on; no further step begins, except what puts things back."


_MARKS = {
    End.FIXED: ":white_check_mark:",
    End.NOT_FIXED: ":x:",
    End.ANSWERED: ":mag:",
    End.UNVERIFIED: ":grey_question:",
    End.STALE: ":leaves:",
    End.EXPIRED: ":hourglass:",
    End.DENIED: ":no_entry:",
    End.FAILED: ":x:",
    End.CANCELLED: ":octagonal_sign:",
}
_GOING = {
    State.OFFERED: (":raised_hand:", "waits for approval"),
    State.APPROVED: (":hourglass_flowing_sand:", "approved, starting"),
    State.RUNNING: (":gear:", "running"),
}


def going(state: State) -> str:
    return _GOING[state][1]


def head(proposal: Proposal) -> str:
    mark, state = (_MARKS[proposal.end], end_of(proposal, proposal.end)) if proposal.end else _GOING[proposal.state]
    return f"{mark} *{plain(proposal.plan.title, LONGEST)}* on {code(name(proposal.plan))}: *{state}*"


def begins(step: int, of: int) -> str:
    return "begins" if of == 1 else f"step {step} begins"


def asked_by(proposal: Proposal) -> Said:
    return ("Asked for by ", person(proposal.requester), f": {proposal.reason}" if proposal.reason else "")


def words_given(proposal: Proposal) -> Said:
    """Who has approved, and how many more it needs."""
    said: Said = ()
    for word in proposal.approvals:
        glass = f" {BROKE}" if word.broke_glass else ""
        why = f": {word.reason}" if word.reason else ""
        said += (", " if said else "Approved by ", person(word.person), f"{glass}{why}")
    if proposal.state is State.OFFERED and proposal.missing:
        needed = _needed(proposal.missing, proposal.rules.needed)
        said += (f" · {needed}" if said else needed,)
    return said


def _needed(missing: int, of: int) -> str:
    return f"{count(of, 'approval')} needed" if missing == of else f"{missing} of {count(of, 'approval')} still needed"


def may_approve(names: tuple[str, ...]) -> Said:
    return ("Who may approve: ", *people(names))


NOBODY_CAN = "nobody can approve it now"


def waits_for(called: Called) -> list[Said]:
    """Whoever is named here is called, if it is a new message."""
    said: list[Said] = [("Called: ", *people(called.others))] if called.others else []
    if called.anybody_may_approve:
        said.append(may_approve((*called.approvers, *called.quiet)))
    if called.freeze:
        said.append((escaping.sentence(f"{reasons.freeze_is_on(called.freeze)}: {NOBODY_CAN}"),))
    if called.glass:
        said.append(("Who may break the glass: ", *people(called.glass)))
    return said


def nobody_may(barred: NotAllowed | None, plan: Plan) -> Said:
    """What has come between since it was asked for: a freeze, or another policy."""
    return (
        (escaping.sentence(f"{reasons.why_barred(barred, name(plan), plan.remedy)}: {NOBODY_CAN}"),) if barred else ()
    )


def still_waits(proposal: Proposal) -> str:
    what = f"{plain(proposal.plan.title, LONGEST)}* on {code(name(proposal.plan))}"
    return f":alarm_clock: *{what} still *waits for approval*"


def asked_before(proposal: Proposal, waited: timedelta) -> Said:
    why = f": {proposal.reason}" if proposal.reason else ""
    return ("Asked for by ", person(proposal.requester), f" {span(waited)} ago{why}")


def now_called(called: Called) -> Said:
    return (*people(called.approvers), ": you may approve it, too")


PRESS_ABOVE = "The buttons are in this thread, further up."


def open_until(moment: datetime) -> Said:
    return ("Open until ", Moment(moment))


def running_for(time: timedelta) -> str:
    return f"running for {span(time)}"


LOOKING_AGAIN = "All steps are over. In a moment a new check says whether it worked."


def stopping(each_person: Person) -> Said:
    return (person(each_person), " has asked it to stop: no further step begins.")


def ended_by(proposal: Proposal) -> Said:
    if proposal.ended_by is None:
        stopped = proposal.end is End.CANCELLED and proposal.cancel_by
        return ("Stopped by ", person(proposal.cancel_by)) if stopped else ()
    word = {End.DENIED: "Declined", End.CANCELLED: "Withdrawn"}.get(proposal.end or End.CANCELLED, "Ended")
    return (f"{word} by ", person(proposal.ended_by))


def for_the_requester(proposal: Proposal) -> Said:
    """An edit rings no bell; this does."""
    return ("For ", person(proposal.requester)) if proposal.requester else ()


def broke_glass(proposal: Proposal) -> str:
    what = f"{plain(proposal.plan.title, LONGEST)} on {code(name(proposal.plan))}"
    return f":rotating_light: *Break-glass used:* {what} runs without the approvals the policy requires."


def broke_glass_by(who: Person, reason: str) -> Said:
    return ("By ", person(who), f". Reason: {reason}")


BROKE = "(broke the glass)"


def steps_before(number: int) -> str:
    return f"{count(number, 'step')} before"


STEP_MARKS = {"done": "✓", "now": "▸", "failed": "✗", "skipped": "–", "later": "·"}
NEW_PLAN = "What can be done now"
