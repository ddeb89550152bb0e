"""Does a lock stand in the way?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from handlers.engine.declare import diagnostic
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.complaints import Complaint, Complaints
from handlers.evidence.errors import ErrorDetail
from handlers.evidence.governance import Lock, Locks
from handlers.model import Clear, Finding, Severity, Unavailable
from handlers.resource_id import same, within

_LOCKED_SCOPES = re.compile(r"(?:are locked: |', )'(/subscriptions/[^']+)'")


@diagnostic(codes=("resource-lock",), area="governance")
def resource_lock(
    cluster: ManagedCluster, pools: AgentPools, locks: Locks, complaints: Complaints
) -> Iterator[Finding | Clear | Unavailable]:
    """A lock stops the cluster from scaling, updating or deleting."""
    told = _stand(cluster, pools, complaints)
    harmless = []
    for lock in locks.locks:
        reach = _reach(lock, cluster, pools)
        if not reach:
            continue
        if _blocks(lock, cluster) or _blamed(lock, told):
            yield _found(lock, reach, cluster, pools, complaints, told)
        elif cluster.failed or pools.failed:
            yield from complaints.gaps[:1]
        else:
            harmless.append(lock.name)
    if locks.complete:
        yield Clear(f"no lock in the way{_beside(harmless)}")


def _reach(lock: Lock, cluster: ManagedCluster, pools: AgentPools) -> str:
    """What of this cluster a lock holds, in words; empty where it holds nothing of it."""
    if within(cluster.node_group_id, lock.scope) or within(lock.scope, cluster.node_group_id):
        return f"the node resource group {cluster.node_group}"
    if within(lock.scope, cluster.id) or within(cluster.id, lock.scope):
        return f"the cluster {cluster.name}"
    subnets = [pool.subnet for pool in pools.pools if pool.subnet and within(lock.scope, pool.subnet)]
    return f"the subnet {subnets[0].rsplit('/', 1)[-1]}" if subnets else ""


def _blocks(lock: Lock, cluster: ManagedCluster) -> bool:
    """AKS refuses every operation while a lock is in the node resource group; elsewhere ReadOnly stops writes."""
    return lock.read_only or within(cluster.node_group_id, lock.scope)


def _stand(cluster: ManagedCluster, pools: AgentPools, complaints: Complaints) -> tuple[Complaint, ...]:
    """Refusals that still matter: of what is failed now, or of the last day. That the cluster itself was not deleted
    is what its guard lock is for."""
    failed = {one.id for one in pools.failed} | ({cluster.id} if cluster.failed else set())
    recent = complaints.recent(speaks_of_lock)
    return tuple(
        one
        for one in complaints.speaking_of(speaks_of_lock)
        if (one in recent or one.about in failed)
        and not (one.about == cluster.id and one.operation.lower().endswith("/delete"))
    )


def _blamed(lock: Lock, told: tuple[Complaint, ...]) -> bool:
    """A CanNotDelete lock is good practice, until a delete was refused because of its scope."""
    named = [scope for one in told for scope in _LOCKED_SCOPES.findall(one.error.message)]
    return any(same(lock.scope, scope) for scope in named)


def _found(
    lock: Lock,
    reach: str,
    cluster: ManagedCluster,
    pools: AgentPools,
    complaints: Complaints,
    told: tuple[Complaint, ...],
) -> Finding:
    failed = [*(pool.id for pool in pools.failed), *([cluster.id] if cluster.failed else [])]
    harmed = [subject for subject in failed if complaints.claimable(subject, speaks_of_lock)]
    effect = "nothing below it can be changed" if lock.read_only else "nothing below it can be deleted"
    in_node_group = within(cluster.node_group_id, lock.scope)
    return Finding(
        code="resource-lock",
        subject=lock.id,
        severity=Severity.ERROR if harmed or told else Severity.WARNING,
        affects=tuple(harmed),
        because=(
            f"lock {lock.name} ({lock.level}) on {lock.scope}: {effect}",
            *([f"it holds {reach}"] if not lock.scope.lower().endswith(reach.rsplit(" ", 1)[-1].lower()) else []),
            *(["AKS refuses every operation while a lock is in its node resource group"] if in_node_group else []),
            *(str(one) for one in told[:1]),
            *([f"its note says: {lock.notes}"] if lock.notes else []),
        ),
        facts={
            "lock": lock.name,
            "lock_id": lock.id,
            "level": lock.level,
            "scope": lock.scope,
            "notes": lock.notes,
            "holds": reach,
            "read_only": lock.read_only,
            "cluster": cluster.name,
            "group": cluster.group,
            "cluster_id": cluster.id,
        },
    )


def _beside(harmless: list[str]) -> str:
    return f"; {', '.join(harmless)} (CanNotDelete) only guards against deletion" if harmless else ""


def speaks_of_lock(error: ErrorDetail) -> bool:
    """ScopeLocked, or AKS's own sentence about a locked resource group, which has no code."""
    words = f"{error.code} {error.message}".lower()
    return any(word in words for word in ("scopelocked", "scope(s) are locked", "is locked, please remove"))
