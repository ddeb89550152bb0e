"""What Azure itself gave as the reason: the errors that the cluster, its pools and their scale sets carry.

Text alone is never proof of a cause. It tells which failure a cause may claim: a quota that happens to be full does
not explain a pool that failed for another, known reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from handlers.engine.declare import collector
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.compute import ScaleSets
from handlers.evidence.errors import ErrorDetail
from handlers.evidence.machine_refusals import refused_machines
from handlers.evidence.monitor import ActivityLog, Event, NodeActivityLog
from handlers.model import Evidence, Unavailable, Why

RECENT = timedelta(hours=24)
Topic = Callable[[ErrorDetail], bool]
"""Whether an error speaks of one cause."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """One error that Azure reported, the thing it is about, and when it was written to the activity log."""

    about: str
    error: ErrorDetail
    at: datetime | None = None
    operation: str = ""

    @property
    def names_a_cause(self) -> bool:
        """A wrapper names none, nor does a text that was cut in the middle."""
        wraps = self.error.wraps and bool(self.error.code)
        return not wraps and not self.error.message.startswith("{")

    def __str__(self) -> str:
        when = f"at {self.at:%Y-%m-%d %H:%M} UTC " if self.at else ""
        return f"{when}Azure said: {self.error}"


@dataclass(frozen=True, kw_only=True)
class Complaints(Evidence):
    """All of them, by the id of the pool, the cluster or the machine of node auto-provisioning that they are about."""

    all: tuple[Complaint, ...]
    told_since: datetime | None
    """The moment since which every refused write is among them; None where a log was not seen."""
    told_until: datetime | None = None
    """The moment until which they are: an activity log lags."""
    silent: tuple[str, ...] = ()
    """What is Failed although neither it nor a log says why, by name."""

    def about(self, subject: str) -> tuple[Complaint, ...]:
        return tuple(one for one in self.all if one.about.lower() == subject.lower())

    def speaking_of(self, topic: Topic, subject: str = "") -> tuple[Complaint, ...]:
        told = self.about(subject) if subject else self.all
        return tuple(one for one in told if topic(one.error))

    def recent(self, topic: Topic, subject: str = "") -> tuple[Complaint, ...]:
        """Those of the last hours: a refused request leaves nothing failed behind, and a day later nobody waits."""
        return tuple(one for one in self.speaking_of(topic, subject) if one.at and self.taken_at - one.at < RECENT)

    def blind_spot(self) -> Unavailable | None:
        """What keeps us from saying that nothing was refused in the last day."""
        if self.gaps:
            return self.gaps[0]
        reaches = self.told_since is not None and self.taken_at - self.told_since >= RECENT
        if not reaches or self.truncated:
            return Unavailable("refused requests", Why.FAILED, "the activity log was cut before it reached back a day")
        if self.silent:
            detail = f"Azure gives no error for it, and the activity log, known until {self.until}, names none yet"
            return Unavailable(f"why {self.silent[0]} has failed", Why.ABSENT, detail)
        return None

    @property
    def until(self) -> str:
        """Until when nobody's refusal is missing, for people."""
        return f"{self.told_until:%H:%M} UTC" if self.told_until else "an unknown time"

    def claimable(self, subject: str, topic: Topic) -> bool:
        """Whether a cause may claim this failure: Azure named that cause for it, or named none at all."""
        named = [one for one in self.about(subject) if one.names_a_cause]
        return not named or any(topic(one.error) for one in named)


@collector(reads=())
async def complaints(
    cluster: ManagedCluster,
    pools: AgentPools,
    sets: ScaleSets | Unavailable,
    log: ActivityLog | Unavailable,
    node_log: NodeActivityLog | Unavailable,
) -> Complaints:
    """the errors that Azure reported"""
    found = [*_of(cluster.id, cluster.error, log)]
    for pool in pools.pools:
        found += _of(pool.id, pool.error, log)
        scale_set = sets.of(pool) if isinstance(sets, ScaleSets) else None
        found += _told(pool.id, _last_failure(node_log, scale_set.id)) if scale_set else ()
    found += [Complaint(*one) for one in refused_machines(cluster, pools, node_log)]
    return Complaints(
        source=f"{cluster.source} and the activity logs",
        taken_at=cluster.taken_at,
        truncated=pools.truncated or (isinstance(sets, ScaleSets) and sets.truncated),
        gaps=tuple(one for one in (sets, log, node_log) if isinstance(one, Unavailable)),
        all=tuple(found),
        told_since=_told_since(log, node_log),
        told_until=_told_until(log, node_log),
        silent=_silent(cluster, pools, found),
    )


def _told_since(log: ActivityLog | Unavailable, node_log: NodeActivityLog | Unavailable) -> datetime | None:
    if isinstance(log, Unavailable) or isinstance(node_log, Unavailable):
        return None
    return max(log.reaches_back_to, node_log.reaches_back_to)


def _told_until(log: ActivityLog | Unavailable, node_log: NodeActivityLog | Unavailable) -> datetime | None:
    if isinstance(log, Unavailable) or isinstance(node_log, Unavailable):
        return None
    return min(log.known_until, node_log.known_until)


def _silent(cluster: ManagedCluster, pools: AgentPools, found: list[Complaint]) -> tuple[str, ...]:
    """It failed a moment ago, or before the log begins: either way nobody has said why. A cluster's error speaks for
    the pools that failed with it, and what was canceled was not refused."""
    told = {one.about for one in found}
    failed = [(f"pool {pool.name}", pool.id) for pool in pools.pools if pool.state.lower() == "failed"]
    failed += [(f"cluster {cluster.name}", cluster.id)] if cluster.state.lower() == "failed" and not told else []
    return () if cluster.id in told else tuple(name for name, subject in failed if subject not in told)


def _of(subject: str, error: ErrorDetail | None, log: ActivityLog | Unavailable) -> Iterator[Complaint]:
    if error:
        yield Complaint(subject, error)
    yield from _told(subject, _last_failure(log, subject))


def _last_failure(log: ActivityLog | Unavailable, subject: str) -> Event | None:
    return log.last_failure(subject) if isinstance(log, ActivityLog) else None


def _told(subject: str, event: Event | None) -> Iterator[Complaint]:
    if event and event.error:
        yield Complaint(subject, event.error, event.at, event.operation)
