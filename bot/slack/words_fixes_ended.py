"""Why a fix ended as it did."""

from __future__ import annotations

from collections.abc import Sequence

from bot.approvals.may import Barrier
from bot.approvals.proposal import Person
from bot.render.verdict import count
from bot.slack.words_fixes import escalate
from handlers.remedy.plan import Plan


def stale(changes: tuple[str, ...]) -> str:
    return "The world has moved since the plan was made: " + "; ".join(changes)


def half_way(why: str) -> str:
    return f"The world has moved, and this stopped half way; what was done before stays: {why}"


def fixed(plan: Plan, verdict: str) -> str:
    return f"Before: {plan.verify.code}. After: it is gone. The cluster now: {verdict}"


def gone_too_early(plan: Plan, why: str, verdict: str) -> str:
    return (
        f"{why}. {plan.verify.code} is not there now, but what was sent may still run. "
        f"Look at it in the portal until it has ended, then check again. The cluster now: {verdict}"
    )


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


_LOST_SAY = {
    Barrier.PERSON: "is no longer an approver",
    Barrier.GUEST: "has a guest account, one of another company, or none any more",
}


def lost_say(barrier: Barrier) -> str:
    return _LOST_SAY.get(barrier, barrier.value)


def lost_account(why: str) -> str:
    return f"is not known to Slack any more ({why})"


def lost_word(who: Person, why: str) -> str:
    return f"{who.name or who.user} {why}"


def not_enough_now(missing: int, needed: int, lost: Sequence[str] = ()) -> str:
    """`lost`: whose approval counts no more, and why."""
    whose = f"Approval withdrawn: {'; '.join(lost)}" if lost else f"The policy now asks for {count(needed, 'approval')}"
    are, it = ("is", "it") if missing == 1 else ("are", "them")
    return f"{whose}. {count(missing, 'more approval')} {are} needed; check again and ask for {it}"


def approvers_not_known(why: str) -> str:
    return f"Slack does not say whether those who approved it still may ({why})"


def tried_enough(tries: int, plan: Plan) -> str:
    why = escalate(tries, plan.title)
    return f"{why.because}: {why.do}"


def crashed(why: str) -> str:
    return f"aksbot itself failed while it carried this out ({why}); what was sent goes on by itself"


LOOK_YOURSELF = "Look at it in the portal, then check again"
