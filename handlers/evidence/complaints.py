"""What Azure itself gave as the reason, and which failure a cause may claim for itself because of it.

A cluster or pool that is Failed has a `Failure`: its state, and the error of the operation that set it. A cause claims
it as

    named       that error names this cause
    observed    that error names none, and the cause provably was in the way before the failure and would have caused it
    possible    anything else: the cause may be true and have nothing to do with it. A warning, which explains nothing

A request that was turned down at once changed no state: it is told, and is nobody's failure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from handlers.engine.declare import collector
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.compute import ScaleSets
from handlers.evidence.errors import ErrorDetail
from handlers.evidence.machine_refusals import refused_machines
from handlers.evidence.monitor import ActivityLog, Event, NodeActivityLog
from handlers.model import Evidence, Unavailable, Why

RECENT = timedelta(hours=24)
WISH = timedelta(hours=2)
"""Who scales a pool and is refused asks why at once, or has given up: by then the pool is as sound as before."""
AKS = "microsoft.containerservice/"
OPERATION = timedelta(hours=4)
"""What failed in the node group longer before (or after) an operation of AKS ended is no part of it: AKS gives up
upgrades after hours."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """One error that Azure reported, the thing it is about, and when it was written to the activity log."""

    about: str
    error: ErrorDetail
    at: datetime | None = None
    operation: str = ""
    refused: bool = False
    """Azure turned the request down at once: it changed no state."""

    @property
    def waited_for(self) -> timedelta:
        """A wish of people's that AKS turned down is over soon; what autoscalers were refused they ask for again."""
        return WISH if self.refused and self.operation.lower().startswith(AKS) else RECENT

    def __str__(self) -> str:
        when = f"at {self.at:%Y-%m-%d %H:%M} UTC " if self.at else ""
        return f"{when}Azure said: {self.error}"


class Claim(StrEnum):
    """What ties a cause to a failure."""

    NAMED = "named"
    OBSERVED = "observed"
    POSSIBLE = "possible"


@dataclass(frozen=True, slots=True)
class Failure:
    """A cluster or pool that is Failed or Canceled, and why, as far as Azure says."""

    subject: str
    state: str
    complaint: Complaint | None
    at: datetime | None
    """When the operation that set the state ended; None where no log tells."""
    correlation: str = ""
    pools: frozenset[str] = frozenset()
    """Of a cluster: the pools, in lower case, that its failure is about, as far as Azure tells. What stopped another
    pool has nothing to do with it."""

    @property
    def error(self) -> ErrorDetail | None:
        return self.complaint.error if self.complaint else None

    @property
    def names(self) -> str:
        """The finding code of the cause that Azure named; empty where it named none that is known."""
        return self.error.names if self.error else ""

    @property
    def named(self) -> bool:
        """Whether Azure named a cause, be it one that nobody here knows."""
        return self.error is not None and self.error.specific

    @property
    def internal(self) -> bool:
        """Azure blames itself, and names nothing else."""
        return self.error is not None and self.error.internal and not self.named

    def began_after(self, moment: datetime | None) -> bool:
        """Whether something was there already when this failed."""
        return moment is not None and self.at is not None and moment < self.at


Observed = Callable[[Failure], bool]
"""Whether a cause was provably in the way of what failed, and before it did."""


def never(_: Failure) -> bool:
    """For a cause that nobody can date: a quota does not say since when it is full."""
    return False


def always(_: Failure) -> bool:
    """For a part that is broken itself: a failed machine is why its pool is not what it should be."""
    return True


@dataclass(frozen=True, kw_only=True)
class Complaints(Evidence):
    """The errors that Azure reported, by the id of the pool, the cluster or the machine of node auto-provisioning that
    they are about; and the failures that they belong to."""

    all: tuple[Complaint, ...]
    failures: tuple[Failure, ...] = ()
    told_since: datetime | None
    """The moment since which every refused write is among them; None where a log was not seen."""
    told_until: datetime | None = None
    """The moment until which they are: an activity log lags."""
    silent: tuple[str, ...] = ()
    """What is Failed although neither it nor a log says why, by name."""

    def about(self, subject: str) -> tuple[Complaint, ...]:
        return tuple(complaint for complaint in self.all if complaint.about.lower() == subject.lower())

    def naming(self, code: str, subject: str = "") -> tuple[Complaint, ...]:
        """Those that name a cause; of one thing, where that is given."""
        told = self.about(subject) if subject else self.all
        return tuple(complaint for complaint in told if complaint.error.names == code)

    def recent(self, code: str, subject: str = "") -> tuple[Complaint, ...]:
        """Those that somebody may still wait for: a refused request leaves nothing failed behind."""
        return tuple(
            complaint
            for complaint in self.naming(code, subject)
            if complaint.at and self.taken_at - complaint.at < complaint.waited_for
        )

    def standing(self, code: str) -> tuple[Complaint, ...]:
        """Those that still matter: of what is Failed now, or recent."""
        recent = self.recent(code)
        return tuple(
            complaint for complaint in self.naming(code) if complaint in recent or self.failure(complaint.about)
        )

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

    @property
    def failed(self) -> tuple[str, ...]:
        """The ids of the cluster and the pools that are Failed or Canceled."""
        return tuple(failure.subject for failure in self.failures)

    def failure(self, subject: str) -> Failure | None:
        """The failure of this cluster or pool; None where it is not Failed."""
        return next((failure for failure in self.failures if failure.subject.lower() == subject.lower()), None)

    def claim(self, subject: str, codes: Iterable[str], observed: Observed = never) -> Claim | None:
        """What ties a cause to the failure of a thing; None where that has not failed.

        `codes` are what Azure may call the cause: its own, and those that its runbook explains. `observed` says whether
        it would have stopped the very operation, and was there before it failed.
        """
        failure = self.failure(subject)
        if failure is None:
            return None
        if failure.names and failure.names in codes:
            return Claim.NAMED
        if failure.named:
            return Claim.POSSIBLE
        return Claim.OBSERVED if observed(failure) else Claim.POSSIBLE

    def claimed(self, subjects: Iterable[str], codes: Iterable[str], observed: Observed = never) -> tuple[str, ...]:
        """Of these, the failures that the cause explains: Azure named it, or it was seen to be in the way."""
        strong, names = (Claim.NAMED, Claim.OBSERVED), frozenset(codes)
        wanted = tuple(dict.fromkeys(subjects))
        return tuple(
            subject
            for subject in wanted
            if self.claim(subject, names, observed) in strong and not self._of_other_pools(subject, wanted)
        )

    def _of_other_pools(self, subject: str, concerned: tuple[str, ...]) -> bool:
        """Whether a cluster's failure is about pools, and the cause about none of them."""
        failure = self.failure(subject)
        others = {item.lower() for item in concerned} - {subject.lower()}
        return failure is not None and bool(failure.pools and others) and not others & failure.pools

    def affected(self, subjects: Iterable[str], codes: Iterable[str], observed: Observed = never) -> tuple[str, ...]:
        """Of these, what the cause harms: all that has not failed, and the failures that it explains."""
        wanted = tuple(dict.fromkeys(subjects))
        claimed = self.claimed(wanted, codes, observed)
        return tuple(action for action in wanted if action in claimed or self.failure(action) is None)


@collector(reads=())
async def complaints(
    cluster: ManagedCluster,
    pools: AgentPools,
    sets: ScaleSets | Unavailable,
    log: ActivityLog | Unavailable,
    node_log: NodeActivityLog | Unavailable,
) -> Complaints:
    """the errors that Azure reported"""
    machines = [
        complaint
        for about, event in refused_machines(cluster, pools, node_log)
        for complaint in _told_of_part(about, [event])
    ]
    found = [*_of(cluster.id, cluster.error, log)]
    failures = [_failure(cluster.id, cluster.state, found, log)] if cluster.failed else []
    for pool in pools.pools:
        mine = [*_of(pool.id, pool.error, log)]
        scale_set = sets.of(pool) if isinstance(sets, ScaleSets) else None
        mine += _told_of_part(pool.id, _last_failures(node_log, scale_set.id)) if scale_set else ()
        mine += [machine for machine in machines if machine.about == pool.id]
        failures += [_failure(pool.id, pool.state, mine, log)] if pool.failed else []
        found += mine
    found += [machine for machine in machines if machine not in found]
    if cluster.failed:
        named = replace(failures[0], pools=_its_pools(failures[0], pools, sets, (log, node_log)))
        failures = [_with_its_pools(named, failures[1:]), *_with_their_cluster(failures[1:], named)]
    return Complaints(
        source=f"{cluster.source} and the activity logs",
        taken_at=cluster.taken_at,
        truncated=pools.truncated or (isinstance(sets, ScaleSets) and sets.truncated),
        gaps=tuple(item for item in (sets, log, node_log) if isinstance(item, Unavailable)),
        all=tuple(found),
        failures=tuple(failures),
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
    told = {complaint.about for complaint in found}
    failed = [(f"pool {pool.name}", pool.id) for pool in pools.pools if pool.state.lower() == "failed"]
    failed += [(f"cluster {cluster.name}", cluster.id)] if cluster.state.lower() == "failed" and not told else []
    return () if cluster.id in told else tuple(name for name, subject in failed if subject not in told)


def _failure(subject: str, state: str, told: list[Complaint], log: ActivityLog | Unavailable) -> Failure:
    """The error of the accepted operation that set the state: what the resource itself keeps stands first."""
    event = log.last_failure(subject, accepted=True) if isinstance(log, ActivityLog) else None
    at = event.at if event else None
    of_it = [
        complaint
        for complaint in told
        if not complaint.refused and (complaint.at is None or at is None or abs(complaint.at - at) < OPERATION)
    ]
    telling = next((complaint for complaint in of_it if complaint.error.specific), of_it[0] if of_it else None)
    return Failure(subject, state, telling, at, event.correlation if event else "")


def _with_its_pools(cluster: Failure, pools: list[Failure]) -> Failure:
    """Under one correlation there is one failure: where the cluster's error names no cause, that of its pool does."""
    same = [pool for pool in pools if pool.named and pool.correlation and pool.correlation == cluster.correlation]
    return replace(cluster, complaint=same[0].complaint) if same and not cluster.named else cluster


def _its_pools(
    cluster: Failure, pools: AgentPools, sets: ScaleSets | Unavailable, logs: tuple[ActivityLog | Unavailable, ...]
) -> frozenset[str]:
    """The pools whose own error is the cluster's, and those that failed, or whose scale set did, in its operation."""
    found = {pool.id.lower() for pool in pools.pools if pool.error and cluster.error == pool.error}
    for pool in pools.pools if cluster.correlation else ():
        scale_set = sets.of(pool) if isinstance(sets, ScaleSets) else None
        parts = [pool.id, *([scale_set.id] if scale_set else [])]
        told = [event for log in logs if isinstance(log, ActivityLog) for part in parts for event in log.below(part)]
        if any(event.correlation == cluster.correlation for event in told):
            found.add(pool.id.lower())
    return frozenset(found)


def _with_their_cluster(pools: list[Failure], cluster: Failure) -> list[Failure]:
    """The other way round: what Azure named for the cluster stopped each pool that failed with it, or that failed and
    neither Azure nor its log says a word."""

    def by_it(failure: Failure) -> bool:
        silent = failure.complaint is None and failure.at is None
        return not failure.named and (
            silent or (bool(failure.correlation) and failure.correlation == cluster.correlation)
        )

    return [replace(pool, complaint=cluster.complaint) if cluster.named and by_it(pool) else pool for pool in pools]


def _of(subject: str, error: ErrorDetail | None, log: ActivityLog | Unavailable) -> Iterator[Complaint]:
    if error:
        yield Complaint(subject, error)
    yield from _told(subject, _last_failures(log, subject))


def _told_of_part(subject: str, events: list[Event]) -> Iterator[Complaint]:
    """What Compute turned down at once when AKS asked it is why AKS's own operation failed: no refused wish."""
    return (replace(complaint, refused=False) for complaint in _told(subject, events))


def _last_failures(log: ActivityLog | Unavailable, subject: str) -> list[Event]:
    """The last failed write, and where that was turned down at once, the last one that Azure had begun, too."""
    if isinstance(log, Unavailable):
        return []
    found = (log.last_failure(subject, accepted=True), log.last_failure(subject))
    return [*dict.fromkeys(event for event in found if event)]


def _told(subject: str, events: list[Event]) -> Iterator[Complaint]:
    for event in events:
        if event.error:
            yield Complaint(subject, event.error, event.at, event.operation, event.refused)
