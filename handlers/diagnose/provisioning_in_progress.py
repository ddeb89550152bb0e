"""Is an operation still running, and for longer than such operations take?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import timedelta

from handlers.engine.declare import diagnostic
from handlers.evidence.azure import AgentPool, AgentPools, ManagedCluster
from handlers.evidence.growth import surge_nodes
from handlers.evidence.monitor import ActivityLog
from handlers.model import Clear, Finding, Judgement, Severity, Unavailable, Why

USUAL = timedelta(minutes=30)
"""Create, update, scale, start and stop end well within this; the AKS operation timeouts are hours."""
USUAL_BATCH = timedelta(minutes=15)
"""One batch of an upgrade: a node joins, one is drained (AKS waits up to 30 minutes for a stubborn pod) and goes."""


@diagnostic(codes=("provisioning-in-progress",), area="cluster")
def provisioning_in_progress(cluster: ManagedCluster, pools: AgentPools, log: ActivityLog) -> Iterator[Judgement]:
    """An operation has been running for long; every other write is refused until it ends."""
    busy_pools = [pool for pool in pools.pools if pool.busy]
    if not cluster.busy and not busy_pools:
        yield Clear("no operation is running")
        return
    subjects = [(cluster.id, cluster.name, cluster.state)] if cluster.busy else []
    subjects = subjects or [(pool.id, pool.name, pool.state) for pool in busy_pools]
    for subject, name, state in subjects:
        began = log.began(subject)
        if began is None and subject == cluster.id:  # an operation on a pool keeps the whole cluster busy
            began = next(filter(None, (log.began(pool.id) for pool in busy_pools)), None)
        if began is None:
            detail = f"{name} is {state}, and no start of that is in the activity log since {log.since:%Y-%m-%d}"
            yield Unavailable("when the operation began", Why.ABSENT, detail)
            continue
        lasts, usual = cluster.taken_at - began.at, _usual(state, busy_pools)
        if lasts <= usual:
            yield Clear(f"{name} is {state} since {_spoken(lasts)}, usual is up to {_spoken(usual)}")
            continue
        yield Finding(
            code="provisioning-in-progress",
            subject=subject,
            severity=Severity.WARNING,
            affects=tuple(pool.id for pool in busy_pools),
            because=(
                f"{name} is {state} since {began.at:%Y-%m-%d %H:%M} UTC",
                f"that is {_spoken(lasts)}; usual is up to {_spoken(usual)}",
                *(f"pool {pool.name} is {pool.state}" for pool in busy_pools if pool.id != subject),
                f"it began with {began.operation} (correlation {began.correlation})",
            ),
            facts={
                "kind": "cluster" if subject == cluster.id else "pool",
                "name": name,
                "state": state,
                "since": f"{began.at:%Y-%m-%d %H:%M} UTC",
                "lasts": _spoken(lasts),
                "usual": _spoken(usual),
                "operation": began.operation,
                "correlation": began.correlation,
                "pools": [pool.name for pool in busy_pools],
                "cluster": cluster.name,
                "group": cluster.group,
                "subscription": cluster.subscription,
                "cluster_id": cluster.id,
            },
        )


def _usual(state: str, pools: list[AgentPool]) -> timedelta:
    if not state.lower().startswith("upgrading"):
        return USUAL
    return USUAL + USUAL_BATCH * sum(math.ceil(pool.count / max(1, surge_nodes(pool))) for pool in pools)


def _spoken(length: timedelta) -> str:
    minutes = int(length.total_seconds() // 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min"
