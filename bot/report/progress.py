"""The progress of a check, as a value that each event replaces."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.report.events import Event, Started
from handlers.engine.run import Collected, DiagnosticEnded
from handlers.model import Outcome, Severity, Unavailable


@dataclass(frozen=True, slots=True)
class Progress:
    """What people see while they wait. `evidence` and `questions` are (done, total)."""

    cluster: str
    evidence: tuple[int, int] = (0, 0)
    questions: tuple[int, int] = (0, 0)
    found: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    open_checks: int = 0

    @property
    def known(self) -> bool:
        """Whether the cluster has been found."""
        return self.questions[1] > 0

    def after(self, event: Event) -> Progress:
        if isinstance(event, Started):
            return Progress(event.target.name, (0, event.evidence), (0, event.questions))
        if isinstance(event, Collected):
            unseen = self.unseen
            if isinstance(event.value, Unavailable) and event.value.wanted not in unseen:
                unseen += (event.value.wanted,)
            return replace(self, evidence=_one_more(self.evidence), unseen=unseen)
        if isinstance(event, DiagnosticEnded):
            check = event.check
            loud = [finding.code for finding in check.findings if finding.severity is not Severity.INFO]
            found = tuple(dict.fromkeys((*self.found, *loud)))
            still_open = self.open_checks + (check.outcome in (Outcome.INCONCLUSIVE, Outcome.CRASHED))
            return replace(self, questions=_one_more(self.questions), found=found, open_checks=still_open)
        return self


def _one_more(count: tuple[int, int]) -> tuple[int, int]:
    return count[0] + 1, count[1]
