"""A fix that was offered, and what people said to it.

    offered ──approvals──▶ approved ──a worker takes it──▶ running ──▶ ended
       └──────── declined, expired, stale ────────────────────────────▶ ended

Every move is a pure function from a proposal to the next one, or to the reason why not. The store applies it in one
compare-and-set, by the server's clock: of two clicks at once one moves, the other is told so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer

from bot.address import Address
from handlers.remedy.plan import Plan


class State(StrEnum):
    OFFERED = "offered"
    APPROVED = "approved"
    RUNNING = "running"
    ENDED = "ended"


class End(StrEnum):
    """How it ended."""

    FIXED = "fixed"
    NOT_FIXED = "not-fixed"
    ANSWERED = "answered"
    """It only looks, and has."""
    UNVERIFIED = "unverified"
    STALE = "stale"
    EXPIRED = "expired"
    DENIED = "denied"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Person:
    """Who it is: an id is only worth something together with its team."""

    team: str
    user: str
    name: str = ""

    def is_(self, other: Person | None) -> bool:
        return other is not None and (self.team, self.user) == (other.team, other.user)


@dataclass(frozen=True, slots=True)
class Approval:
    """One person's word for exactly this plan."""

    person: Person
    at_ms: int
    digest: str
    reason: str = ""
    broke_glass: bool = False


@dataclass(frozen=True, slots=True)
class Rules:
    """What the policy asked for when the fix was offered."""

    needed: int
    requester_counts: bool
    reason_needed: bool
    lasts_ms: int

    def and_(self, other: Rules) -> Rules:
        """What satisfies both."""
        return Rules(
            max(self.needed, other.needed),
            self.requester_counts and other.requester_counts,
            self.reason_needed or other.reason_needed,
            min(self.lasts_ms, other.lasts_ms),
        )


def _read_plan(kept: object) -> object:
    return Plan.from_json(kept) if isinstance(kept, str) else kept


KeptPlan = Annotated[Plan, BeforeValidator(_read_plan), PlainSerializer(Plan.as_json)]
"""In its own JSON, letter by letter: its digest is over that."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """One offered fix."""

    id: str
    plan: KeptPlan
    team: str
    spot: Address
    rules: Rules
    offered_ms: int
    expires_ms: int
    state: State = State.OFFERED
    requester: Person | None = None
    reason: str = ""
    approvals: tuple[Approval, ...] = ()
    end: End | None = None
    why: str = ""
    """Of the end, for people."""
    ended_by: Person | None = None
    cancel_by: Person | None = None
    """Who asked that it stop between two steps."""
    clicks: tuple[str, ...] = ()
    """The clicks that have moved it: one that is worked on again after a kill is not refused as a second one."""
    version: int = 0
    asked_ms: int = 0
    """When somebody asked for approval; 0 in those of earlier versions."""
    escalated: int = 0
    """How many steps of the policy's `escalate` have been called."""

    @property
    def waits_since_ms(self) -> int:
        return self.asked_ms or self.expires_ms - self.rules.lasts_ms

    @property
    def digest(self) -> str:
        return self.plan.digest

    @property
    def missing(self) -> int:
        """How many approvals it still needs."""
        own = not self.rules.requester_counts
        counted = [approval for approval in self.approvals if not (own and approval.person.is_(self.requester))]
        return max(self.rules.needed - len(counted), 0)

    @property
    def stands_until_ms(self) -> int:
        """Whoever approved it had this night in mind, not the next noon."""
        return max((approval.at_ms for approval in self.approvals), default=0) + self.rules.lasts_ms

    def moved(self, **changes: Any) -> Proposal:
        return replace(self, **changes)

    def under(self, today: Rules) -> Proposal:
        """The same where the policy has become stricter since it was offered; a laxer one changes nothing."""
        return replace(self, rules=self.rules.and_(today))
