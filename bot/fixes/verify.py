"""What a look afterwards, or before, says about a plan. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from bot.report.events import Report
from handlers.model import Diagnosis, Outcome
from handlers.remedy.plan import Offer, Plan


class Seen(Enum):
    """What has become of the finding that the plan is for."""

    GONE = "the finding is gone"
    STILL = "the finding is still there"
    UNSURE = "nobody could look"


@dataclass(frozen=True, slots=True)
class Look:
    """One look at the finding; `why` says what could not be seen."""

    seen: Seen
    why: str = ""


def look_for(plan: Plan, diagnosis: Diagnosis) -> Look:
    """Gone is only what was looked for and not found: a check without an answer proves nothing."""
    key = (plan.verify.code, plan.verify.subject.lower())
    if any(ranked.finding.key == key for ranked in diagnosis.findings):
        return Look(Seen.STILL)
    asked = [check for check in diagnosis.checks if plan.verify.code in check.codes]
    for check in asked:
        if check.outcome in (Outcome.INCONCLUSIVE, Outcome.CRASHED):
            return Look(Seen.UNSURE, check.why)
        if check.outcome is Outcome.FOUND and check.unseen:
            # It found others, and silence about this one acquits only where nothing was missing.
            return Look(Seen.UNSURE, str(check.unseen[0]))
    if all(check.outcome is Outcome.NOT_APPLICABLE for check in asked):
        return Look(Seen.UNSURE, asked[0].why if asked else "no check asks this question")
    return Look(Seen.GONE)


def offer_now(plan: Plan, report: Report) -> Offer | None:
    """What is offered now for the very thing that the plan is for."""
    for offer in report.offers:
        same_thing = (offer.code, offer.subject.lower()) == (plan.verify.code, plan.verify.subject.lower())
        if same_thing and offer.remedy == plan.remedy:
            return offer
    # A plan for several findings of one kind may have lost the one that it is named after.
    others = (offer for offer in report.offers if offer.plan and offer.remedy == plan.remedy)
    return next((other for other in others if other.plan and other.plan.target.lower() == plan.target.lower()), None)


def what_moved(plan: Plan, report: Report) -> tuple[str, ...]:
    """What is no longer as it was approved. Empty: go ahead."""
    look, offer = look_for(plan, report.diagnosis), offer_now(plan, report)
    if offer is None:
        if look.seen is Seen.UNSURE:
            return (f"{plan.verify.code} could not be looked for again: {look.why}",)
        if look.seen is Seen.GONE:
            return (f"{plan.verify.code} is gone by itself: there is nothing to repair",)
        return (f"{plan.verify.code} follows from another cause now{_causes(plan, report)}",)
    if offer.plan is None:
        return tuple(forbidden.because for forbidden in offer.forbidden)
    if moved := plan.moved(offer.plan):
        return moved
    if _acts(plan) != _acts(offer.plan):
        return ("other calls would be made now",)
    return ()


def _causes(plan: Plan, report: Report) -> str:
    key = (plan.verify.code, plan.verify.subject.lower())
    codes = [
        code for ranked in report.diagnosis.findings if ranked.finding.key == key for code, _ in ranked.explained_by
    ]
    return f": {', '.join(codes)}" if codes else ""


def _acts(plan: Plan) -> list[tuple[str, str, dict[str, object]]]:
    return [(step.verb.value, step.target.lower(), dict(step.arguments)) for step in plan.steps]
