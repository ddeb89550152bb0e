"""How long the bot waits where it reads along."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Spans:
    """As it is in earnest; tests and drills wait less."""

    turn: timedelta = timedelta(seconds=15)
    """What one person says within this time is one turn."""
    together: timedelta = timedelta(seconds=5)
    """A card changes no more often than this, however many reports come in."""
    looks_again: tuple[timedelta, ...] = tuple(timedelta(minutes=10) * 2**number for number in range(6))
    """Ten minutes, then twice as long each time: what lasts longer than a night needs no bot to be noticed."""
