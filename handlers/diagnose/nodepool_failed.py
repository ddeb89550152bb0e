"""Did the last operation on a node pool fail?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.counted import counted
from handlers.diagnose.pool_ledger import Ledger
from handlers.diagnose.stopped_by import StoppedBy, without_error
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import AgentPool, AgentPools, ManagedCluster
from handlers.evidence.complaints import Complaints, always
from handlers.evidence.compute import ComputeUsages, Instances, ScaleSets, VmSizes
from handlers.evidence.governance import Locks, Policies, PolicyStates, RoleAssignments
from handlers.evidence.monitor import ActivityLog, DiagnosticSettings, NodeActivityLog
from handlers.evidence.scale_set_settings import ScaleSetSettings
from handlers.model import Causes, Clear, Finding, NotApplicable, Unavailable


@diagnostic(
    codes=("nodepool-failed",),
    area="nodes",
    causes_of=("nodepool-failed",),
    clear_without=ClearWithout(
        (
            *(ActivityLog, NodeActivityLog, ScaleSets, Instances, DiagnosticSettings, ScaleSetSettings),
            *(ComputeUsages, VmSizes, Policies, PolicyStates, RoleAssignments, Locks),
        ),
        "the pools' own states say that none has failed; the other steps only tell why one did",
    ),
)
def nodepool_failed(
    cluster: ManagedCluster,
    pools: AgentPools,
    sets: ScaleSets | Unavailable,
    instances: Instances | Unavailable,
    log: ActivityLog | Unavailable,
    node_log: NodeActivityLog | Unavailable,
    settings: DiagnosticSettings | Unavailable,
    set_settings: ScaleSetSettings | NotApplicable | Unavailable,
    usages: ComputeUsages | Unavailable,
    sizes: VmSizes | Unavailable,
    policies: Policies | Unavailable,
    states: PolicyStates | NotApplicable | Unavailable,
    roles: RoleAssignments | Unavailable,
    locks: Locks | Unavailable,
    complaints: Complaints,
    causes: Causes,
) -> Iterator[Finding | Clear]:
    """A node pool is Failed or Canceled: the seven places to look, and what each of them shows."""
    if not pools.failed:
        if pools.complete:
            yield Clear(f"{counted(len(pools.pools), 'node pool')}, none Failed or Canceled")
        return
    for pool in pools.failed:
        ledger = Ledger(cluster, pool, complaints, causes)
        ledger.pool_itself()
        ledger.scale_set(sets)
        ledger.machines(instances)
        ledger.logs(log, node_log, settings, set_settings)
        ledger.quota_and_capacity(usages, sizes)
        ledger.policies_and_roles(policies, states, roles)
        ledger.locks(locks)
        yield _failed(cluster, pool, ledger, complaints, causes)


def _failed_with_it(cluster: ManagedCluster, pool: AgentPool, complaints: Complaints, code: str) -> tuple[str, ...]:
    """The cluster, where it failed over this pool."""
    claimed = complaints.claimed((pool.id, cluster.id), [code] if code else [], always)
    return tuple(subject for subject in claimed if subject != pool.id)


def _failed(
    cluster: ManagedCluster, pool: AgentPool, ledger: Ledger, complaints: Complaints, causes: Causes
) -> Finding:
    failure = complaints.failure(pool.id)
    telling = failure.complaint if failure else None
    stopped = StoppedBy.of(failure, causes)
    its_own = telling is not None and telling.about.lower() == pool.id.lower()  # else it is the cluster's
    return Finding(
        code="nodepool-failed",
        subject=pool.id,
        affects=_failed_with_it(cluster, pool, complaints, stopped.code if its_own else ""),
        because=(
            f"pool {pool.name} ({pool.mode}, {pool.nodes_by_size}) is {pool.state}",
            *([str(telling)] if telling else [without_error(pool.state)]),
            *(
                ["that was said of the cluster; of this pool Azure says nothing more"]
                if telling and not its_own
                else []
            ),
            *stopped.line,
            *ledger.lines(),
        ),
        facts={
            "pool": pool.name,
            "state": pool.state,
            "count": pool.count,
            "size": pool.vm_size,
            "version": pool.version,
            "current_version": pool.current_version,
            "upgrade_pending": pool.upgrading,
            "code": telling.error.code if telling else "",
            "message": telling.error.message if telling else "",
            "ledger": ledger.rows(),
            "scale_set": ledger.scale_set_name,
            "scale_set_id": ledger.scale_set_id,
            "type": pool.type,
            "sizes": [nodes.size for nodes in pool.sizes if nodes.size],
            "subnet": pool.subnet,
            "identities": list(cluster.identities),
            "location": cluster.location,
            "cluster": cluster.name,
            "group": cluster.group,
            "node_group": cluster.node_group,
            "cluster_id": cluster.id,
            "pool_id": pool.id,
            "machine_id": ledger.broken_machine,
            "subscription": cluster.subscription,
            **stopped.facts(),
        },
        began=failure.at if failure else None,
    )
