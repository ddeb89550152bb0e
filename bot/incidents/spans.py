"""How long the bot waits where it reads along."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from bot.incidents.watching import LONGEST


@dataclass(frozen=True, slots=True)
class Spans:
    """As it is in earnest; tests and drills wait less."""

    turn: timedelta = timedelta(seconds=15)
    """What one person says within this time is one turn. It is read at each message; nothing waits for its end but
    what only the whole of it can say."""
    together: timedelta = timedelta(seconds=5)
    """A card changes no more often than this, however many reports come in."""
    unannounced: timedelta = timedelta(seconds=2)
    """A check that ends within this time needs no message on the way."""
    files: timedelta = timedelta(seconds=8)
    """For all files of a turn: people wait for the answer. What has come until then is read."""
    watch: timedelta = timedelta(minutes=1)
    """Until the first look of `/aks watch`; the pauses grow."""
    watch_for: timedelta = LONGEST
    ping: timedelta = timedelta(seconds=2.5)
    """A connection to Slack that gives no sign of life for 1.5 times as long is replaced. With a shorter one, a process
    that is merely busy would lose its connections."""
    looks_again: tuple[timedelta, ...] = tuple(timedelta(minutes=10) * 2**number for number in range(6))
    """Ten minutes, then twice as long each time: what lasts longer than a night needs no bot to be noticed."""
