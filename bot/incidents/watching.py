"""What somebody waits for: that what is wrong with a cluster, or what runs there, ends. Frozen values, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum

from bot.address import Text
from handlers.model import Check, Diagnosis, Outcome

LONGEST = timedelta(hours=12)
"""What lasts longer than a night is somebody's work, and no longer waited for."""
MOST = 30
"""In one workspace at a time: each of them asks Azure again and again."""
LONGEST_PAUSE = 10
"""Times the first pause."""
_RESTING = frozenset({"succeeded", "failed", "canceled", "cancelled", ""})
_UNSURE = frozenset({Outcome.INCONCLUSIVE, Outcome.CRASHED})


@dataclass(frozen=True, slots=True)
class Watch:
    """One of them, and where its end is told."""

    id: str
    team: str
    cluster: str
    """Its id."""
    name: str
    channel: str
    thread_ts: Text
    user: str
    began_ms: int
    until_ms: int
    state: str
    """What was running there; empty where nothing was."""
    causes: tuple[tuple[str, str], ...]
    """Code and subject of what was wrong."""
    estimate: str = ""
    """When what runs there should end, from how long the same took before."""


class Seen(Enum):
    """What a look says to what is waited for."""

    LASTS = "it goes on"
    OVER = "it is over"
    UNSURE = "nobody could see whether it is over"


@dataclass(frozen=True, slots=True)
class Look:
    """A check of the cluster, and what runs there."""

    diagnosis: Diagnosis
    state: str | None
    """As Azure says it; None where that could not be read."""

    @property
    def running(self) -> str:
        """The operation that has not ended."""
        return self.state if self.state and self.state.lower() not in _RESTING else ""

    @property
    def causes(self) -> tuple[tuple[str, str], ...]:
        return tuple(ranked.finding.key for ranked in self.diagnosis.findings if ranked.root)


def seen(watch: Watch, look: Look) -> Seen:
    """All of it must be gone: what runs, and every cause. What could not be seen is not gone."""
    found = {ranked.finding.key for ranked in look.diagnosis.findings}
    if look.running or not found.isdisjoint(watch.causes):
        return Seen.LASTS
    unsure = {code for check in look.diagnosis.checks if _is_unsure(check) for code in check.codes}
    if unsure & {code for code, _ in watch.causes} or (watch.state and look.state is None):
        return Seen.UNSURE
    return Seen.OVER


def pause(first: timedelta, number: int) -> timedelta:
    """Before the look of this number: longer each time."""
    return first * min(1 << min(number, LONGEST_PAUSE), LONGEST_PAUSE)


def _is_unsure(check: Check) -> bool:
    return check.outcome in _UNSURE or bool(check.unseen)
