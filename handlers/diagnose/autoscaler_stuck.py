"""Do pods wait for a node that the autoscaler would have to add, and does it add none?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta

from handlers.diagnose.quota_demand import pool_of
from handlers.diagnose.scheduling.alike import alike
from handlers.diagnose.scheduling.growing import pools_that_would_take
from handlers.diagnose.scheduling.verdict import judge
from handlers.diagnose.scheduling.words import about_volumes
from handlers.diagnose.workload_findings import pods_of
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.autoscaling import AutoscalerStatus, BackedOff, NodeClaim, NodeClaims
from handlers.evidence.azure import AgentPool, AgentPools, ManagedCluster
from handlers.evidence.compute import ScaleSets
from handlers.evidence.monitor import ActivityLog, NodeActivityLog
from handlers.evidence.node_groups import NodeGroup
from handlers.evidence.scheduling.collect import Scheduling, Surroundings, waited_since, with_surroundings
from handlers.evidence.scheduling.demands import Demand
from handlers.evidence.scheduling.scale_up import Said, ScaleUps
from handlers.model import Clear, Finding, Judgement, NotApplicable, Unavailable, Why

CODE = "autoscaler-stuck"
PATIENCE = timedelta(minutes=2)
"""The cluster autoscaler looks every 10 s and says for every pod what it makes of it."""
NODE_COMES = timedelta(minutes=15)
"""How long it waits for a node that it asked for (max-node-provision-time)."""
MACHINE_COMES = timedelta(minutes=5)
"""Node auto-provisioning (Karpenter) has a machine in two minutes or so."""
LEAST_PRIORITY = -10
"""The cluster autoscaler adds no node for pods of a lower priority (expendable-pods-priority-cutoff)."""
MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class _Scaler:
    """The cluster autoscaler, and the pods that wait for it."""

    cluster: ManagedCluster
    pools: AgentPools
    sets: ScaleSets | Unavailable
    status: AutoscalerStatus
    ups: ScaleUps | Unavailable | NotApplicable
    waiting: tuple[Demand, ...]
    takers: Mapping[str, frozenset[str]]
    """The pools of which one more node is enough, by the owner of the pods."""

    def would_take(self, pool: AgentPool, demand: Demand) -> bool:
        return pool.name.lower() in self.takers[demand.owner_id]

    def said(self, demand: Demand) -> Said | None:
        return self.ups.said.get(f"{demand.namespace}/{demand.name}") if isinstance(self.ups, ScaleUps) else None

    def group_of(self, pool: AgentPool) -> NodeGroup | None:
        return next((group for group in self.status.groups if pool_of(group.name, (pool,), self.sets)), None)

    def backed_off(self, pool: AgentPool) -> BackedOff | None:
        return next((group for group in self.status.backed_off if pool_of(group.group, (pool,), self.sets)), None)

    def is_full(self, pool: AgentPool) -> bool:
        """Whether it may have no more nodes, and has all that were asked for."""
        group = self.group_of(pool)
        if group:
            return 0 < group.most <= group.target and not group.on_their_way
        return 0 < pool.most_nodes <= pool.count

    def stuck(self) -> tuple[Demand, ...]:
        """The pods for which no node is on its way."""
        return tuple(demand for demand in self.waiting if not self._is_served(demand))

    def _is_served(self, demand: Demand) -> bool:
        said = self.said(demand)
        return said is not None and said.scales and self.status.taken_at - said.at < NODE_COMES


@diagnostic(
    codes=(CODE,),
    area="workloads",
    clear_without=ClearWithout(
        (ActivityLog, NodeActivityLog, ScaleSets, Surroundings, ScaleUps, AutoscalerStatus, NodeClaims),
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
                _Scaler(cluster, pools, sets, status, ups, waiting, _takers(waiting, with_surroundings(waits, around)))
            )
        found += _of_provisioning(cluster, claims, waiting)
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
        if patient and not (demand.nominated or about_volumes(demand.said) or bound or expendable):
            yield demand


def _takers(waiting: tuple[Demand, ...], waits: Scheduling) -> Mapping[str, frozenset[str]]:
    """Every node is asked once per kind of pod: of thousands of nodes and hundreds of pods the product is too much."""
    firsts = {demand.owner_id: demand for demand in reversed(waiting)}
    takers: dict[str, frozenset[str]] = {}
    for group in alike(firsts.values(), waits):
        pools = pools_that_would_take(judge(group[0], waits))
        takers |= {demand.owner_id: pools for demand in group}
    return takers


def _of_scaler(scaler: _Scaler) -> Iterator[Judgement]:
    """One finding of the autoscaler as a whole, else one for each pool that keeps it from adding a node."""
    pools = [pool for pool in scaler.pools.pools if pool.autoscaled]
    stuck = [demand for demand in scaler.stuck() if any(scaler.would_take(pool, demand) for pool in pools)]
    backed = [pool for pool in pools if scaler.backed_off(pool)]
    if scaler.status.stale and stuck:
        yield _silent(scaler, stuck, pools)
    elif scaler.status.unhealthy and stuck:
        yield _unhealthy(scaler, stuck, pools)
    else:
        yield from _unseen(scaler, stuck, pools)
        yield from (_backed_off(scaler, pool) for pool in backed if _for_pool(scaler, pool))
        open_ones = [pool for pool in pools if pool not in backed and not scaler.is_full(pool)]
        left = [
            demand for demand in stuck if not any(scaler.would_take(pool, demand) for pool in (*open_ones, *backed))
        ]
        yield from _at_most(scaler, [pool for pool in pools if pool not in backed], left)
        yield from _unexplained(scaler, stuck, open_ones)


def _unseen(scaler: _Scaler, stuck: list[Demand], pools: list[AgentPool]) -> Iterator[Unavailable]:
    """What its status would have told of the pods that wait."""
    if stuck or any(not pool.count for pool in pools):
        yield from scaler.status.gaps
    if stuck and scaler.status.written is None and not scaler.status.gaps:
        yield Unavailable("the cluster autoscaler's status", Why.ABSENT, "it has not written any")


def _unexplained(scaler: _Scaler, stuck: list[Demand], open_ones: list[AgentPool]) -> Iterator[Unavailable]:
    """Pods for which it could add a node, as far as can be seen from here."""
    for demand in stuck:
        pool = next((pool for pool in open_ones if scaler.would_take(pool, demand)), None)
        if pool:
            said = scaler.said(demand)
            told = f"the autoscaler says: {said.message}" if said else "the autoscaler has said nothing about it"
            who = f"{demand.namespace}/{demand.name}"
            yield Unavailable(f"the node for {who}", Why.ABSENT, f"pool {pool.name} could have one more; {told}")
            return


def _for_pool(scaler: _Scaler, pool: AgentPool) -> list[Demand]:
    """The pods that wait for this pool. Of one without a node the autoscaler alone knows what would fit it."""
    stuck = scaler.stuck()
    if pool.count:
        return [demand for demand in stuck if scaler.would_take(pool, demand)]
    return [demand for demand in stuck if (said := scaler.said(demand)) and "backoff" in said.message]


def _at_most(scaler: _Scaler, pools: list[AgentPool], stuck: list[Demand]) -> Iterator[Finding]:
    for pool in pools:
        mine = [demand for demand in stuck if scaler.would_take(pool, demand)]
        if mine and scaler.is_full(pool):
            told = f"pool {pool.name} is at its maximum: {pool.count} of {_most(scaler, pool)} nodes"
            yield _finding(scaler, "at-most", pool.id, mine, (told,), pool)


def _backed_off(scaler: _Scaler, pool: AgentPool) -> Finding:
    told = scaler.backed_off(pool)
    says = str(told.error) if told and told.error else ""
    return _finding(scaler, "backed-off", pool.id, _for_pool(scaler, pool), (str(told),), pool, {"says": says})


def _silent(scaler: _Scaler, stuck: list[Demand], pools: list[AgentPool]) -> Finding:
    written = f"{scaler.status.written:%Y-%m-%d %H:%M} UTC"
    told = (
        f"its status in kube-system/cluster-autoscaler-status was last written at {written}; it is written every 10 s"
    )
    pool = next(pool for pool in pools if any(scaler.would_take(pool, demand) for demand in stuck))
    return _finding(scaler, "silent", scaler.cluster.id, stuck, (told,), pool, {"written": written})


def _unhealthy(scaler: _Scaler, stuck: list[Demand], pools: list[AgentPool]) -> Finding:
    seen = scaler.status.unhealthy
    unready, registered = (seen.unready, seen.registered) if seen else (0, 0)
    told = f"cluster autoscaler: the cluster is Unhealthy, {unready} of {registered} nodes are not Ready"
    pool = next(pool for pool in pools if any(scaler.would_take(pool, demand) for demand in stuck))
    counts: dict[str, object] = {"unready": unready, "registered": registered}
    return _finding(scaler, "unhealthy", scaler.cluster.id, stuck, (told,), pool, counts)


def _finding(
    scaler: _Scaler,
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


def _most(scaler: _Scaler, pool: AgentPool) -> int:
    group = scaler.group_of(pool)
    return group.most if group else pool.most_nodes


def _of_pool(scaler: _Scaler, pool: AgentPool) -> dict[str, object]:
    group = scaler.group_of(pool)
    return {
        "pool": pool.name,
        "count": pool.count,
        "least": group.least if group else "<min>",
        "most": _most(scaler, pool),
        "raised": max(_most(scaler, pool), pool.count) + 1,
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


def _of_provisioning(
    cluster: ManagedCluster, claims: NodeClaims | Unavailable | NotApplicable, waiting: tuple[Demand, ...]
) -> Iterator[Judgement]:
    """Karpenter: a claim that has waited for its machine since the pods wait."""
    if isinstance(claims, Unavailable):
        yield claims
    if isinstance(claims, NodeClaims):
        late = [claim for claim in claims.waiting if _is_late(claim, claims)]
        if late:
            yield _claimed(cluster, claims, late, list(waiting))


def _is_late(claim: NodeClaim, claims: NodeClaims) -> bool:
    return claim.created is not None and claims.taken_at - claim.created >= MACHINE_COMES


def _claimed(cluster: ManagedCluster, claims: NodeClaims, late: list[NodeClaim], waiting: list[Demand]) -> Finding:
    first = late[0]
    return Finding(
        code=CODE,
        subject=cluster.id,
        affects=_harmed(waiting),
        because=(_who_waits(waiting, claims), *map(str, late[:MOST_NAMED])),
        facts=_facts(cluster, "claim", waiting)
        | {"claim": first.name, "nodepool": first.node_pool or "<nodepool>", "says": first.message},
    )
