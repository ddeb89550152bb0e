"""What the audit is told about a fix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from bot.audit.record import Actor, Entry, Record, What
from bot.fixes.proposal import End, Person, Proposal
from handlers.remedy.execution import Call, Execution

BOT = Person("", "", "aksbot")


def entry(
    what: What, proposal: Proposal, who: Person = BOT, *, reason: str = "", details: Mapping[str, Any] | None = None
) -> Entry:
    plan = proposal.plan
    actor = Actor(who.team, who.user, who.name or who.user)
    return Entry(
        what,
        actor,
        plan.cluster,
        proposal.id,
        plan.remedy,
        plan.target,
        plan.digest,
        reason=reason,
        details=details or {},
    )


def started(proposal: Proposal) -> Entry:
    """All that the act rests on, before it."""
    words = [
        {"team": word.person.team, "user": word.person.user, "name": word.person.name, "at_ms": word.at_ms}
        | ({"reason": word.reason} if word.reason else {})
        | ({"broke_glass": True} if word.broke_glass else {})
        for word in proposal.approvals
    ]
    asked = proposal.requester or BOT
    steps = [step.request for step in proposal.plan.steps]
    return entry(What.STARTED, proposal, asked, reason=proposal.reason, details={"approvals": words, "steps": steps})


def called(proposal: Proposal, call: Call) -> Entry:
    return entry(What.CALLED, proposal, details=asdict(call))


def ended_as(record: Record) -> tuple[End, str]:
    """What stands in the audit as the end, and why."""
    return End(record.entry["details"]["end"]), str(record.entry["reason"])


def ended(proposal: Proposal, end: str, why: str, here: Execution | None) -> Entry:
    calls = [asdict(call) for call in here.calls] if here else []
    return entry(What.ENDED, proposal, reason=why, details={"end": end, "calls": calls})
