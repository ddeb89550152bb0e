"""Reconcile a failed node pool."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from handlers.counted import counted
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.cluster import Nodes
from handlers.evidence.governance import Locks
from handlers.evidence.permissions import DenyAssignments, WriterMay
from handlers.model import Finding, Unavailable
from handlers.remedy.declare import remedy
from handlers.remedy.plan import Forbidden, Plan, Risk, Verify
from handlers.remedy.putting import ASKED_OF_A_POOL, POOL_WRITE, pool_acts, pool_before, put_pool, risks, untagged
from handlers.remedy.reasons import doubts, not_now, stands_in_the_way, stopped_by
from handlers.remedy.rolling import as_they_are, could_roll
from handlers.remedy.titles import titled

ETA, LIMIT = timedelta(minutes=5), timedelta(hours=1)
"""A pool that only has to be compared with its scale set takes minutes; one that gets nodes, up to half an hour."""


@remedy(codes=("nodepool-failed",), writes=(POOL_WRITE, *ASKED_OF_A_POOL))
def reconcile_pool(
    finding: Finding,
    cluster: ManagedCluster,
    pools: AgentPools,
    nodes: Nodes,
    locks: Locks | Unavailable,
    denials: DenyAssignments | Unavailable,
    may: WriterMay | Unavailable,
) -> Iterator[Plan | Forbidden]:
    """Reconcile the failed node pool: PUT it unchanged, so that Azure restores its configured state."""
    pool = next((pool for pool in pools.pools if pool.id.lower() == finding.subject.lower()), None)
    if pool is None or not pool.failed:
        yield Forbidden(f"the pool is {pool.state if pool else 'not there'}", "check again")
        return
    acts = pool_acts(pool)
    yield from stopped_by(finding)
    yield from not_now(cluster, pools)
    yield from untagged({f"pool {pool.name}": pool.etag})
    yield from could_roll([pool], nodes)
    yield from stands_in_the_way(acts, cluster, locks, denials, may)
    yield Plan(
        remedy="reconcile-pool",
        title=titled("Reconcile node pool {}", pool.name),
        cluster=cluster.id,
        target=pool.id,
        steps=(put_pool(pool, cluster),),
        before={**pool_before(pool), **as_they_are([pool], nodes)},
        undo="nothing is changed, so there is nothing to undo; `az aks nodepool operation-abort` ends it half way",
        verify=Verify("nodepool-failed", pool.id),
        risk=Risk.LOW,
        could_go_wrong=risks([pool]),
        eta=ETA,
        limit=LIMIT,
        warnings=doubts(acts, locks, denials, may),
        effect=f"Azure reconciles node pool {pool.name} of {cluster.name} ({counted(pool.count, 'node')}): no "
        "configuration change, no node is replaced, missing nodes are added",
    )
