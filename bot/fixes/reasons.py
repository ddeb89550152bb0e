"""Why nobody can run a fix, and why one ended as it did.

Proposals and the audit keep these sentences, and others than Slack print them: they are plain text without markup. Only
what to do about it (`Forbidden.do`), which is never kept, marks commands with backticks.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.fixes.may import Barrier, NotAllowed
from bot.fixes.proposal import Person
from bot.policy.fixes import Freeze
from bot.render.verdict import count
from handlers.remedy.plan import Forbidden, Plan

# -- why it cannot be offered, asked for or approved -----------------------------------------------------------------

MEMORY_AWAY = Forbidden(
    "the bot's memory (Redis) is away, and without it nobody can approve anything",
    "wait until it is back, then check again; the steps under Fix do the same by hand",
)
SECRET_IN_PLAN = Forbidden(
    "the plan holds something that looks like a secret, and nobody can approve what must not be shown",
    "do the steps under Fix by hand",
)
NOT_IN_CHANNEL = "aksbot is not in this channel, so nobody here would see the request"
AUDIT_BROKEN = "the audit is broken, and nothing is changed that cannot be recorded"


def escalate(tries: int, title: str) -> Forbidden:
    return Forbidden(
        f"“{title}” was tried {tries} times in the last day and has not worked",
        "trying again will not help: take it to whoever owns this cluster, or to Azure's support with this thread",
    )


def barred(allowed: NotAllowed, cluster: str, remedy: str) -> Forbidden:
    """Why the policy lets nobody, or not this person, or not now."""
    do = _instead(allowed.barrier)
    if allowed.barrier in (Barrier.PERSON, Barrier.GUEST):
        return Forbidden(why_barred(allowed, cluster, remedy), do)
    explain = f"`aksbot policy explain {cluster} --remedy {remedy}` shows the rules"
    return Forbidden(why_barred(allowed, cluster, remedy), f"{do}; {explain}")


def why_barred(allowed: NotAllowed, cluster: str, remedy: str) -> str:
    """As the audit keeps it, beside the name of whoever was refused."""
    match allowed.barrier:
        case Barrier.NO_RULE:
            return f"no rule of the policy lets anybody run {remedy} on {cluster}"
        case Barrier.NOBODY:
            return f"rule {allowed.rule} of the policy names nobody who may approve {remedy} on {cluster}"
        case Barrier.RISK:
            return f"{remedy} is riskier than rule {allowed.rule} of the policy allows on {cluster}"
        case Barrier.FROZEN:
            return freeze_is_on(allowed.freeze) if allowed.freeze else "fixes are frozen now"
        case Barrier.PERSON:
            return f"this person is not among those who may approve {remedy} on {cluster}"
        case Barrier.GUEST:
            return "guests, people of other companies and closed accounts never approve a fix"


def _instead(barrier: Barrier) -> str:
    match barrier:
        case Barrier.NO_RULE:
            return "add a rule under `fixes:` in the policy file (AKSBOT_POLICY)"
        case Barrier.NOBODY:
            return "name people or user groups under `approvers:`"
        case Barrier.RISK:
            return "follow the steps by hand, or raise `highest_risk:`"
        case Barrier.FROZEN:
            return "wait until the freeze is over, or follow the steps by hand"
        case Barrier.PERSON:
            return "ask one of them"
        case Barrier.GUEST:
            return "ask someone of this workspace who may"


def frozen_since(freeze: Freeze) -> str:
    return f"the freeze “{freeze.name}” is on now"


def freeze_is_on(freeze: Freeze) -> str:
    return f"the freeze “{freeze.name}” is on ({freeze.hours} {freeze.timezone})"


# -- why it ended ----------------------------------------------------------------------------------------------------


def stale(changes: tuple[str, ...]) -> str:
    return "Things have changed since the plan was made: " + "; ".join(changes)


def half_way(why: str) -> str:
    return f"Things have changed, and this stopped half way; what was done before stays: {why}"


def fixed(plan: Plan, verdict: str) -> str:
    remains = f" {plan.verify.remains}." if plan.verify.remains else ""
    return f"Before: {plan.verify.code}. After: it is gone.{remains} The cluster now: {verdict}"


def gone_too_early(plan: Plan, why: str, verdict: str) -> str:
    return (
        f"{why}. {plan.verify.code} is not there now, but what was sent may still run. "
        f"Look at it in the portal until it has ended, then check again. The cluster now: {verdict}"
    )


def still_there(plan: Plan, verdict: str) -> str:
    return f"Everything was done, and {plan.verify.code} is still there. The cluster now: {verdict}"


def looked(answer: str) -> str:
    """`answer` has a line for each question that was asked."""
    said = "; ".join(filter(None, map(str.strip, answer.splitlines())))
    return f"It only looks, and repairs nothing. {f'What it saw: {said}' if said else 'It got no answer'}"


def unseen(plan: Plan, why: str) -> str:
    return f"Everything was done, but whether {plan.verify.code} is gone could not be seen: {why}. Check again"


def acts_failed(why: str, verdict: str) -> str:
    return f"{why.rstrip('.')}. The cluster now: {verdict}" if verdict else why


def not_known(why: str, ask: str) -> str:
    return f"{why}. {ask}".strip()


def no_look(problem: str) -> str:
    return f"it could not be checked: {problem}"


OTHER_FIX = "another fix runs on this cluster: two never run at once"
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


def audit_broken(why: str) -> str:
    return f"{AUDIT_BROKEN}: {why}"


def tried_enough(tries: int, plan: Plan) -> str:
    why = escalate(tries, plan.title)
    return f"{why.because}: {why.do}"


def crashed(why: str) -> str:
    return f"aksbot itself failed while it carried this out ({why}); what was sent goes on by itself"


LOOK_YOURSELF = "Look at it in the portal, then check again"
