"""What Azure's own detectors say, next to what the checks found: what both say is said once."""

from __future__ import annotations

from dataclasses import dataclass

from handlers.evidence.detectors import CRITICAL, Detector, Detectors
from handlers.model import Diagnosis, NotApplicable, Outcome, Unavailable

Asked = Detectors | NotApplicable | Unavailable
"""What came of asking Azure's detectors."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A detector that reports a problem, and what our own checks say of the same."""

    detector: Detector
    found: tuple[str, ...]
    """The codes that were found here, too: then it says nothing new."""
    says: str
    """What our checks say of it, in one line."""

    @property
    def critical(self) -> bool:
        return self.detector.status == CRITICAL


def compared(detectors: Detectors, diagnosis: Diagnosis) -> tuple[Compared, ...]:
    """Those that report a problem, critical ones first, each beside our own verdict."""
    reporting = [_compared(detector, diagnosis) for detector in detectors.ran if detector.reports]
    return tuple(sorted(reporting, key=lambda one: not one.critical))


def _compared(detector: Detector, diagnosis: Diagnosis) -> Compared:
    codes = {ranked.finding.code for ranked in diagnosis.findings}
    found = tuple(code for code in detector.same_as if code in codes)
    if found:
        return Compared(detector, found, f"the same as {', '.join(found)}")
    return Compared(detector, (), _verdict_of(detector.same_as, diagnosis))


def _verdict_of(codes: tuple[str, ...], diagnosis: Diagnosis) -> str:
    """Two verdicts that differ are both shown, each with its reason."""
    asked = [check for check in diagnosis.checks if set(check.codes) & set(codes)]
    told = next((check for check in asked if check.outcome is not Outcome.NOT_APPLICABLE), None)
    if told is None:
        return "no check of ours looks at this"
    name = next(code for code in codes if code in told.codes)
    if told.outcome is Outcome.CLEAR:
        return f"our check of {name} is clear: {told.why}"
    return f"our check of {name} stayed open: {told.why}"


def summed_up(detectors: Detectors) -> str:
    """How many were run, and what of them found nothing."""
    found_nothing = sum(one.found_nothing for one in detectors.ran)
    mute = len(detectors.ran) - found_nothing - sum(one.reports for one in detectors.ran)
    parts = [f"{len(detectors.ran)} of {detectors.offered} run over the last 24 hours, {found_nothing} found nothing"]
    parts += [f"{mute} gave no result"] if mute else []
    parts += [f"{len(detectors.gaps)} could not be read"] if detectors.gaps else []
    return ", ".join(parts)
