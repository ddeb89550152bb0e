"""Is an operation still running, and for longer than such operations take?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from handlers.engine.declare import diagnostic
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.monitor import ActivityLog, Event
from handlers.evidence.upgrade_length import PoolLength, lengths, rolls, spoken
from handlers.model import Clear, Finding, Judgement, Severity, Unavailable, Why
from handlers.resource_id import same

NOTHING_RUNS = "no operation is running"
USUAL = timedelta(minutes=30)
"""Create, update, scale, start and stop end well within this, as does the control plane's part of an upgrade."""


@diagnostic(codes=("provisioning-in-progress",), area="cluster")
def provisioning_in_progress(cluster: ManagedCluster, pools: AgentPools, log: ActivityLog) -> Iterator[Judgement]:
    """An operation has been running for long; every other write is refused until it ends."""
    busy_pools = [pool for pool in pools.pools if pool.busy]
    if not cluster.busy and not busy_pools:
        yield Clear(NOTHING_RUNS)
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
        turns = _turns(state, began, pools)
        lasts, usual = cluster.taken_at - began.at, sum((turn.length for turn in turns), USUAL)
        if lasts <= usual:
            yield Clear(f"{name} has been {state} for {spoken(lasts)}; up to {spoken(usual)} is usual")
            continue
        yield Finding(
            code="provisioning-in-progress",
            subject=subject,
            severity=Severity.WARNING,
            affects=tuple(pool.id for pool in busy_pools),
            because=(
                f"{name} is {state} since {began.at:%Y-%m-%d %H:%M} UTC",
                f"that is {spoken(lasts)}; up to {spoken(usual)} is usual",
                *(turn.sum for turn in turns),
                *(f"pool {pool.name} is {pool.state}" for pool in busy_pools if pool.id != subject),
                f"it began with {began.operation} (correlation {began.correlation})",
            ),
            facts={
                "kind": "cluster" if subject == cluster.id else "pool",
                "name": name,
                "state": state,
                "since": f"{began.at:%Y-%m-%d %H:%M} UTC",
                "lasts": spoken(lasts),
                "usual": spoken(usual),
                "turns": [turn.sum for turn in turns],
                "operation": began.operation,
                "correlation": began.correlation,
                "pools": [pool.name for pool in busy_pools],
                "cluster": cluster.name,
                "group": cluster.group,
                "subscription": cluster.subscription,
                "cluster_id": cluster.id,
            },
        )


def _turns(state: str, began: Event, pools: AgentPools) -> tuple[PoolLength, ...]:
    """The pools whose nodes are replaced. A cluster's upgrade comes to each of them, whichever has its turn now."""
    if not rolls(state) and not any(pool.busy and rolls(pool.state) for pool in pools.pools):
        return ()
    return lengths([pool for pool in pools.pools if same(pool.id, began.resource)] or pools.pools)
