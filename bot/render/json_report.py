"""The report for programs. The keys are a contract: add to them, never change them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from enum import Enum
from typing import Any

from bot.report.cost import FactCost, QuestionCost
from bot.report.detectors import Asked, compared
from bot.report.events import Report
from bot.report.scope import scope_of
from handlers.clients.call_log import Call
from handlers.evidence.detectors import Detectors
from handlers.fleet.kinds import kind_in_words
from handlers.model import Check, Diagnosis, NotApplicable, Ranked, Unavailable
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
            "about": str(scope.only.about) if scope.only.about else None,
        },
        "state": diagnosis.state.value,
        "findings": [_finding(ranked, library, report.offers) for ranked in diagnosis.findings],
        "unseen": [_unseen(unavailable) for unavailable in diagnosis.unseen],
        "checks": [
            _check(check, report.costs.get(check.id)) for check in sorted(diagnosis.checks, key=lambda check: check.id)
        ],
        "facts": [_fact(cost) for cost in _facts(report.costs.values())],
        "took_ms": round(report.took_ms, 1),
        "calls": {"arm": report.arm_calls, "kube": report.kube_calls},
        "recorded_at": report.recorded_at.isoformat() if report.recorded_at else None,
        **({"detectors": _detectors(report.detectors, diagnosis)} if report.detectors else {}),
    }


def _detectors(asked: Asked, diagnosis: Diagnosis) -> dict[str, Any]:
    """Only where somebody asked for them."""
    if isinstance(asked, NotApplicable):
        return {"ran": [], "offered": 0, "unseen": [], "not_applicable": asked.because}
    if not isinstance(asked, Detectors):
        return {"ran": [], "offered": 0, "unseen": [_unseen(asked)]}
    same = {one.detector.id: one for one in compared(asked, diagnosis)}
    rows = [
        {
            "id": detector.id,
            "name": detector.name,
            "status": detector.status,
            "says": list(detector.says),
            "same_as": list(same[detector.id].found) if detector.id in same else [],
            "ours": same[detector.id].says if detector.id in same else None,
        }
        for detector in asked.ran
    ]
    return {"ran": rows, "offered": asked.offered, "unseen": [_unseen(gap) for gap in asked.gaps]}


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


def _check(check: Check, cost: QuestionCost | None) -> dict[str, Any]:
    return {
        "id": check.id,
        "codes": list(check.codes),
        "outcome": check.outcome.value,
        "why": check.why,
        "took_ms": round(check.took_ms, 1),
        "waited_ms": round(cost.waited_ms, 1) if cost else None,
        "waited_for": [fact.fact for fact in cost.facts] if cost else None,
        "calls": {"arm": cost.arm, "kube": cost.kube} if cost else None,
    }


def _facts(costs: Iterable[QuestionCost]) -> list[FactCost]:
    """Every fact that some question waited for, the slowest first."""
    facts = {fact.fact: fact for cost in costs for fact in cost.facts}
    return sorted(facts.values(), key=lambda fact: (-fact.took_ms, fact.fact))


def _fact(cost: FactCost) -> dict[str, Any]:
    return {
        "fact": cost.fact,
        "took_ms": round(cost.took_ms, 1),
        "calls": {"arm": len(cost.arm), "kube": len(cost.kube)},
        "reads": [_read(call) for call in (*cost.arm, *cost.kube)],
    }


def _read(call: Call) -> dict[str, Any]:
    took_ms = round((call.ended - call.started) * 1000, 1)
    return {"method": call.method, "path": call.path, "status": call.status, "took_ms": took_ms}


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
