"""The runbooks that this installation uses."""

from __future__ import annotations

from bot.settings import Settings
from handlers.problem import Exit, Problem
from runbooks.head import BadRunbook
from runbooks.library import Library


def load(settings: Settings) -> Library:
    """The package's own and the team's. One that is malformed stops the command: half a catalogue would mislead."""
    try:
        return Library.load(*settings.runbooks)
    except BadRunbook as bad:
        do = "correct that line (`aksbot runbooks lint` lists all), or take the folder out of AKSBOT_RUNBOOKS"
        raise Problem(f"cannot use the runbook {bad.file}, line {bad.line}", bad.what, do, code=Exit.USAGE) from bad
