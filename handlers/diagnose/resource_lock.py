"""Does a lock stand in the way?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.complaints import RECENT, Complaint, Complaints, Failure
from handlers.evidence.compute import ScaleSets
from handlers.evidence.footprint import Place, places, writes_routes
from handlers.evidence.governance import Lock, Locks
from handlers.evidence.monitor import ActivityLog, NodeActivityLog
from handlers.evidence.network import NodeClasses, PoolSubnets
from handlers.model import Clear, Finding, NotApplicable, Severity, Unavailable, Why
from handlers.resource_id import last_name, same, within
from runbooks.linear import compile_linear

_LOCKED_SCOPES = compile_linear(r"scope\(s\) are locked: '([^']+)'((?:, '[^']+')*)", ignore_case=True)
_LOCKED_GROUP = compile_linear(r"resource group '([^']+)'[^.]* is locked", ignore_case=True)


CODE = "resource-lock"


@diagnostic(
    codes=(CODE,),
    area="governance",
    clear_without=ClearWithout(
        (ActivityLog, NodeActivityLog, ScaleSets, PoolSubnets, NodeClasses),
        "no lock is on anything of the cluster, so no error can be because of one",
    ),
)
def resource_lock(
    cluster: ManagedCluster,
    pools: AgentPools,
    locks: Locks,
    complaints: Complaints,
    node_log: NodeActivityLog | Unavailable,
    subnets: PoolSubnets | Unavailable | NotApplicable,
) -> Iterator[Finding | Clear | Unavailable]:
    """A lock stops the cluster from scaling, updating or deleting."""
    refusals = (*_refusals(cluster, complaints), *_refused_deletes(cluster, node_log))
    where = tuple(places(cluster, pools, subnets))
    harmless = []
    blind = complaints.blind_spot()
    for lock in locks.locks:
        held = [place for place in where if place.held_by(lock.scope)]
        blocked = next((place for place in held if lock.read_only or place.deletes), None)
        told = [refusal for refusal in refusals if _names(refusal, lock, cluster, or_else=blocked is not None)]
        if told or blocked:
            yield _found(lock, blocked or next(iter(held), None), cluster, complaints, told)
        elif held and (cluster.failed or pools.failed) and blind:
            yield blind  # whether a delete was refused because of it is told there, and nowhere else
        elif held:
            harmless.append(lock.name)
    yield from _unlisted(where, locks)
    if isinstance(subnets, Unavailable) and writes_routes(cluster) and any(lock.read_only for lock in locks.locks):
        yield Unavailable("the route table of the nodes' subnet", subnets.why, subnets.detail, subnets.grant)
    if locks.complete:
        known = f"; refusals are known until {complaints.until}" if complaints.told_until else ""
        yield Clear(f"no lock is in the way{_beside(harmless)}{known}")


def _refusals(cluster: ManagedCluster, complaints: Complaints) -> Iterator[Complaint]:
    """Refusals that still matter. That the cluster itself was not deleted is what its guard lock is for."""
    for complaint in complaints.standing(CODE):
        if complaint.about != cluster.id or not complaint.operation.lower().endswith("/delete"):
            yield complaint


def _refused_deletes(cluster: ManagedCluster, log: NodeActivityLog | Unavailable) -> Iterator[Complaint]:
    """Instances, disks and addresses that AKS could not delete leave no pool Failed: the log alone tells of them."""
    if isinstance(log, Unavailable):
        return
    for event in log.standing(cluster.node_group_id):
        if event.error and event.error.names == CODE and log.taken_at - event.at < RECENT:
            yield Complaint(event.resource, event.error, event.at, event.operation)


def _names(told: Complaint, lock: Lock, cluster: ManagedCluster, *, or_else: bool) -> bool:
    """Whether a refusal is about this lock: by the scopes that it lists, or by the group that AKS found locked."""
    found, group = _LOCKED_SCOPES.search(told.error.message), _LOCKED_GROUP.search(told.error.message)
    if found:
        return any(same(lock.scope, scope.strip(" '")) for scope in f"{found[1]},{found[2]}".split(","))
    if group:
        of_nodes = group[1].lower() == cluster.node_group.lower()
        scope = (
            cluster.node_group_id if of_nodes else f"/subscriptions/{cluster.subscription}/resourceGroups/{group[1]}"
        )
        return within(scope, lock.scope) or (or_else and within(lock.scope, scope))
    return or_else


def _unlisted(where: Iterable[Place], locks: Locks) -> Iterator[Unavailable]:
    """Places whose locks nobody listed. Those of a route table are not asked for by themselves: what its subnet's
    subscription shows holds them, and who may look at resource groups only does not see another group's."""
    unseen = [place for place in where if not locks.cover(place.id)]
    if unseen:
        wanted = f"the locks that hold {', '.join(place.what for place in unseen)}"
        grant = "Microsoft.Authorization/locks/read"
        unasked = Unavailable(wanted, Why.DENIED, f"nothing that may be read shows {unseen[0].id}", grant)
        gap = next(iter(locks.gaps), unasked)
        yield replace(gap, wanted=wanted)


def _found(
    lock: Lock,
    place: Place | None,
    cluster: ManagedCluster,
    complaints: Complaints,
    told: list[Complaint],
) -> Finding:
    inside = within(cluster.node_group_id, lock.scope)
    inherited = not inside and within(lock.scope, cluster.node_group_id)

    def older(failure: Failure) -> bool:
        """A lock that deletes alone run into may have stood there for years: only a refusal that names it blames it."""
        return (lock.read_only or inside) and failure.began_after(lock.created)

    def names_another(failure: Failure | None) -> bool:
        return failure is not None and failure.names == CODE and failure.complaint not in told

    claimed = complaints.claimed(complaints.failed, (CODE,), older)
    harmed = [subject for subject in claimed if not names_another(complaints.failure(subject))]
    effect = "nothing below it can be changed" if lock.read_only else "nothing below it can be deleted"
    reach = place.what if place else last_name(lock.scope)
    stops = place.stops if place and lock.read_only and not inside and not inherited else ""
    return Finding(
        code=CODE,
        subject=lock.id,
        severity=Severity.ERROR if harmed or told else Severity.WARNING,
        affects=tuple(harmed),
        because=(
            f"lock {lock.name} ({lock.level}) on {lock.scope}: {effect}",
            *([f"it holds {reach}"] if not lock.scope.lower().endswith(reach.rsplit(" ", 1)[-1].lower()) else []),
            *(["AKS refuses every operation while a lock is in its node resource group"] if inside else []),
            *(["AKS deletes nodes there when it scales down and when it upgrades"] if inherited else []),
            *([stops] if stops else []),
            *(str(complaint) for complaint in told[:1]),
            *([f"set at {lock.created:%Y-%m-%d %H:%M} UTC"] if lock.created else []),
            *([f"its note says: {lock.notes}"] if lock.notes else []),
        ),
        facts=_facts(lock, cluster, reach, stops, inherited=inherited, blocked=bool(harmed)),
    )


def _facts(
    lock: Lock, cluster: ManagedCluster, reach: str, stops: str, *, inherited: bool, blocked: bool
) -> dict[str, object]:
    return {
        "lock": lock.name,
        "lock_id": lock.id,
        "level": lock.level,
        "scope": lock.scope,
        "notes": lock.notes,
        "holds": reach,
        "inherited": inherited,
        "stops": stops,
        "read_only": lock.read_only,
        "blocked": blocked,
        "cluster": cluster.name,
        "group": cluster.group,
        "cluster_id": cluster.id,
    }


def _beside(harmless: list[str]) -> str:
    return f"; {', '.join(harmless)} (CanNotDelete) only protects against deletion" if harmless else ""
