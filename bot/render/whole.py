"""All of a report as lines of text: what a terminal shows, then everything that was shortened there."""

from __future__ import annotations

from bot.render.clean import clean
from bot.render.report import report_lines
from bot.report.events import Report
from handlers.model import Outcome
from runbooks.library import Library

COLUMNS = 100


def whole_lines(report: Report, library: Library) -> list[str]:
    """For a file that lacks nothing."""
    lines = [line.text for line in report_lines(report, library, COLUMNS)]
    lines += ["", "", "Every finding with all of its proof", ""]
    for ranked in report.diagnosis.findings:
        lines.append(f"{ranked.finding.code}: {clean(ranked.finding.subject)}")
        lines += [f"  {clean(item)}" for item in ranked.finding.because]
    return [*lines, "", "Every check", *all_checks(report)]


def all_checks(report: Report) -> list[str]:
    """A line for each check: how it ended, and why."""
    order = list(Outcome)
    ordered = sorted(report.diagnosis.checks, key=lambda check: (order.index(check.outcome), check.id))
    return [f"  {check.outcome.value}: {check.id}: {clean(check.why)}" for check in ordered]


def unseen_lines(report: Report) -> list[str]:
    """What could not be seen; nothing where all was."""
    unseen = [f"  {clean(str(unavailable))}" for unavailable in report.diagnosis.unseen]
    return ["", "What could not be seen", *unseen] if unseen else []
