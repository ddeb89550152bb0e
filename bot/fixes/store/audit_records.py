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
    what: What, one: Proposal, who: Person = BOT, *, reason: str = "", details: Mapping[str, Any] | None = None
) -> Entry:
    plan = one.plan
    actor = Actor(who.team, who.user, who.name or who.user)
    return Entry(
        what, actor, plan.cluster, one.id, plan.remedy, plan.target, plan.digest, reason=reason, details=details or {}
    )


def started(one: Proposal) -> Entry:
    """All that the act rests on, before it."""
    words = [
        {"team": word.person.team, "user": word.person.user, "name": word.person.name, "at_ms": word.at_ms}
        | ({"reason": word.reason} if word.reason else {})
        | ({"broke_glass": True} if word.broke_glass else {})
        for word in one.approvals
    ]
    asked = one.requester or BOT
    steps = [step.request for step in one.plan.steps]
    return entry(What.STARTED, one, asked, reason=one.reason, details={"approvals": words, "steps": steps})


def called(one: Proposal, call: Call) -> Entry:
    return entry(What.CALLED, one, details=asdict(call))


def ended_as(record: Record) -> tuple[End, str]:
    """What stands in the audit as the end, and why."""
    return End(record.entry["details"]["end"]), str(record.entry["reason"])


def ended(one: Proposal, end: str, why: str, here: Execution | None) -> Entry:
    calls = [asdict(call) for call in here.calls] if here else []
    return entry(What.ENDED, one, reason=why, details={"end": end, "calls": calls})
