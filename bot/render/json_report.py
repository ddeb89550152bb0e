"""The report for programs. The keys are a contract: add to them, never change them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from enum import Enum
from typing import Any

from bot.report.events import Report
from bot.report.scope import scope_of
from handlers.fleet.kinds import kind_in_words
from handlers.model import Check, Ranked, Unavailable
from handlers.remedy.plan import Offer
from runbooks.library import Library


def as_json(report: Report, library: Library) -> str:
    """One object on several lines, in pure ASCII so that nothing can steer a terminal."""
    return json.dumps(as_dict(report, library), indent=2)


def as_dict(report: Report, library: Library) -> dict[str, Any]:
    diagnosis, scope = report.diagnosis, scope_of(report.diagnosis, library)
    return {
        "cluster": diagnosis.target.name,
        "id": str(diagnosis.target.id),
        "kind": scope.kind,
        "looked_at": kind_in_words(diagnosis.target.id),
        "scope": {
            "areas": list(scope.areas),
            "codes": list(scope.codes),
            "cannot_ask": list(scope.cannot_ask),
            "narrowed_to": scope.only.only or scope.only.area,
        },
        "state": diagnosis.state.value,
        "findings": [_finding(ranked, library, report.offers) for ranked in diagnosis.findings],
        "unseen": [_unseen(unavailable) for unavailable in diagnosis.unseen],
        "checks": [_check(check) for check in sorted(diagnosis.checks, key=lambda check: check.id)],
        "took_ms": round(report.took_ms, 1),
        "calls": {"arm": report.arm_calls, "kube": report.kube_calls},
        "recorded_at": report.recorded_at.isoformat() if report.recorded_at else None,
    }


def _finding(ranked: Ranked, library: Library, offers: tuple[Offer, ...]) -> dict[str, Any]:
    finding = ranked.finding
    runbook = library.get(finding.code)
    return {
        "code": finding.code,
        "subject": finding.subject,
        "title": runbook.title if runbook else finding.code,
        "severity": finding.severity.value,
        "root": ranked.root,
        "explained_by": [{"code": code, "subject": subject} for code, subject in ranked.explained_by],
        "because": list(finding.because),
        "affects": list(finding.affects),
        "facts": plain(finding.facts),
        "remedies": list(runbook.remedies) if runbook else [],
        "fixes": [_fix(offer) for offer in offers if (offer.code, offer.subject) == (finding.code, finding.subject)],
    }


def _fix(offer: Offer) -> dict[str, Any]:
    plan = offer.plan
    return {
        "remedy": offer.remedy,
        "title": plan.title if plan else None,
        "risk": plan.risk.value if plan else None,
        "forbidden": [{"because": forbidden.because, "do": forbidden.do} for forbidden in offer.forbidden],
        "commands": [step.command for step in plan.steps] if plan else [],
    }


def _check(check: Check) -> dict[str, Any]:
    return {
        "id": check.id,
        "codes": list(check.codes),
        "outcome": check.outcome.value,
        "why": check.why,
        "took_ms": round(check.took_ms, 1),
    }


def _unseen(unavailable: Unavailable) -> dict[str, Any]:
    return {
        "wanted": unavailable.wanted,
        "why": unavailable.why.value,
        "detail": unavailable.detail,
        "grant": unavailable.grant,
    }


def plain(value: Any) -> Any:
    """A fact as JSON, in a stable order."""
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, Mapping):
        return {str(key): plain(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(item) for item in value), key=str)
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)
