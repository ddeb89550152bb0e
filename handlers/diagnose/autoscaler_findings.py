"""The findings on an autoscaler that adds no node: one for each cause, with the facts of its page."""

from __future__ import annotations

from handlers.diagnose.cluster_autoscaler import ClusterAutoscaler
from handlers.diagnose.workload_findings import pods_of
from handlers.evidence.autoscaling import AutoscalerStatus, NodeClaim, NodeClaims
from handlers.evidence.azure import AgentPool, ManagedCluster
from handlers.evidence.scheduling.collect import waited_since
from handlers.evidence.scheduling.demands import Demand
from handlers.model import Finding

CODE = "autoscaler-stuck"
MOST_NAMED = 5


def backed_off(scaler: ClusterAutoscaler, pool: AgentPool) -> Finding:
    told = scaler.backed_off(pool)
    says = str(told.error) if told and told.error else ""
    return _finding(scaler, "backed-off", pool.id, scaler.waiting_for(pool), (str(told),), pool, {"says": says})


def silent(scaler: ClusterAutoscaler, stuck: list[Demand], pools: list[AgentPool]) -> Finding:
    written = f"{scaler.status.written:%Y-%m-%d %H:%M} UTC"
    told = (
        f"its status in kube-system/cluster-autoscaler-status was last written at {written}; it is written every 10 s"
    )
    pool = next(pool for pool in pools if any(scaler.would_take(pool, demand) for demand in stuck))
    return _finding(scaler, "silent", scaler.cluster.id, stuck, (told,), pool, {"written": written})


def unhealthy(scaler: ClusterAutoscaler, stuck: list[Demand], pools: list[AgentPool]) -> Finding:
    seen = scaler.status.unhealthy
    unready, registered = (seen.unready, seen.registered) if seen else (0, 0)
    told = f"cluster autoscaler: the cluster is Unhealthy, {unready} of {registered} nodes are not Ready"
    pool = next(pool for pool in pools if any(scaler.would_take(pool, demand) for demand in stuck))
    counts: dict[str, object] = {"unready": unready, "registered": registered}
    return _finding(scaler, "unhealthy", scaler.cluster.id, stuck, (told,), pool, counts)


def at_most(scaler: ClusterAutoscaler, pool: AgentPool, stuck: list[Demand]) -> Finding:
    told = f"pool {pool.name} is at its maximum: {pool.count} of {scaler.most(pool)} nodes"
    return _finding(scaler, "at-most", pool.id, stuck, (told,), pool)


def unmet_claim(cluster: ManagedCluster, claims: NodeClaims, late: list[NodeClaim], waiting: list[Demand]) -> Finding:
    first = late[0]
    return Finding(
        code=CODE,
        subject=cluster.id,
        affects=_harmed(waiting),
        because=(_who_waits(waiting, claims), *map(str, late[:MOST_NAMED])),
        facts=_facts(cluster, "claim", waiting)
        | {"claim": first.name, "nodepool": first.node_pool or "<nodepool>", "says": first.message},
    )


def _finding(
    scaler: ClusterAutoscaler,
    cause: str,
    subject: str,
    stuck: list[Demand],
    told: tuple[str, ...],
    pool: AgentPool,
    more: dict[str, object] | None = None,
) -> Finding:
    words = [said.message for demand in stuck if (said := scaler.said(demand)) and not said.scales]
    return Finding(
        code=CODE,
        subject=subject,
        affects=_harmed(stuck),
        because=(_who_waits(stuck, scaler.status), *told, *(f"cluster autoscaler: {word}" for word in words[:1])),
        facts=_facts(scaler.cluster, cause, stuck) | _of_pool(scaler, pool) | (more or {}),
    )


def _of_pool(scaler: ClusterAutoscaler, pool: AgentPool) -> dict[str, object]:
    group = scaler.group_of(pool)
    return {
        "pool": pool.name,
        "count": pool.count,
        "least": group.least if group else "<min>",
        "most": scaler.most(pool),
        "raised": max(scaler.most(pool), pool.count) + 1,
    }


def _facts(cluster: ManagedCluster, cause: str, stuck: list[Demand]) -> dict[str, object]:
    return {
        "cause": cause,
        "pods": pods_of(len(stuck)),
        "waiting": [f"{demand.namespace}/{demand.name}" for demand in stuck[:MOST_NAMED]],
        "says": "",
        "cluster": cluster.name,
        "group": cluster.group,
        "subscription": cluster.subscription,
    }


def _harmed(stuck: list[Demand]) -> tuple[str, ...]:
    """The workloads: their pods without a node are what follows."""
    return tuple(dict.fromkeys(demand.owner_id for demand in stuck))


def _who_waits(stuck: list[Demand], seen: AutoscalerStatus | NodeClaims) -> str:
    names = ", ".join(f"{demand.namespace}/{demand.name}" for demand in stuck[:MOST_NAMED])
    since = [moment for demand in stuck if (moment := waited_since(demand))]
    minutes = int((seen.taken_at - min(since)).total_seconds()) // 60 if since else 0
    more = f" and {len(stuck) - MOST_NAMED} more" if len(stuck) > MOST_NAMED else ""
    return f"{pods_of(len(stuck))} {'waits' if len(stuck) == 1 else 'wait'} for a node for {minutes} min: {names}{more}"
