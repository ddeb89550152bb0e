"""Reconcile a failed cluster, its failed pools first."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from handlers.counted import counted
from handlers.evidence.azure import AgentPool, AgentPools, ManagedCluster
from handlers.evidence.cluster import Nodes
from handlers.evidence.governance import Locks, RoleAssignments
from handlers.evidence.permissions import DenyAssignments, WriterMay
from handlers.model import Finding, Unavailable
from handlers.remedy.declare import remedy
from handlers.remedy.plan import Forbidden, Plan, Risk, Verify
from handlers.remedy.putting import (
    ASKED_OF_A_CLUSTER,
    CLUSTER_WRITE,
    POOL_WRITE,
    cluster_acts,
    cluster_before,
    pool_acts,
    pool_before,
    put_cluster,
    put_pool,
    risks,
    untagged,
    zone_doubts,
    zone_is_written,
)
from handlers.remedy.reasons import doubts, not_now, some, stands_in_the_way, stopped_by
from handlers.remedy.rolling import as_they_are, could_roll
from handlers.remedy.titles import titled
from handlers.version import meets

ETA, ETA_OF_POOL, LIMIT = timedelta(minutes=10), timedelta(minutes=5), timedelta(hours=2)
"""The control plane and its add-ons take five to ten minutes; Azure itself gives up after hours."""


@remedy(codes=("cluster-failed", "cluster-failed-infra"), writes=(CLUSTER_WRITE, POOL_WRITE, *ASKED_OF_A_CLUSTER))
def reconcile_cluster(
    finding: Finding,
    cluster: ManagedCluster,
    pools: AgentPools,
    nodes: Nodes,
    locks: Locks | Unavailable,
    denials: DenyAssignments | Unavailable,
    may: WriterMay | Unavailable,
    roles: RoleAssignments | Unavailable,
) -> Iterator[Plan | Forbidden]:
    """Reconcile every failed node pool, then the cluster, without configuration changes."""
    if not cluster.failed:
        yield Forbidden(f"cluster {cluster.name} is {cluster.state}", "check again")
        return
    failed = pools.failed
    acts = (*cluster_acts(cluster, pools), *(act for pool in failed for act in pool_acts(pool) if not act.linked))
    tags = {f"cluster {cluster.name}": cluster.etag} | {f"pool {pool.name}": pool.etag for pool in pools.pools}
    yield from stopped_by(finding)
    yield from not_now(cluster, pools)
    yield from half_upgraded(cluster)
    yield from untagged(tags)
    if not pools.complete:
        yield Forbidden("not all node pools could be seen", "check again")
    yield from could_roll(pools.pools, nodes)
    yield from stands_in_the_way(acts, cluster, locks, denials, may)
    yield from zone_is_written(cluster, roles)
    eta = ETA + ETA_OF_POOL * len(failed)
    of_pools = {name: value for pool in pools.pools for name, value in pool_before(pool).items()}
    yield Plan(
        remedy="reconcile-cluster",
        title=titled(f"Reconcile {_how_many(failed)}cluster {{}}", cluster.name),
        cluster=cluster.id,
        target=cluster.id,
        steps=(*(put_pool(pool, cluster) for pool in failed), put_cluster(cluster, pools, failed)),
        before={**cluster_before(cluster), **of_pools, **as_they_are(pools.pools, nodes)},
        undo="nothing is changed, so there is nothing to undo; `az aks operation-abort` ends it half way",
        verify=Verify(finding.code, cluster.id),
        risk=Risk.MEDIUM,
        could_go_wrong=(*risks(pools.pools), "the API server may be away for moments while its parts are renewed"),
        eta=eta,
        limit=max(LIMIT, 2 * eta),
        warnings=(*doubts(acts, locks, denials, may), *zone_doubts(cluster, roles)),
        effect=f"Azure reconciles {_pools_first(failed)}cluster {cluster.name} "
        f"({counted(len(pools.pools), 'node pool')}, {counted(sum(pool.count for pool in pools.pools), 'node')}): no "
        "configuration change, no node is replaced; the API server may be away for moments",
    )


def _how_many(pools: tuple[AgentPool, ...]) -> str:
    return f"{len(pools)} node pool{'s' if len(pools) > 1 else ''} and " if pools else ""


def _pools_first(pools: tuple[AgentPool, ...]) -> str:
    named = some(pool.name for pool in pools)
    return f"node pool{'s' if len(pools) > 1 else ''} {named}, then " if pools else ""


def half_upgraded(cluster: ManagedCluster) -> Iterator[Forbidden]:
    """A control plane that has not reached its configured version: a PUT of the cluster would continue the upgrade."""
    asked, runs = cluster.version, cluster.current_version
    if asked and runs and not meets(runs, asked):
        what = f"cluster {cluster.name} is set to {asked} and runs {runs}: a PUT goes on upgrading it"
        yield Forbidden(what, f"finish the upgrade: az aks upgrade --kubernetes-version {asked}; then check again")
