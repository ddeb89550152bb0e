"""Do pods wait for a node that the autoscaler would have to add, and does it add none?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from handlers.diagnose.autoscaler_findings import CODE, at_most, backed_off, silent, unhealthy, unmet_claim
from handlers.diagnose.cluster_autoscaler import ClusterAutoscaler, takers_of
from handlers.diagnose.scheduling.words import only_about_volumes
from handlers.diagnose.workload_findings import pods_of
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.autoscaling import AutoscalerStatus, NodeClaim, NodeClaims
from handlers.evidence.azure import AgentPool, AgentPools, ManagedCluster
from handlers.evidence.cluster import ApiServer
from handlers.evidence.compute import ScaleSets
from handlers.evidence.monitor import ActivityLog, NodeActivityLog
from handlers.evidence.scheduling.collect import Scheduling, Surroundings, waited_since, with_surroundings
from handlers.evidence.scheduling.demands import Demand
from handlers.evidence.scheduling.scale_up import ScaleUps
from handlers.evidence.workloads.warnings import WarningEvents
from handlers.model import Clear, Finding, Judgement, NotApplicable, Unavailable, Why

PATIENCE = timedelta(minutes=2)
"""The cluster autoscaler looks every 10 s and says for every pod what it makes of it."""
MACHINE_COMES = timedelta(minutes=5)
"""Node auto-provisioning (Karpenter) has a machine in two minutes or so."""
SCHEDULES_NOT, KARPENTERS = "FailedScheduling", "Failed to schedule pod, "
"""Karpenter's event of a pod has the reason of the scheduler's, and a text of its own."""
LEAST_PRIORITY = -10
"""The cluster autoscaler adds no node for pods of a lower priority (expendable-pods-priority-cutoff)."""


@diagnostic(
    codes=(CODE,),
    area="workloads",
    clear_without=ClearWithout(
        (
            ActivityLog,
            NodeActivityLog,
            ScaleSets,
            Surroundings,
            ScaleUps,
            AutoscalerStatus,
            NodeClaims,
            ApiServer,
            WarningEvents,
        ),
        "without a pod that waits for a node nothing is asked of an autoscaler",
    ),
)
def autoscaler_stuck(
    cluster: ManagedCluster,
    pools: AgentPools,
    waits: Scheduling,
    around: Surroundings | Unavailable | NotApplicable,
    sets: ScaleSets | Unavailable,
    ups: ScaleUps | Unavailable | NotApplicable,
    status: AutoscalerStatus | Unavailable | NotApplicable,
    claims: NodeClaims | Unavailable | NotApplicable,
    warnings: WarningEvents | Unavailable | NotApplicable,
) -> Iterator[Judgement]:
    """Pods wait for a node, and the autoscaler adds none."""
    if isinstance(status, NotApplicable) and isinstance(claims, NotApplicable):
        yield Clear(f"no node of {cluster.name} is added by an autoscaler")
        return
    waiting = tuple(_waiting(waits, cluster))
    found: list[Judgement] = []
    if waiting:
        found += [status] if isinstance(status, Unavailable) else []
        if isinstance(status, AutoscalerStatus):
            found += _of_scaler(
                ClusterAutoscaler(
                    cluster, pools, sets, status, ups, waiting, takers_of(waiting, with_surroundings(waits, around))
                )
            )
        found += _of_provisioning(cluster, claims, waiting, warnings)
    yield from found
    if waits.complete and not found:
        yield Clear(
            f"{pods_of(len(waits.waiting))} waiting, none for long for a node that an autoscaler could add"
            if waits.waiting
            else "no pod waits"
        )


def _waiting(waits: Scheduling, cluster: ManagedCluster) -> Iterator[Demand]:
    patience = MACHINE_COMES if cluster.makes_own_nodes else PATIENCE
    for demand in waits.waiting:
        since = waited_since(demand)
        patient = since is None or waits.taken_at - since >= patience
        expendable = demand.priority < LEAST_PRIORITY and not cluster.makes_own_nodes
        bound = demand.owner_kind == "DaemonSet" or demand.names_its_node
        if patient and not (demand.nominated or only_about_volumes(demand.said) or bound or expendable):
            yield demand


def _of_scaler(scaler: ClusterAutoscaler) -> Iterator[Judgement]:
    """One finding of the autoscaler as a whole, else one for each pool that keeps it from adding a node."""
    pools = [pool for pool in scaler.pools.pools if pool.autoscaled]
    stuck = [demand for demand in scaler.stuck() if any(scaler.would_take(pool, demand) for pool in pools)]
    backed = [pool for pool in pools if scaler.backed_off(pool)]
    if scaler.status.stale and stuck:
        yield silent(scaler, stuck, pools)
    elif scaler.status.unhealthy and stuck:
        yield unhealthy(scaler, stuck, pools)
    else:
        yield from _unseen(scaler, stuck, pools)
        yield from (backed_off(scaler, pool) for pool in backed if scaler.waiting_for(pool))
        open_ones = [pool for pool in pools if pool not in backed and not scaler.is_full(pool)]
        left = [
            demand for demand in stuck if not any(scaler.would_take(pool, demand) for pool in (*open_ones, *backed))
        ]
        yield from _at_most(scaler, [pool for pool in pools if pool not in backed], left)
        yield from _unexplained(scaler, stuck, open_ones)


def _unseen(scaler: ClusterAutoscaler, stuck: list[Demand], pools: list[AgentPool]) -> Iterator[Unavailable]:
    """What its status would have told of the pods that wait."""
    if stuck or any(not pool.count for pool in pools):
        yield from scaler.status.gaps
    if stuck and scaler.status.written is None and not scaler.status.gaps:
        yield Unavailable("the cluster autoscaler's status", Why.ABSENT, "it has not written any")


def _unexplained(scaler: ClusterAutoscaler, stuck: list[Demand], open_ones: list[AgentPool]) -> Iterator[Unavailable]:
    """Pods for which it could add a node, as far as can be seen from here."""
    for demand in stuck:
        pool = next((pool for pool in open_ones if scaler.would_take(pool, demand)), None)
        if pool:
            said = scaler.said(demand)
            told = f"the autoscaler says: {said.message}" if said else "the autoscaler has said nothing about it"
            who = f"{demand.namespace}/{demand.name}"
            yield Unavailable(f"the node for {who}", Why.ABSENT, f"pool {pool.name} could have one more; {told}")
            return


def _at_most(scaler: ClusterAutoscaler, pools: list[AgentPool], stuck: list[Demand]) -> Iterator[Finding]:
    for pool in pools:
        mine = [demand for demand in stuck if scaler.would_take(pool, demand)]
        if mine and scaler.is_full(pool):
            yield at_most(scaler, pool, mine)


def _of_provisioning(
    cluster: ManagedCluster,
    claims: NodeClaims | Unavailable | NotApplicable,
    waiting: tuple[Demand, ...],
    warnings: WarningEvents | Unavailable | NotApplicable,
) -> Iterator[Judgement]:
    """Karpenter: a claim that has waited for its machine since the pods wait, or none at all."""
    if isinstance(claims, Unavailable):
        yield claims
    if isinstance(claims, NodeClaims):
        late = [claim for claim in claims.waiting if _is_late(claim, claims)]
        if late:
            yield unmet_claim(cluster, claims, late, list(waiting))
        elif not claims.waiting:
            yield _unclaimed(waiting, warnings)


def _unclaimed(waiting: tuple[Demand, ...], warnings: WarningEvents | Unavailable | NotApplicable) -> Unavailable:
    """Its pools' limits and requirements are not read: only it can say why it wants no node for these pods."""
    pods = {f"{demand.namespace}/Pod/{demand.name}": f"{demand.namespace}/{demand.name}" for demand in waiting}
    events = warnings.saying(SCHEDULES_NOT) if isinstance(warnings, WarningEvents) else ()
    told = [event for event in events if event.subject in pods and event.message.startswith(KARPENTERS)]
    last = max(told, key=lambda event: event.last, default=None)
    who = pods[last.subject] if last else next(iter(pods.values()))
    said = f"it says: {last.message}" if last else "the limits and requirements of its NodePools are not read"
    none = "no claim of node auto-provisioning waits for a machine"
    return Unavailable(f"the node for {who}", Why.ABSENT, f"{none}; {said}")


def _is_late(claim: NodeClaim, claims: NodeClaims) -> bool:
    return claim.created is not None and claims.taken_at - claim.created >= MACHINE_COMES
