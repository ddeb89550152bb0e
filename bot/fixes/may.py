"""Who may let a fix run: the policy, the person and the moment. Pure; what is not known must not be guessed here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from typing import Protocol

from bot.fixes.proposal import Rules
from bot.policy.fixes import Fixes, FixRule, Freeze, HighestRisk
from bot.policy.look import Asker
from handlers.remedy.plan import Risk
from handlers.resource_id import last_name


class Wanted(Protocol):
    """What the policy must know of a plan."""

    @property
    def cluster(self) -> str: ...

    @property
    def remedy(self) -> str: ...

    @property
    def risk(self) -> Risk: ...


class Barrier(Enum):
    """What stands against a fix, or against a person who would approve it."""

    NO_RULE = "no rule of the policy covers it"
    NOBODY = "the rule names no approver"
    RISK = "it is riskier than the rule allows"
    FROZEN = "it is frozen now"
    PERSON = "this person is not among the approvers"
    GUEST = "guests and people of another company never approve"


@dataclass(frozen=True, slots=True)
class NotAllowed:
    """No, and why; who may instead."""

    barrier: Barrier
    rule: int = 0
    approvers: tuple[str, ...] = ()
    freeze: Freeze | None = None
    glass: tuple[str, ...] = ()
    """Who may break the glass."""


@dataclass(frozen=True, slots=True)
class Open:
    """The fix may be offered, under this rule."""

    number: int
    rule: FixRule
    rules: Rules

    @property
    def ping(self) -> tuple[str, ...]:
        """Who is called at first. Those whose turn comes later are left to sleep until then."""
        later = {name for step in self.rule.escalate for name in step.ping}
        first = tuple(name for name in self.rule.approvers if name not in later)
        return self.rule.ping or first or self.rule.approvers


@dataclass(frozen=True, slots=True)
class Called:
    """Whose word lets it run now: the approvers'; where none of them can give it, theirs who may break the glass."""

    approvers: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    """Whom the rule calls although it does not name them as approvers."""
    quiet: tuple[str, ...] = ()
    """Approvers whom the rule does not call: named only where that rings no bell."""
    glass: tuple[str, ...] = ()
    freeze: Freeze | None = None
    """Why no approver can."""

    @property
    def anybody_may_approve(self) -> bool:
        return bool(self.approvers or self.quiet)

    @property
    def aloud(self) -> Called:
        """Without those who are not to be called."""
        return replace(self, quiet=())


NOBODY = Called()
_RISKS: Sequence[str] = [risk.value for risk in HighestRisk]


def may_be_offered(fixes: Fixes, plan: Wanted, now: datetime) -> Open | NotAllowed:
    """Whether somebody may let this run at all, now."""
    cluster = last_name(plan.cluster)
    found = fixes.rule_for(cluster, plan.remedy)
    if found is None:
        return NotAllowed(Barrier.NO_RULE)
    number, rule = found
    if not rule.approvers and not rule.break_glass:
        return NotAllowed(Barrier.NOBODY, number)
    if _is_riskier(plan.risk, rule.highest_risk):
        return NotAllowed(Barrier.RISK, number)
    lasts_ms = fixes.expires_minutes * 60_000
    offer = Open(number, rule, Rules(rule.approvals, rule.requester_counts, rule.reason, lasts_ms))
    freeze = fixes.freeze_on(rule, now)
    if freeze and not rule.break_glass:
        return NotAllowed(Barrier.FROZEN, number, rule.approvers, freeze)
    return offer


def may_approve(fixes: Fixes, plan: Wanted, asker: Asker, now: datetime) -> Open | NotAllowed:
    """Whether this person may approve it now. That they asked for it themselves is looked at by the move."""
    offer = may_be_offered(fixes, plan, now)
    if isinstance(offer, NotAllowed):
        return offer
    rule = offer.rule
    if freeze := fixes.freeze_on(rule, now):
        return NotAllowed(Barrier.FROZEN, offer.number, rule.approvers, freeze, rule.break_glass)
    if asker.guest or asker.stranger:
        return NotAllowed(Barrier.GUEST, offer.number, rule.approvers)
    if not _is_among(asker, rule.approvers):
        return NotAllowed(Barrier.PERSON, offer.number, rule.approvers, glass=rule.break_glass)
    return offer


def may_break_glass(fixes: Fixes, plan: Wanted, asker: Asker, now: datetime) -> Open | NotAllowed:
    """Whether this person may let it run alone, with a reason, whatever is frozen."""
    offer = may_be_offered(fixes, plan, now)
    if isinstance(offer, NotAllowed):
        return offer
    if asker.guest or asker.stranger:
        return NotAllowed(Barrier.GUEST, offer.number, offer.rule.break_glass)
    if not _is_among(asker, offer.rule.break_glass):
        return NotAllowed(Barrier.PERSON, offer.number, offer.rule.approvers, glass=offer.rule.break_glass)
    return offer


def whom_to_call(fixes: Fixes, may: Open, now: datetime, *, escalated: int = 0) -> Called:
    """Nobody is woken who could only look on. `escalated`: so many steps of the rule's `escalate` were called, too."""
    freeze = fixes.freeze_on(may.rule, now)
    if freeze or not may.rule.approvers:
        return Called(glass=may.rule.break_glass, freeze=freeze)
    rule = may.rule
    called = dict.fromkeys((*may.ping, *(name for step in rule.escalate[:escalated] for name in step.ping)))
    in_their_turn = {*called, *(name for step in rule.escalate for name in step.ping)}
    return Called(
        tuple(name for name in called if name in rule.approvers),
        tuple(name for name in called if name not in rule.approvers),
        tuple(dict.fromkeys(name for name in rule.approvers if name not in in_their_turn)),
    )


def _is_among(asker: Asker, people: tuple[str, ...]) -> bool:
    return any(person == f"{asker.team}:{asker.user}" or person in asker.groups for person in people)


def _is_riskier(risk: Risk, highest: HighestRisk) -> bool:
    return _RISKS.index(risk.value) > _RISKS.index(highest.value)
