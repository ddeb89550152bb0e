"""Why a fix may not be offered: shared by several remedies. Pure, over evidence; each reason says what to do about it.

A certain obstacle is a `Forbidden`. What could not be seen is a doubt, shown beside the button: Azure would refuse such
a write, and nothing would happen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.governance import Lock, Locks
from handlers.evidence.linked import READ_KEYS
from handlers.evidence.permissions import DenyAssignments, WriterMay
from handlers.model import Finding, NotApplicable, Unavailable
from handlers.remedy.plan import Forbidden
from handlers.resource_id import last_name, within

Absent = Unavailable | NotApplicable
AKS = "microsoft.containerservice/"
RETURNS_KEYS = frozenset({READ_KEYS.lower()})
MOST_NAMED = 5
"""A phone shows about that many names."""
_PAST_LOCKDOWN = (
    "the node resource group is locked down: use what AKS offers instead, "
    "az aks nodepool delete-machines or a node image upgrade"
)
_INHERITED = "is inherited by the node resource group: Azure may refuse what has to delete there"


@dataclass(frozen=True, slots=True)
class Act:
    """One Azure action on one resource. `linked`: Azure only checks the permission there."""

    action: str
    resource: str
    linked: bool = False


def operation_runs(cluster: ManagedCluster, pools: AgentPools) -> Iterator[Forbidden]:
    """Azure allows one operation at a time; a queued second one could start from a state that nobody approved."""
    busy = [f"cluster {cluster.name} is {cluster.state}"] if cluster.busy else []
    busy += [f"pool {pool.name} is {pool.state}" for pool in pools.pools if pool.busy]
    if busy:
        yield Forbidden(f"an operation is running: {some(busy)}", "wait until it has ended, then check again")


def is_stopped(cluster: ManagedCluster) -> Iterator[Forbidden]:
    if cluster.stopped:
        yield Forbidden(f"cluster {cluster.name} is stopped", "start it, then check again")


def not_now(cluster: ManagedCluster, pools: AgentPools) -> Iterator[Forbidden]:
    """A cluster that is stopped, or already being changed."""
    yield from is_stopped(cluster)
    yield from operation_runs(cluster, pools)


def stopped_by(finding: Finding) -> Iterator[Forbidden]:
    """The cause that Azure named, if nobody has seen it gone: the same write would fail again."""
    text, code = finding.facts.get("stopped_by"), finding.facts.get("named")
    if text:
        do = f"follow the steps of {code} first, then check again" if code else "remove that first, then check again"
        yield Forbidden(f"Azure says what stopped it: {text}", do)


def stands_in_the_way(
    acts: Iterable[Act],
    cluster: ManagedCluster,
    locks: Locks | Absent,
    denials: DenyAssignments | Absent,
    may: WriterMay | Absent,
) -> Iterator[Forbidden]:
    """Locks, deny assignments and missing permissions."""
    wanted = tuple(acts)
    own = [act for act in wanted if not act.linked]
    if isinstance(locks, Locks):
        yield from _locked(own, cluster, locks)
    if isinstance(denials, DenyAssignments):
        yield from _denied(own, denials, may.principal if isinstance(may, WriterMay) else "")
    if isinstance(may, WriterMay):
        for asked in wanted:
            if may.do(asked.action, asked.resource) is False:
                what = f"the writer may not do {asked.action} on {last_name(asked.resource)}"
                yield Forbidden(what, _how_to_grant(asked))


def _how_to_grant(act: Act) -> str:
    if act.action.lower() not in RETURNS_KEYS:
        return f"grant {act.action} on {act.resource} to the writer's identity"
    by_hand = "reconcile it by hand, or move Container insights to the cluster's managed identity"
    return f"{by_hand}: to grant it would hand the writer the keys of {last_name(act.resource)}"


def doubts(
    acts: Iterable[Act], locks: Locks | Absent, denials: DenyAssignments | Absent, may: WriterMay | Absent
) -> tuple[str, ...]:
    """What could not be seen of them, as warnings."""
    wanted = tuple(acts)
    text = [f"could not see {evidence}" for evidence in (locks, denials, may) if isinstance(evidence, Unavailable)]
    if isinstance(locks, Locks) and not locks.complete:
        text.append("could not see all locks")
    if isinstance(locks, Locks):
        text += [f"lock {lock.name} ({lock.level}) {_INHERITED}" for lock in locks.locks if _is_inherited(lock, wanted)]
    if isinstance(may, WriterMay):
        unknown = [act.action for act in wanted if may.do(act.action, act.resource) is None]
        text += [f"could not see whether the writer may do {action}" for action in dict.fromkeys(unknown)]
    if isinstance(denials, DenyAssignments):
        who = may.principal if isinstance(may, WriterMay) else ""
        unclear = [
            denial.name
            for denial in denials.denials
            if denial.is_for(who) is None and any(denial.denies(act.action, act.resource) for act in wanted)
        ]
        text += [f"cannot tell whether deny assignment {action} is for the writer" for action in unclear]
    return tuple(text)


def set_read_only(resource: str, locks: Locks) -> Iterator[Forbidden]:
    """The ReadOnly locks that hold a resource which is no AKS cluster's: they refuse every POST and PUT to it."""
    yield from (_held_by(lock) for lock in locks.locks if lock.read_only and within(lock.scope, resource))


def _held_by(lock: Lock) -> Forbidden:
    what = f"lock {lock.name} ({lock.level}) on {last_name(lock.scope)} forbids it"
    return Forbidden(what, f"ask whoever set it, remove it (az lock delete --ids {lock.id}), then check again")


def _locked(acts: list[Act], cluster: ManagedCluster, locks: Locks) -> Iterator[Forbidden]:
    for lock in locks.locks:
        stored = [act for act in acts if _forbids(lock, act, cluster)]
        if stored:
            yield _held_by(lock)


def _forbids(lock: Lock, act: Act, cluster: ManagedCluster) -> bool:
    """ReadOnly covers everything below it. AKS refuses every operation while any lock is inside the node resource
    group.
    """
    if lock.read_only and within(lock.scope, act.resource):
        return True
    return act.action.lower().startswith(AKS) and within(cluster.node_group_id, lock.scope)


def _is_inherited(lock: Lock, acts: Iterable[Act]) -> bool:
    """A lock inherited from the subscription: AKS deletes nothing by these actions itself, but may do so to carry them
    out.
    """
    of_subscription = len(lock.scope.strip("/").split("/")) == 2
    return (
        of_subscription
        and not lock.read_only
        and any(act.action.lower().startswith(AKS) and within(lock.scope, act.resource) for act in acts)
    )


def _denied(acts: list[Act], denials: DenyAssignments, principal: str) -> Iterator[Forbidden]:
    for denial in denials.denials:
        stored = [act for act in acts if denial.denies(act.action, act.resource)]
        if stored and denial.is_for(principal):
            machines = stored[0].action.lower().startswith("microsoft.compute/")
            yield Forbidden(
                f"deny assignment {denial.name} on {last_name(denial.scope)} forbids {stored[0].action}",
                _PAST_LOCKDOWN if machines else "ask whoever set it to exclude the writer's identity from it",
            )


def some(names: Iterable[str]) -> str:
    """A few names, and how many more."""
    known = list(names)
    rest = len(known) - MOST_NAMED
    return ", ".join(known[:MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")
