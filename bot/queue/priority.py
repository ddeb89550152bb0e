"""How urgent a job is."""

from __future__ import annotations

from enum import StrEnum


class Priority(StrEnum):
    """What is done first: somebody looks at a window that opens, somebody waits for a check, nobody for triage."""

    CLICK = "click"
    CHECK = "check"
    TRIAGE = "triage"


LOWEST_FIRST = (Priority.TRIAGE, Priority.CHECK, Priority.CLICK)
