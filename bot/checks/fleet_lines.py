"""A fleet by last verdict, in words: for the terminal and for Slack. Pure.

What Azure calls Succeeded may be out of reach, so the verdict comes first, with its age; Azure's own state is added
where it is another than Succeeded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum

from bot.checks.store.verdicts import PastVerdict
from handlers.fleet.clusters import FleetMember
from handlers.fleet.kinds import AKS
from handlers.model import Severity, State
from runbooks.library import Library

_WELL = ("succeeded", "")
_FAILED = ("failed", "canceled", "cancelled")
_MOST_CAUSES = 3


class Standing(IntEnum):
    """How a cluster stands by its last verdict; the lowest is listed first."""

    UNHEALTHY = 0
    INCOMPLETE = 1
    WARNING = 2
    NEVER = 3
    NOT_CHECKED = 4
    HEALTHY = 5

    @property
    def said(self) -> str:
        return _SAID[self]


_SAID = {
    Standing.UNHEALTHY: "unhealthy",
    Standing.INCOMPLETE: "incomplete",
    Standing.WARNING: "warning",
    Standing.NEVER: "never checked",
    Standing.NOT_CHECKED: "no check applies",
    Standing.HEALTHY: "healthy",
}


@dataclass(frozen=True, slots=True)
class FleetRow:
    """One cluster, its last verdict, and how old that is."""

    member: FleetMember
    verdict: PastVerdict | None = None

    @property
    def standing(self) -> Standing:
        return standing_of(self.verdict)

    @property
    def rank(self) -> tuple[int, str, str]:
        """What needs somebody first. What Azure calls Failed since it was found healthy stands above the healthy."""
        failed = (self.member.provisioning_state or "").lower() in _FAILED
        first = min(self.standing, Standing.WARNING) if failed else self.standing
        return first, self.member.name.lower(), self.member.id.lower()


def standing_of(verdict: PastVerdict | None) -> Standing:
    if verdict is None:
        return Standing.NEVER
    if not verdict.checked:
        return Standing.NOT_CHECKED
    if verdict.state is State.INCONCLUSIVE:
        return Standing.INCOMPLETE
    if verdict.state is State.CLEAR:
        return Standing.HEALTHY
    return Standing.UNHEALTHY if verdict.severity == Severity.ERROR else Standing.WARNING


def rows(members: Iterable[FleetMember], latest: Mapping[str, PastVerdict]) -> list[FleetRow]:
    """What needs somebody first; then by name."""
    made = (FleetRow(member, latest.get(member.id.lower())) for member in members)
    return sorted(made, key=lambda row: row.rank)


def counted(standings: Iterable[Standing]) -> str:
    """`2 unhealthy, 1 never checked, 5 healthy`."""
    numbers = Counter(standings)
    return ", ".join(f"{numbers[standing]} {standing.said}" for standing in Standing if numbers[standing])


def verdict_said(verdict: PastVerdict | None, library: Library) -> str:
    """`unhealthy: A core quota is used up, and 1 more`."""
    standing = standing_of(verdict)
    if verdict is None or not verdict.roots:
        return standing.said
    titles = [title_of(code, library) for code in verdict.codes]
    more = [f"and {len(titles) - _MOST_CAUSES} more"] if len(titles) > _MOST_CAUSES else []
    return f"{standing.said}: {', '.join([*titles[:_MOST_CAUSES], *more])}"


def place_said(member: FleetMember) -> Sequence[str]:
    """Azure's own state where it is not Succeeded, the kind where it is not AKS, and where the cluster is."""
    state, power = member.provisioning_state or "", member.power_state or ""
    azure = [f"Azure says {state}"] if state.lower() not in _WELL else []
    stopped = [power] if power.lower() == "stopped" else []
    kind = [] if member.type.lower() == AKS.lower() else [member.kind]
    return [*azure, *stopped, *kind, *filter(None, [member.location])]


def age_said(verdict: PastVerdict | None, now: datetime) -> str:
    """`checked 3 h ago`."""
    return f"checked {age(now - verdict.at)} ago" if verdict else ""


def age(length: timedelta) -> str:
    """`40 s`, `12 min`, `3 h`, `4 d`."""
    seconds = max(0, int(length.total_seconds()))
    if seconds < 90:
        return f"{seconds} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    return f"{round(seconds / 3600)} h" if seconds < 48 * 3600 else f"{seconds // 86400} d"


def title_of(code: str, library: Library) -> str:
    runbook = library.get(code)
    return runbook.title if runbook else code
