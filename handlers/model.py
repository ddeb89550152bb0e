"""The words of a diagnosis: evidence in, findings out. Frozen values, no I/O.

Evidence         a typed fact: what was asked, when, and whether any of it is missing
Unavailable      what could not be seen, and why: a value, not an exception
NotApplicable    what does not exist here by design (no scale set, no diagnostic setting)
Finding          what is wrong, with its proof
Clear            what was looked at and is right, with its proof
Check            how one diagnostic ended: found, clear, inconclusive, not applicable or crashed
Verdict, Causes  how the checks ended whose findings could explain a failure: evidence for others
Diagnosis        all of it, causes ranked
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from handlers.plain_json import must_be_plain
from handlers.question import Question
from handlers.resource_id import ResourceId


@dataclass(frozen=True, slots=True)
class Target:
    """The cluster a person asked about, and when: a replay asks again at the recorded time."""

    id: ResourceId
    asked_at: datetime = field(default_factory=lambda: datetime.now(UTC), compare=False)
    about: Question | None = None
    """What in particular, where the question was about more than the whole cluster."""

    @property
    def name(self) -> str:
        return self.id.name


class Why(StrEnum):
    """Why something could not be seen."""

    DENIED = "denied"
    TIMEOUT = "timeout"
    ABSENT = "absent"
    THROTTLED = "throttled"
    FAILED = "failed"
    NOT_ASKED = "not-asked"
    """A recording is older than the question: that says nothing about the cluster, so it leaves nothing open."""


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Something that could not be seen. `grant` is the permission that would show it."""

    wanted: str
    why: Why
    detail: str
    grant: str | None = None

    def __str__(self) -> str:
        return f"{self.wanted}: {self.why}, {self.detail}"


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """Something that does not exist here by design, so nobody should look for it."""

    because: str


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """A fact that was read. Subclasses add what it says."""

    source: str
    taken_at: datetime
    truncated: bool = False
    gaps: tuple[Unavailable, ...] = ()

    @property
    def complete(self) -> bool:
        return not self.truncated and not self.gaps


class Severity(StrEnum):
    """How serious a finding is: an error stops something now, a warning will stop the next operation."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem: its code, its subject, what else it affects, and the proof."""

    code: str
    subject: str
    because: tuple[str, ...]
    affects: tuple[str, ...] = ()
    severity: Severity = Severity.ERROR
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Plain JSON."""
    began: datetime | None = field(default=None, compare=False)
    """Since when, where that is proved: of two findings that could explain each other the older one does."""

    def __post_init__(self) -> None:
        if not self.because:
            raise ValueError(f"a finding needs its proof: {self.code} on {self.subject}")
        must_be_plain(f"the facts of {self.code}", self.facts)

    @property
    def key(self) -> tuple[str, str]:
        return self.code, self.subject.lower()


@dataclass(frozen=True, slots=True)
class Clear:
    """Proof that nothing is wrong. Only needed where silence would not be enough."""

    because: str


Judgement = Finding | Clear | Unavailable | NotApplicable
"""What a diagnostic may yield. `Unavailable`: this question stays open, for that reason."""


class Outcome(StrEnum):
    FOUND = "found"
    CLEAR = "clear"
    INCONCLUSIVE = "inconclusive"
    NOT_APPLICABLE = "not-applicable"
    CRASHED = "crashed"


@dataclass(frozen=True, slots=True)
class Check:
    """How one diagnostic ended, and what it could not see on the way."""

    id: str
    codes: tuple[str, ...]
    outcome: Outcome
    why: str
    took_ms: float
    findings: tuple[Finding, ...] = ()
    unseen: tuple[Unavailable, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """How the checks for one finding code ended. `outcome` is None where no check asks about it yet."""

    code: str
    outcome: Outcome | None
    why: str
    findings: tuple[Finding, ...] = ()

    @property
    def open(self) -> bool:
        """Nobody looked, or nobody could: it may still be the cause."""
        return self.outcome in (None, Outcome.INCONCLUSIVE, Outcome.CRASHED)

    @property
    def clear(self) -> bool:
        return self.outcome in (Outcome.CLEAR, Outcome.NOT_APPLICABLE)


@dataclass(frozen=True, slots=True)
class Causes:
    """Verdicts as evidence: on every code whose runbook explains one of the codes that a diagnostic asks about."""

    verdicts: tuple[Verdict, ...]

    def of(self, code: str) -> Verdict:
        """The verdict on one code. A code that explains none of those asked about is open, like an unknown one."""
        unknown = Verdict(code, None, "no check asks about it yet")
        return next((verdict for verdict in self.verdicts if verdict.code == code), unknown)

    @property
    def found(self) -> tuple[Verdict, ...]:
        return tuple(verdict for verdict in self.verdicts if verdict.findings)

    @property
    def open(self) -> tuple[Verdict, ...]:
        return tuple(verdict for verdict in self.verdicts if verdict.open)


class State(StrEnum):
    """The verdict on a cluster in one word."""

    FOUND = "found"
    INCONCLUSIVE = "inconclusive"
    CLEAR = "clear"


@dataclass(frozen=True, slots=True)
class Ranked:
    """A finding and the findings that explain it. A root has none."""

    finding: Finding
    explained_by: tuple[tuple[str, str], ...] = ()

    @property
    def root(self) -> bool:
        return not self.explained_by


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The answer to "what is wrong with this cluster?", roots first."""

    target: Target
    findings: tuple[Ranked, ...]
    checks: tuple[Check, ...]
    unseen: tuple[Unavailable, ...]
    took_ms: float

    @property
    def state(self) -> State:
        if self.findings:
            return State.FOUND
        outcomes = {check.outcome for check in self.checks}
        unsure = outcomes & {Outcome.INCONCLUSIVE, Outcome.CRASHED}
        # If no question applied, nothing was looked at: that is not clear.
        return State.INCONCLUSIVE if unsure or Outcome.CLEAR not in outcomes else State.CLEAR


class CannotSee(Exception):
    """Raised by a client that could not read something; the engine turns it into its value."""

    def __init__(self, unavailable: Unavailable) -> None:
        super().__init__(str(unavailable))
        self.unavailable = unavailable
