"""What has happened to a cluster before, as plain values: verdicts, incidents and fixes, told alike."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class PastKind(StrEnum):
    """Where it comes from, as a lane of a picture is called."""

    VERDICT = "Verdicts"
    INCIDENT = "Incidents"
    FIX = "Fixes"


@dataclass(frozen=True, slots=True)
class Past:
    """One line of a history."""

    at: datetime
    kind: PastKind
    said: str
    bad: bool = False
    good: bool = False
    until: datetime | None = None
    """When it was over; of verdicts that were alike, when the last of them was."""
    times: int = 1
    """How many verdicts in a row were like this one."""


@dataclass(frozen=True, slots=True)
class History:
    """The lines, newest first, and what could not be read of it."""

    cluster: str
    past: tuple[Past, ...]
    unread: tuple[str, ...] = ()
