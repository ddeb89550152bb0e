"""The events of a running check. The terminal and Slack render them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from bot.report.cost import QuestionCost
from bot.report.detectors import Asked
from handlers.engine.run import Collected, DiagnosticEnded
from handlers.model import Diagnosis, Target
from handlers.question import Question
from handlers.remedy.plan import Offer


@dataclass(frozen=True, slots=True)
class Selection:
    """Which questions to ask: all, those of one area, or those about one code."""

    area: str | None = None
    only: str | None = None
    detectors: bool = False
    """Azure's own detectors, too: asked on request alone, as each takes Azure seconds. They narrow nothing."""
    about: Question | None = None
    """Something in particular: a path, a pod, an address."""

    @property
    def whole(self) -> bool:
        """Whether every question is asked."""
        return self.area is None and self.only is None and self.about is None


EVERYTHING = Selection()


@dataclass(frozen=True, slots=True)
class Started:
    """The cluster is known; this many kinds of evidence and questions follow."""

    target: Target
    evidence: int
    questions: int


@dataclass(frozen=True, slots=True)
class Report:
    """A diagnosis, with its duration and its number of calls."""

    diagnosis: Diagnosis
    took_ms: float
    arm_calls: int
    kube_calls: int = 0
    recorded_at: datetime | None = None
    """When the answers were recorded, where this is a replay."""
    offers: tuple[Offer, ...] = ()
    """What may be done about the root causes: a plan, or the reasons against one."""
    detectors: Asked | None = None
    """What Azure's own detectors say; None where nobody asked them."""
    costs: Mapping[str, QuestionCost] = field(default_factory=dict)
    """By question, where the check has just run; not stored."""

    @property
    def as_of(self) -> datetime:
        """When it was so."""
        return self.recorded_at or self.diagnosis.target.asked_at


Event = Started | Collected | DiagnosticEnded | Report
