"""What Azure's own detectors say, as lines for people: first what is new, then what the findings say already."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bot.report.detectors import Asked, Compared, compared, summed_up
from handlers.evidence.detectors import Detectors
from handlers.model import Diagnosis, NotApplicable

TITLE = "Azure's own detectors (Diagnose and solve problems)"


@dataclass(frozen=True, slots=True)
class DetectorLine:
    """One line: a mark, the detector's name, and what is said of it."""

    mark: str
    name: str
    says: str
    style: str = ""


def detector_lines(asked: Asked | None, diagnosis: Diagnosis) -> Iterator[DetectorLine]:
    """Nothing where nobody asked them."""
    if asked is None:
        return
    if isinstance(asked, NotApplicable):
        yield DetectorLine("–", "", asked.because)
    elif not isinstance(asked, Detectors):
        yield DetectorLine("?", "", f"could not be read: {asked.detail}", "unsure")
        if asked.grant:
            yield DetectorLine("", "", f"grant {asked.grant} to the identity that aksbot runs as")
    else:
        yield from _read(asked, diagnosis)


def _read(asked: Detectors, diagnosis: Diagnosis) -> Iterator[DetectorLine]:
    reporting = compared(asked, diagnosis)
    yield from (_new(one) for one in reporting if not one.found)
    known = [f"{one.detector.name} ({', '.join(one.found)})" for one in reporting if one.found]
    if known:
        yield DetectorLine("=", "", f"the same as found above: {', '.join(known)}")
    for gap in asked.gaps:
        yield DetectorLine("?", "", str(gap), "unsure")
    yield DetectorLine("", "", summed_up(asked), "dim")


def _new(one: Compared) -> DetectorLine:
    said = " ".join(one.detector.says) or f"reports {one.detector.status}"
    mark, style = ("✗", "error") if one.critical else ("!", "warning")
    return DetectorLine(mark, one.detector.name, f"{said} ({one.says})", style)


def reported_besides(asked: Asked | None, diagnosis: Diagnosis) -> int:
    """How many detectors report a problem that no finding names."""
    if not isinstance(asked, Detectors):
        return 0
    return sum(not one.found for one in compared(asked, diagnosis))
