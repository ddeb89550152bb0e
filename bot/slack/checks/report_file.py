"""The whole of a report as a text file: what a terminal shows, then everything that was shortened there."""

from __future__ import annotations

import re

from bot.render.clean import clean
from bot.render.report import report_lines
from bot.report.events import Report
from bot.report.scope import scope_of
from bot.slack.checks.thread import beyond
from bot.slack.kit.message import Attachment
from handlers.model import Outcome, State
from runbooks.library import Library

COLUMNS = 100


def whole(report: Report, library: Library) -> Attachment:
    """A file that lacks nothing a message has cut."""
    lines = [line.text for line in report_lines(report, library, COLUMNS)]
    lines += ["", "", "Every finding with all of its proof", ""]
    for ranked in report.diagnosis.findings:
        lines.append(f"{ranked.finding.code}: {clean(ranked.finding.subject)}")
        lines += [f"  {clean(item)}" for item in ranked.finding.because]
    lines += ["", "Every check", *all_checks(report)]
    if report.diagnosis.state is State.CLEAR:
        for title, names in beyond(scope_of(report.diagnosis, library)):
            lines += [
                "",
                title,
                *(f"  {name}: {clean(library[name].title)}" if name in library else f"  {name}" for name in names),
            ]
    if report.diagnosis.unseen:
        lines += [
            "",
            "What could not be seen",
            *(f"  {clean(str(unavailable))}" for unavailable in report.diagnosis.unseen),
        ]
    return Attachment(file_name(report.diagnosis.target.name), "\n".join(lines) + "\n")


def all_checks(report: Report) -> list[str]:
    """A line for each check: how it ended, and why."""
    order = list(Outcome)
    ordered = sorted(report.diagnosis.checks, key=lambda check: (order.index(check.outcome), check.id))
    return [f"  {check.outcome.value}: {check.id}: {clean(check.why)}" for check in ordered]


def file_name(cluster: str) -> str:
    return f"aksbot-{re.sub(r'[^A-Za-z0-9_-]+', '-', cluster)[:60] or 'cluster'}.txt"
