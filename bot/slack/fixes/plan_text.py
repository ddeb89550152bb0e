"""What the window with a plan says."""

from __future__ import annotations

from bot.render.verdict import count
from bot.slack.kit.escaping import code, span
from handlers.remedy.plan import Plan, Risk

PLAN_TITLE = "Plan of a fix"
GLASS_TITLE = "Break the glass"
CANCEL_WORD = "Not now"
CLOSE = "Close"
RUN_IT, ASK_FOR_IT, BREAK_IT = "Run it", "Ask for approval", "Break the glass"
STEPS, ONLY_IF, TAGS, WRONG, CAREFUL, UNDO, FIXED_WHEN, WHO = (
    "Steps",
    "Only if this is still so",
    "Only if nobody has changed it since",
    "What could go wrong",
    "Careful",
    "Undo",
    "Fixed when",
    "Who decides",
)
REASON, WHY_NOW = "Reason", "Why is this done?"
ASKED_LATER = "Someone will ask later why this was done."
DECLINE_TITLE, DECLINE_IT, WHY_NOT = "Decline the fix", "Decline", "Why not?"
DECLINE_NOTE = "If you decline, nothing is done, and nobody can approve this request any more."
WHO_READS = "Whoever asked for it reads this in the thread, and the audit keeps it."
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
