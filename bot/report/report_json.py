"""A report as JSON and back, for people who ask again within minutes. Times and durations in facts keep their types."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from enum import Enum
from typing import Any

from bot.report.events import Report
from handlers.model import Check, Diagnosis, Finding, Outcome, Ranked, Severity, Target, Unavailable, Why
from handlers.remedy.plan import Offer
from handlers.resource_id import ResourceId

_TAG = "$is"


def dump(report: Report) -> str:
    diagnosis = report.diagnosis
    return json.dumps(
        {
            "id": str(diagnosis.target.id),
            "asked_at": diagnosis.target.asked_at.isoformat(),
            "findings": [
                {"finding": _finding(ranked.finding), "explained_by": ranked.explained_by}
                for ranked in diagnosis.findings
            ],
            "checks": [_check(check) for check in diagnosis.checks],
            "unseen": [_unseen(unavailable) for unavailable in diagnosis.unseen],
            "diagnosis_ms": diagnosis.took_ms,
            "took_ms": report.took_ms,
            "calls": [report.arm_calls, report.kube_calls],
            "recorded_at": report.recorded_at.isoformat() if report.recorded_at else None,
            "offers": [offer.as_dict() for offer in report.offers],
        },
        separators=(",", ":"),
    )


def load(text: str) -> Report:
    data = json.loads(text)
    target = Target(ResourceId.parse(data["id"]), datetime.fromisoformat(data["asked_at"]))
    findings = tuple(
        Ranked(_finding_from(finding["finding"]), tuple((code, subject) for code, subject in finding["explained_by"]))
        for finding in data["findings"]
    )
    checks = tuple(_check_from(check) for check in data["checks"])
    unseen = tuple(_unseen_from(item) for item in data["unseen"])
    recorded_at = datetime.fromisoformat(data["recorded_at"]) if data["recorded_at"] else None
    diagnosis = Diagnosis(target, findings, checks, unseen, data["diagnosis_ms"])
    arm_calls, kube_calls = data["calls"]
    # A report that an older version stored has none.
    offers = tuple(Offer.from_dict(offer) for offer in data.get("offers", ()))
    return Report(diagnosis, data["took_ms"], arm_calls, kube_calls, recorded_at, offers)


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "subject": finding.subject,
        "because": finding.because,
        "affects": finding.affects,
        "severity": finding.severity.value,
        "facts": _tagged(finding.facts),
    }


def _finding_from(data: Mapping[str, Any]) -> Finding:
    because, affects = tuple(data["because"]), tuple(data["affects"])
    severity, facts = Severity(data["severity"]), _untagged(data["facts"])
    return Finding(data["code"], data["subject"], because, affects, severity, facts)


def _check(check: Check) -> dict[str, Any]:
    return {
        "id": check.id,
        "codes": check.codes,
        "outcome": check.outcome.value,
        "why": check.why,
        "took_ms": check.took_ms,
        "findings": [_finding(finding) for finding in check.findings],
        "unseen": [_unseen(gap) for gap in check.unseen],
    }


def _check_from(data: Mapping[str, Any]) -> Check:
    findings = tuple(_finding_from(finding) for finding in data["findings"])
    unseen = tuple(_unseen_from(item) for item in data["unseen"])
    outcome = Outcome(data["outcome"])
    return Check(data["id"], tuple(data["codes"]), outcome, data["why"], data["took_ms"], findings, unseen)


def _unseen(unavailable: Unavailable) -> dict[str, Any]:
    return {
        "wanted": unavailable.wanted,
        "why": unavailable.why.value,
        "detail": unavailable.detail,
        "grant": unavailable.grant,
    }


def _unseen_from(data: Mapping[str, Any]) -> Unavailable:
    return Unavailable(data["wanted"], Why(data["why"]), data["detail"], data["grant"])


def _tagged(value: Any) -> Any:
    """Types that JSON lacks get a tag, so that a runbook gets the same fact back."""
    if isinstance(value, Enum):
        return _tagged(value.value)
    if isinstance(value, Mapping):
        return {str(key): _tagged(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        items = [_tagged(item) for item in value]
        return {_TAG: "tuple", "of": items} if isinstance(value, tuple) else items
    if isinstance(value, set | frozenset):
        return {_TAG: "set", "of": sorted((_tagged(item) for item in value), key=str)}
    if isinstance(value, datetime):
        return {_TAG: "datetime", "of": value.isoformat()}
    if isinstance(value, date):
        return {_TAG: "date", "of": value.isoformat()}
    if isinstance(value, timedelta):
        return {_TAG: "timedelta", "of": value.total_seconds()}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


_FROM: dict[str, Callable[[Any], Any]] = {
    "tuple": lambda items: tuple(_untagged(item) for item in items),
    "set": lambda items: frozenset(_untagged(item) for item in items),
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "timedelta": lambda seconds: timedelta(seconds=seconds),
}


def _untagged(value: Any) -> Any:
    if isinstance(value, list):
        return [_untagged(item) for item in value]
    if not isinstance(value, dict):
        return value
    read = _FROM.get(value.get(_TAG, ""))
    if read and set(value) == {_TAG, "of"}:
        return read(value["of"])
    return {key: _untagged(item) for key, item in value.items()}
