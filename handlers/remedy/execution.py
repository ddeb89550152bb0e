"""How far a fix is: everything that another worker needs to carry on, and nothing that is secret.

READY ──intent recorded──▶ INTENDED ──sent, answer recorded──▶ RUNNING ──ended──▶ READY of the next step
                              │
                              └─ found like this after a crash: it is unknown whether it was sent. Never sent again;
                                 the world is asked, and where it proves nothing, a person is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from handlers.plain_json import must_be_plain
from handlers.remedy.plan import Plan


class Phase(StrEnum):
    """Where the current step is."""

    READY = "ready"
    INTENDED = "intended"
    RUNNING = "running"


class Outcome(StrEnum):
    """How the acts ended. Whether the problem is fixed is decided by diagnosing again."""

    DONE = "done"
    FAILED = "failed"
    STALE = "stale"
    UNKNOWN = "unknown"
    """A write's fate could not be found out: a person is asked."""
    CANCELLED = "cancelled"
    TIMED_OUT = "timed-out"


class StepEnd(StrEnum):
    """What became of a step that is over."""

    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Note:
    """A note for the people who follow the fix."""

    at: datetime
    says: str


@dataclass(frozen=True, slots=True)
class Call:
    """One write, as the audit stores it: never with its body."""

    method: str
    path: str
    request_id: str
    result: str
    """ "202", "412 EtagMismatch: …", "no answer"."""
    correlation_id: str = ""
    """What Azure's own records call it."""

    @property
    def may_have_been_done(self) -> bool:
        """Azure or the API server accepted it, or its answer was lost."""
        return self.result.isdigit() or self.result.startswith("no answer")


@dataclass(frozen=True, slots=True)
class Execution:
    """One run of one approved plan."""

    id: str
    plan: Plan
    began: datetime
    step: int = 0
    phase: Phase = Phase.READY
    data: Mapping[str, Any] = field(default_factory=dict)
    """What the step's act needs to carry on: request id, operation URL, eTag; plain JSON, never a raw body."""
    notes: tuple[Note, ...] = ()
    calls: tuple[Call, ...] = ()
    failing: str = ""
    """Why a step failed; only the steps that are done always are left."""
    failed_as: Outcome | None = None
    cancelled: bool = False
    outcome: Outcome | None = None
    why: str = ""
    ask: str = ""
    """With `unknown`: what a person should look at, and what each answer would mean."""
    wait_s: float = 0.0
    """How long the world should be left alone before the next piece."""
    ends: tuple[StepEnd, ...] = ()
    """See `step_ends`."""
    answer: str = ""
    """What a step that only looks has learned."""

    def __post_init__(self) -> None:
        must_be_plain(f"what fix {self.id} needs to carry on", self.data)

    @property
    def ended(self) -> bool:
        return self.outcome is not None

    def past(self, end: StepEnd, to: int) -> Execution:
        """The steps before `to` are over, and ended so."""
        return replace(self, step=to, ends=(*self.step_ends, *[end] * (to - self.step)))

    @property
    def step_ends(self) -> tuple[StepEnd, ...]:
        """What became of each step before `step`. Where an earlier version did not say which steps were left out once
        one had failed, none of them counts as done."""
        unknown = StepEnd.SKIPPED if self.failed_as else StepEnd.DONE
        return (*self.ends, *[unknown] * (self.step - len(self.ends)))

    def said(self, text: str, at: datetime) -> Execution:
        return replace(self, notes=(*self.notes, Note(at, text)))

    def as_json(self) -> str:
        data = asdict(self) | {"plan": json.loads(self.plan.as_json()), "data": dict(self.data)}
        for unknown in ("ends", "answer"):
            if not data[unknown]:
                del data[unknown]  # an earlier version, which may work beside this one, does not know it
        return json.dumps(data, default=lambda value: value.isoformat(), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Execution:
        data: dict[str, Any] = json.loads(text)
        return cls(
            plan=Plan.from_json(json.dumps(data.pop("plan"), sort_keys=True, separators=(",", ":"))),
            began=datetime.fromisoformat(data.pop("began")),
            phase=Phase(data.pop("phase")),
            notes=tuple(Note(datetime.fromisoformat(note["at"]), note["says"]) for note in data.pop("notes")),
            calls=tuple(Call(**call) for call in data.pop("calls")),
            failed_as=_outcome(data.pop("failed_as")),
            outcome=_outcome(data.pop("outcome")),
            ends=tuple(map(StepEnd, data.pop("ends", ()))),
            **data,
        )

    @classmethod
    def begin(cls, name: str, plan: Plan) -> Execution:
        return cls(name, plan, datetime.now(UTC))


def _outcome(text: str | None) -> Outcome | None:
    return Outcome(text) if text else None
