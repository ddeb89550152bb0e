"""How a fix ended: what the acts say and what the look afterwards says, together. Pure."""

from __future__ import annotations

from bot.fixes import reasons
from bot.fixes.proposal import End
from bot.fixes.verify import Look, Seen, look_for
from bot.render.verdict import label, summary
from bot.report.events import Report
from handlers.problem import Problem
from handlers.remedy.execution import Execution, Outcome
from handlers.remedy.plan import Plan, Verb


def is_read_only(plan: Plan) -> bool:
    """It repairs nothing, so that not having repaired anything is no failure."""
    return all(step.verb is Verb.PROBE_FROM_POD for step in plan.steps)


def without_acts(here: Execution) -> tuple[End, str]:
    """Nothing was sent, so nothing has to be looked at."""
    ends = {Outcome.STALE: End.STALE, Outcome.CANCELLED: End.CANCELLED, Outcome.UNKNOWN: End.UNVERIFIED}
    end = ends.get(here.outcome or Outcome.FAILED, End.FAILED)
    why = reasons.stale((here.why,)) if end is End.STALE else reasons.not_known(here.why, here.ask)
    return end, why


def outcome_of(plan: Plan, here: Execution, report: Report | Problem) -> tuple[End, str]:
    """What the acts and the look afterwards say together."""
    look, verdict = _seen(plan, report)
    match here.outcome:
        case Outcome.UNKNOWN:
            return End.UNVERIFIED, reasons.acts_failed(reasons.not_known(here.why, here.ask), verdict)
        case Outcome.STALE if any(call.may_have_been_done for call in here.calls):
            # Where it is gone without the rest of the plan, somebody else may be at work on it.
            end = End.NOT_FIXED if look.seen is Seen.STILL else End.UNVERIFIED
            return end, reasons.acts_failed(reasons.half_way(here.why), verdict)
        case Outcome.STALE:
            return End.STALE, reasons.acts_failed(reasons.stale((here.why,)), verdict)
        case Outcome.CANCELLED:
            return End.CANCELLED, reasons.acts_failed(here.why, verdict)
        case Outcome.TIMED_OUT if look.seen is Seen.GONE:
            # A state of Updating hides the finding, too: gone is not repaired while what was sent may still run.
            return End.UNVERIFIED, reasons.gone_too_early(plan, here.why, verdict)
        case Outcome.FAILED | Outcome.TIMED_OUT:
            return End.FAILED, reasons.acts_failed(here.why, verdict)
    return _all_done(plan, here, look, verdict)


def _all_done(plan: Plan, here: Execution, look: Look, verdict: str) -> tuple[End, str]:
    if is_read_only(plan):
        # Nor is what is gone meanwhile its doing.
        end = End.ANSWERED if here.answer else End.FAILED
        return end, reasons.acts_failed(reasons.looked(here.answer), verdict)
    if look.seen is Seen.GONE:
        return End.FIXED, reasons.fixed(plan, verdict)
    if look.seen is Seen.STILL:
        return End.NOT_FIXED, reasons.still_there(plan, verdict)
    return End.UNVERIFIED, reasons.unseen(plan, look.why)


def _seen(plan: Plan, report: Report | Problem) -> tuple[Look, str]:
    if isinstance(report, Problem):
        return Look(Seen.UNSURE, reasons.no_look(f"{report.what}: {report.why}")), ""
    return look_for(plan, report.diagnosis), f"{label(report.diagnosis)[0]}, {summary(report.diagnosis)}"
