"""A report as JSON and back, for whoever asks again within minutes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, PlainValidator

from bot.report.detectors import Asked
from bot.report.events import Report
from bot.store.codec import decode, encode, unreadable
from handlers.model import Check, Diagnosis, Ranked, Target, Unavailable
from handlers.question import Question
from handlers.remedy.plan import Offer
from handlers.resource_id import ResourceId

_TAG, _MARKS = "$is", frozenset({"tuple", "set", "datetime", "date", "timedelta"})


def _plain(value: Any) -> Any:
    """Facts of a report that an earlier version has kept: it had marks for what JSON has no word for."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {_TAG, "of"} and value[_TAG] in _MARKS:
        return _plain(value["of"])
    return {key: _plain(item) for key, item in value.items()}


_Plain = BeforeValidator(_plain)
_Offer = Annotated[Offer, PlainValidator(Offer.from_dict), PlainSerializer(Offer.as_dict)]
"""With its plan in its own JSON, letter by letter."""


@dataclass(frozen=True, slots=True)
class Kept:
    """As it stands in the store."""

    id: str
    asked_at: datetime
    findings: Annotated[tuple[Ranked, ...], _Plain]
    checks: Annotated[tuple[Check, ...], _Plain]
    unseen: tuple[Unavailable, ...]
    diagnosis_ms: float
    took_ms: float
    calls: tuple[int, int]
    recorded_at: datetime | None
    offers: tuple[_Offer, ...] = ()
    detectors: Asked | None = None
    about: Question | None = None


def dump(report: Report) -> str:
    diagnosis, calls = report.diagnosis, (report.arm_calls, report.kube_calls)
    target, unseen = diagnosis.target, diagnosis.unseen
    made = (diagnosis.findings, diagnosis.checks, unseen, diagnosis.took_ms, report.took_ms, calls, report.recorded_at)
    return encode(Kept(str(target.id), target.asked_at, *made, report.offers, report.detectors, target.about))


def load(text: str) -> Report:
    """Raises ValueError."""
    kept = decode(Kept, text)
    target = Target(ResourceId.parse(kept.id), kept.asked_at, kept.about)
    diagnosis = Diagnosis(target, kept.findings, kept.checks, kept.unseen, kept.diagnosis_ms)
    return Report(diagnosis, kept.took_ms, *kept.calls, kept.recorded_at, kept.offers, kept.detectors)


def load_or_none(text: str) -> Report | None:
    """The same for a report that can be made again: one that cannot be read is not there."""
    try:
        return load(text)
    except ValueError as error:
        unreadable("the report of a check", text, error)
        return None
