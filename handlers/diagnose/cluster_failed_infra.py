"""Did the cluster fail for a reason of Azure's own?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from handlers.diagnose.pdb_blocks_drain import pdb_blocks_drain
from handlers.diagnose.quota_exceeded import quota_exceeded
from handlers.diagnose.resource_lock import resource_lock
from handlers.diagnose.subnet_full import subnet_full
from handlers.diagnose.subscription_not_registered import subscription_not_registered
from handlers.engine.declare import Diagnostic, diagnostic
from handlers.engine.judge import judge
from handlers.evidence.autoscaling import AutoscalerStatus, NodeClaims
from handlers.evidence.azure import AgentPools, ManagedCluster, NetworkProfile
from handlers.evidence.budgets import Budgets
from handlers.evidence.cluster import Nodes, Pods
from handlers.evidence.complaints import Complaint, Complaints
from handlers.evidence.compute import ComputeUsages, ScaleSets, VmSizes
from handlers.evidence.errors import ErrorDetail
from handlers.evidence.governance import Locks
from handlers.evidence.growth import Growth
from handlers.evidence.monitor import ActivityLog, NodeActivityLog
from handlers.evidence.network import NodeClasses, PoolSubnets
from handlers.evidence.providers import ProviderRegistrations
from handlers.model import Clear, Finding, Judgement, NotApplicable, Outcome, Unavailable, Why

CAUSES: Mapping[str, Diagnostic] = {
    "quota": quota_exceeded,
    "subnets": subnet_full,
    "locks": resource_lock,
    "disruption budgets": pdb_blocks_drain,
    "resource providers": subscription_not_registered,
}
"""What people can have in Azure's way, as the proof calls it. The same questions are asked again here."""

_INTERNAL = re.compile(r"internal(?:operation|server)?error$", re.IGNORECASE)
"""ControlPlaneProvisioningInternalError, InternalServerError, InternalOperationError…: Azure blames itself."""


@diagnostic(codes=("cluster-failed-infra",), area="cluster")
def cluster_failed_infra(
    cluster: ManagedCluster,
    pools: AgentPools,
    complaints: Complaints,
    log: ActivityLog | Unavailable,
    node_log: NodeActivityLog | Unavailable,
    usages: ComputeUsages | Unavailable,
    sizes: VmSizes | Unavailable,
    growth: Growth | Unavailable,
    network: NetworkProfile | Unavailable,
    subnets: PoolSubnets | Unavailable | NotApplicable,
    locks: Locks | Unavailable,
    providers: ProviderRegistrations | Unavailable,
    nodes: Nodes | Unavailable | NotApplicable,
    pods: Pods | Unavailable | NotApplicable,
    budgets: Budgets | Unavailable | NotApplicable,
    sets: ScaleSets | Unavailable,
    scaler: AutoscalerStatus | Unavailable | NotApplicable,
    claims: NodeClaims | Unavailable | NotApplicable,
    classes: NodeClasses | Unavailable | NotApplicable,
) -> Iterator[Judgement]:
    """The cluster failed with an internal error of Azure's, and nothing of its owners' stands in the way."""
    told = _internal(cluster, pools, complaints)
    if isinstance(told, Clear | Unavailable):
        yield told
        return
    facts: dict[type, Any] = {
        ManagedCluster: cluster,
        AgentPools: pools,
        Complaints: complaints,
        NodeActivityLog: node_log,
        ComputeUsages: usages,
        VmSizes: sizes,
        Growth: growth,
        NetworkProfile: network,
        PoolSubnets: subnets,
        Locks: locks,
        ProviderRegistrations: providers,
        Nodes: nodes,
        Pods: pods,
        Budgets: budgets,
        ScaleSets: sets,
        AutoscalerStatus: scaler,
        NodeClaims: claims,
        NodeClasses: classes,
    }
    others = [*(_asked(name, cause, facts) for name, cause in CAUSES.items()), _zones(pools, sizes)]
    others.append(_policies(complaints))
    # A cause that was found settles it; one that could not be looked for leaves it open.
    yield from [one for one in others if isinstance(one, Clear)][:1] or _open_or_found(
        cluster, pools, told, log, others
    )


def _internal(cluster: ManagedCluster, pools: AgentPools, complaints: Complaints) -> Complaint | Clear | Unavailable:
    """The internal error that Azure gave for the cluster, when it gave nothing else for it or for its pools."""
    if not cluster.failed:
        return Clear(f"{cluster.name} is {cluster.state}")
    told = [one for subject in (cluster.id, *(pool.id for pool in pools.failed)) for one in complaints.about(subject)]
    named = next((one for one in told if one.names_a_cause and not is_internal(one.error)), None)
    if named:
        return Clear(f"Azure named another cause: {named.error}")
    internal = next((one for one in told if is_internal(one.error)), None)
    if internal:
        return internal
    return complaints.gaps[0] if complaints.gaps else Clear("Azure gave no internal error as its cause")


def is_internal(error: ErrorDetail) -> bool:
    return _INTERNAL.search(error.code) is not None


def _asked(name: str, cause: Diagnostic, facts: Mapping[type, Any]) -> str | Clear | Unavailable:
    """What one cause came to: the proof that it is not there, or why this cannot be laid at Azure's door."""
    verdict = judge(cause, {need.name: facts[need.kind] for need in cause.needs})
    if verdict.outcome is Outcome.FOUND:
        return Clear(f"it may have a cause of its owners': {verdict.why}")
    if verdict.outcome in (Outcome.INCONCLUSIVE, Outcome.CRASHED):
        seen = verdict.unseen[0] if verdict.unseen else Unavailable(name, Why.FAILED, verdict.why)
        return Unavailable(seen.wanted, seen.why, f"{name}: {seen.detail}", seen.grant)
    return f"{name}: {verdict.why}"


def _zones(pools: AgentPools, sizes: VmSizes | Unavailable) -> str | Clear | Unavailable:
    if isinstance(sizes, Unavailable):
        return sizes
    for pool in pools.pools:
        size = sizes.of(pool.vm_size)
        closed = size.closed_to(pool.zones) if size else ()
        if closed and not pool.stopped:
            return Clear(
                f"it may have a cause of its owners': {pool.vm_size} of pool {pool.name} is closed: {closed[0]}"
            )
    if sizes.truncated:
        return Unavailable("the VM sizes of the region", Why.FAILED, "only a part of them could be read")
    return "zones: every pool's size may be used where the pool is"


def _policies(complaints: Complaints) -> str | Clear | Unavailable:
    refused = complaints.recent(speaks_of_policy)
    if refused:
        return Clear(f"it may have a cause of its owners': {refused[0]}")
    return complaints.blind_spot() or f"policies: none has refused a write in the day until {complaints.until}"


def speaks_of_policy(error: ErrorDetail) -> bool:
    return "disallowedbypolicy" in f"{error.code} {error.message}".lower().replace(" ", "")


def _open_or_found(
    cluster: ManagedCluster,
    pools: AgentPools,
    told: Complaint,
    log: ActivityLog | Unavailable,
    others: list[str | Clear | Unavailable],
) -> list[Judgement]:
    unseen: list[Judgement] = [one for one in others if isinstance(one, Unavailable)]
    checked = [one for one in others if isinstance(one, str)]
    return unseen[:1] or [_found(cluster, pools, told, log, checked)]


def _found(
    cluster: ManagedCluster,
    pools: AgentPools,
    told: Complaint,
    log: ActivityLog | Unavailable,
    checked: list[str],
) -> Finding:
    failed = pools.failed
    event = log.last_failure(cluster.id) if isinstance(log, ActivityLog) else None
    return Finding(
        code="cluster-failed-infra",
        subject=cluster.id,
        affects=(cluster.id, *(pool.id for pool in failed)),
        because=(
            str(told),
            *(f"pool {pool.name} is {pool.state}" for pool in failed),
            *(f"not the cause, {one}" for one in checked),
        ),
        facts={
            "state": cluster.state,
            "error_code": told.error.code,
            "message": told.error.message,
            "when": f"{event.at:%Y-%m-%d %H:%M} UTC" if event else "",
            "correlation": event.correlation if event else "",
            "pools": [pool.name for pool in failed],
            "pool_ids": [pool.id for pool in failed],
            "checked": checked,
            "cluster": cluster.name,
            "group": cluster.group,
            "cluster_id": cluster.id,
            "subscription": cluster.subscription,
        },
    )
