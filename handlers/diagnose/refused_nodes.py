"""Who waits for nodes that Azure could not make, for one cause that its error names.

A pool that is Failed waits. One that is not waits where the autoscaler has given up for now, or where nodes are missing
and nothing made since says that Azure had them after all. What people asked for and Azure turned down at once is told
for as long as somebody may wonder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from handlers.diagnose.quota_demand import pool_of
from handlers.evidence.autoscaling import AutoscalerStatus, BackedOff, NodeClaims
from handlers.evidence.azure import AgentPool, AgentPools, ManagedCluster
from handlers.evidence.complaints import Complaint, Complaints
from handlers.evidence.compute import Instances, ScaleSets
from handlers.evidence.errors import ErrorDetail
from handlers.evidence.growth import Growth
from handlers.model import Clear, Finding, Judgement, NotApplicable, Unavailable
from runbooks.linear import compile_linear

_WORD = compile_linear(r"[A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class Refusal:
    """One pool, or the cluster, that Azure gave no nodes."""

    about: str
    """The id of the pool or the cluster."""
    error: ErrorDetail
    says: tuple[str, ...]
    """The lines that prove it."""
    pool: AgentPool | None = None
    waits: bool = True
    """Nodes are missing now. Else a request was turned down, and nothing is worse than before."""
    missing: int | None = None
    """How many nodes the pool lacks; None where that was not seen."""

    @property
    def lacks_only_surge(self) -> bool:
        """Whether the pool has all its nodes and is being upgraded: it lacks what the upgrade adds for a while."""
        return self.may_lack_surge and self.pool is not None and self.pool.upgrading

    @property
    def may_lack_surge(self) -> bool:
        """Whether the pool has all its nodes, as one whose upgrade failed: then it may do without more of them."""
        return bool(self.pool and self.waits and self.missing == 0 and self.pool.may_lose_nodes)

    def harms(self, code: str, cluster: ManagedCluster, complaints: Complaints) -> tuple[str, ...]:
        """What follows from it: what it is about, unless that has failed for something else, and the failures for which
        Azure names it. What it says of the cluster stopped each pool that failed with the cluster."""
        mine = complaints.affected((self.about,), (code,)) if self.waits else ()
        with_it = [failure.subject for failure in complaints.failures if self.about == cluster.id] or [self.about]
        return tuple(dict.fromkeys((*mine, *complaints.claimed((*with_it, cluster.id), (code,)))))


@dataclass(frozen=True, slots=True)
class Refused:
    """What Azure said to all who wanted nodes."""

    cluster: ManagedCluster
    pools: AgentPools
    complaints: Complaints
    growth: Growth
    instances: Instances | Unavailable
    sets: ScaleSets | Unavailable
    scaler: AutoscalerStatus | NotApplicable | Unavailable
    claims: NodeClaims | NotApplicable | Unavailable

    def missing(self, pool: AgentPool) -> int | None:
        """The nodes that a pool lacks; None where its machines were not seen."""
        found = next((pool_growth.missing for pool_growth in self.growth.pools if pool_growth.pool.id == pool.id), 0)
        return found or (None if self.growth.gaps else 0)

    def judged(self, code: str, told: Callable[[Refusal], Finding], nobody: str) -> Iterator[Judgement]:
        """The verdict of a check whose proof is Azure's own error: what it found, what is open, or why it is clear."""
        named = list(self.naming(code))
        unseen = [*self.unseen(), *(item for item in named if isinstance(item, Unavailable))]
        found = [item for item in named if isinstance(item, Refusal)]
        yield from unseen
        yield from map(told, found)
        if not found and not unseen and self.pools.complete:
            yield Clear(f"{nobody} in the 24 hours up to {self.complaints.until}")

    def naming(self, code: str) -> Iterator[Refusal | Unavailable]:
        """Everyone whom this cause keeps from nodes, and what could not be seen of it."""
        for pool in self.pools.pools:
            yield from self._of_pool(code, pool)
        yield from self._of_cluster(code)
        if self.cluster.makes_own_nodes:
            yield from self._of_provisioning(code)

    def unseen(self) -> Iterator[Unavailable]:
        """What keeps us from saying that nobody was refused. What an autoscaler was refused stands in the log, too."""
        spot = self.complaints.blind_spot()
        yield from [spot] if spot else []
        yield from [self.instances] if isinstance(self.instances, Unavailable) else self.instances.gaps

    def _of_pool(self, code: str, pool: AgentPool) -> Iterator[Refusal | Unavailable]:
        told = self.complaints.naming(code, pool.id)
        backed = self._backed_off(code, pool)
        broken = self._broken(code, pool)
        failure = self.complaints.failure(pool.id)
        of_failure = failure.complaint if failure and failure.names == code else None
        missing = self.missing(pool)
        if of_failure and of_failure.about.lower() == pool.id.lower():
            yield Refusal(pool.id, of_failure.error, _lines([str(of_failure), *backed]), pool, missing=missing)
        elif backed or broken:
            errors = [*(complaint.error for complaint in told), *(backoff.error for backoff in backed), *broken]
            error = next(detail for detail in errors if detail)
            lines = [str(item) for item in (*told[:1], *backed, *broken)]
            yield Refusal(pool.id, error, _lines(lines), pool, missing=missing or 1)
        elif recent := [complaint for complaint in self.complaints.recent(code, pool.id) if complaint in told]:
            yield from self._of_recent(pool, recent[0], missing)

    def _of_recent(self, pool: AgentPool, told: Complaint, missing: int | None) -> Iterator[Refusal | Unavailable]:
        """The pool itself is well, or has failed for something else."""
        if told.refused:
            yield Refusal(pool.id, told.error, (str(told),), pool, waits=False)
        elif missing:
            yield Refusal(pool.id, told.error, _lines([str(told), _missing(missing)]), pool, missing=missing)
        elif self.growth.gaps:
            yield self.growth.gaps[0]
        elif pool.autoscaled and isinstance(self.scaler, Unavailable):
            yield self.scaler

    def _backed_off(self, code: str, pool: AgentPool) -> list[BackedOff]:
        """The autoscaler's own words about this pool; of what it did not name, the log of the node group tells."""
        found = self.scaler.backed_off if isinstance(self.scaler, AutoscalerStatus) else ()
        mine = [backoff for backoff in found if pool_of(backoff.group, (pool,), self.sets)]
        return [backoff for backoff in mine if backoff.error and backoff.error.names == code]

    def _broken(self, code: str, pool: AgentPool) -> list[ErrorDetail]:
        """Machines that exist and that Azure could not start."""
        mine = self.instances.of(pool) if isinstance(self.instances, Instances) else ()
        return [error for instance in mine if instance.failed for error in instance.errors if error.names == code]

    def _of_cluster(self, code: str) -> Iterator[Refusal]:
        """An error of the cluster's own; one that a pool of it tells, too, is that pool's."""
        failure = self.complaints.failure(self.cluster.id)
        told = self.complaints.naming(code, self.cluster.id)
        stands = [failure.complaint] if failure and failure.complaint and failure.names == code else []
        of_failure = [stand for stand in stands if stand.about.lower() == self.cluster.id.lower()]
        known = any(self.complaints.naming(code, pool.id) for pool in self.pools.pools)
        refused = [
            complaint
            for complaint in self.complaints.recent(code, self.cluster.id)
            if complaint.refused and complaint in told
        ]
        for each_complaint in [] if known else (of_failure or refused)[:1]:
            pool = self._pool_in(each_complaint.error.message)
            yield Refusal(
                self.cluster.id, each_complaint.error, (str(each_complaint),), pool, waits=not each_complaint.refused
            )

    def _pool_in(self, message: str) -> AgentPool | None:
        """The pool that a text names by its own word, or the only one there is."""
        words = {found[0].lower() for found in _WORD.finditer(message)}
        named = [pool for pool in self.pools.pools if pool.name.lower() in words]
        found = named or list(self.pools.pools)
        return found[0] if len(found) == 1 else None

    def _of_provisioning(self, code: str) -> Iterator[Refusal | Unavailable]:
        """Karpenter tries another size by itself: it is a problem where a claim of it still waits."""
        refused = [
            complaint for complaint in self.complaints.recent(code) if "/virtualmachines/" in complaint.about.lower()
        ]
        if isinstance(self.claims, Unavailable):
            yield from [self.claims] if refused else []
            return
        claims = self.claims.waiting if isinstance(self.claims, NodeClaims) else ()
        waiting = [claim for claim in claims if claim.error.names == code or (refused and not claim.message)]
        if waiting:
            error = refused[0].error if refused else waiting[0].error
            lines = [*map(str, waiting[:2]), *map(str, refused[:1])]
            yield Refusal(self.cluster.id, error, _lines(lines), missing=len(waiting))


def _missing(nodes: int) -> str:
    return "1 node is missing" if nodes == 1 else f"{nodes} nodes are missing"


def _lines(lines: Iterable[object]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(str, lines)))
