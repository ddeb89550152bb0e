"""The whole of a report as a text file: what a terminal shows, then everything that was shortened there."""

from __future__ import annotations

import re

from bot.render.clean import clean
from bot.render.whole import unseen_lines, whole_lines
from bot.report.events import Report
from bot.report.scope import scope_of
from bot.slack.checks.thread import beyond
from bot.slack.kit.message import Attachment
from handlers.model import State
from runbooks.library import Library


def whole(report: Report, library: Library) -> Attachment:
    """A file that lacks nothing a message has cut."""
    lines = whole_lines(report, library)
    if report.diagnosis.state is State.CLEAR:
        for title, names in beyond(scope_of(report.diagnosis, library)):
            lines += [
                "",
                title,
                *(f"  {name}: {clean(library[name].title)}" if name in library else f"  {name}" for name in names),
            ]
    lines += unseen_lines(report)
    return Attachment(file_name(report.diagnosis.target.name), "\n".join(lines) + "\n")


def file_name(cluster: str) -> str:
    return f"aksbot-{re.sub(r'[^A-Za-z0-9_-]+', '-', cluster)[:60] or 'cluster'}.txt"
