"""Is there a core left for the next node?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from handlers.diagnose.quota_demand import (
    CODE,
    REGIONAL,
    SPOT,
    Demand,
    of_backed_off,
    of_claim,
    of_pool,
    of_refused_machines,
    pool_of,
    quotas_of,
)
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.autoscaling import AutoscalerStatus, NodeClaims
from handlers.evidence.azure import AgentPool, AgentPools, ManagedCluster
from handlers.evidence.complaints import Complaint, Complaints
from handlers.evidence.compute import ComputeUsages, ScaleSets, VmSizes
from handlers.evidence.growth import Growth, Wanted
from handlers.evidence.quotas import Usage
from handlers.headroom import HEADROOM, headroom
from handlers.model import Clear, Finding, Judgement, NotApplicable, Severity, Unavailable, Why


@diagnostic(
    codes=(CODE,),
    area="compute",
    clear_without=ClearWithout(
        (AutoscalerStatus,),
        "where every autoscaled pool may grow to its limit, no quota can have stopped the autoscaler",
    ),
)
def quota_exceeded(
    cluster: ManagedCluster,
    pools: AgentPools,
    usages: ComputeUsages,
    sizes: VmSizes,
    growth: Growth,
    complaints: Complaints,
    sets: ScaleSets | Unavailable,
    scaler: AutoscalerStatus | NotApplicable | Unavailable,
    claims: NodeClaims | NotApplicable | Unavailable,
) -> Iterator[Judgement]:
    """A core quota (family, regional or spot) has no room for the nodes that somebody wants."""
    wanting = [pool for pool in growth.pools if _wants_cores(cluster, pool, complaints)]
    found: list[Demand | Unavailable] = []
    for pool_growth in wanting:
        found += of_pool(cluster, pool_growth, sizes, _refusals(cluster, pool_growth, complaints))
    found += _of_autoscaler(pools, sizes, sets, scaler, {pool_growth.pool.id for pool_growth in wanting})
    found += _of_provisioning(cluster, sizes, complaints, claims)
    demands = [item for item in found if isinstance(item, Demand)]
    yield from (item for item in found if isinstance(item, Unavailable))
    yield from _unseen(pools, usages, sizes, scaler, claims)
    unseen = next(iter((*growth.gaps, *complaints.gaps)), None)  # more may be missing, or was asked for
    if not demands:
        yield unseen or complaints.blind_spot() or Clear(_nobody_waits(pools, complaints))
    elif unseen:
        yield unseen
    yield from _compare(cluster, pools, usages, sizes, demands, complaints)


def _nobody_waits(pools: AgentPools, complaints: Complaints) -> str:
    reserved = [f"pool {pool.name} is in {pool.reserved}" for pool in pools.pools if pool.reserved]
    until = f"the 24 hours up to {complaints.until}"
    return "; ".join([f"no node pool lacks nodes, and none was refused cores in {until}", *reserved])


def _wants_cores(cluster: ManagedCluster, wanted: Wanted, complaints: Complaints) -> bool:
    pool, told = wanted.pool, _refusals(cluster, wanted, complaints)
    if pool.reserved and not told:  # its cores are counted already; what goes beyond the reservation Azure refuses
        return False
    if pool.failed or (wanted.missing and not pool.busy):
        failure = complaints.failure(pool.id)
        return bool(told) or failure is None or not failure.named
    return any(complaint in told for complaint in complaints.recent(CODE))


def _refusals(cluster: ManagedCluster, wanted: Wanted, complaints: Complaints) -> tuple[Complaint, ...]:
    """What Azure said about quota: of the pool, or of the cluster where that names the pool."""
    of_cluster = complaints.naming(CODE, cluster.id)
    named = tuple(
        complaint
        for complaint in of_cluster
        if re.search(rf"\b{re.escape(wanted.pool.name)}\b", complaint.error.message)
    )
    return complaints.naming(CODE, wanted.pool.id) or named


def _of_autoscaler(
    pools: AgentPools,
    sizes: VmSizes,
    sets: ScaleSets | Unavailable,
    scaler: AutoscalerStatus | NotApplicable | Unavailable,
    known: set[str],
) -> Iterator[Demand | Unavailable]:
    """Node groups that are backed off, beside the pools that want cores anyway."""
    for backoff in scaler.backed_off if isinstance(scaler, AutoscalerStatus) else ():
        pool = pool_of(backoff.group, pools.pools, sets)
        if pool and pool.autoscaled and not pool.reserved and pool.id not in known:
            demand = of_backed_off(backoff, pool, sizes)
            yield from [demand] if demand else []


def _of_provisioning(
    cluster: ManagedCluster,
    sizes: VmSizes,
    complaints: Complaints,
    claims: NodeClaims | NotApplicable | Unavailable,
) -> Iterator[Demand]:
    waiting = claims.waiting if isinstance(claims, NodeClaims) else ()
    found = [demand for claim in waiting if (demand := of_claim(cluster, claim, sizes))]
    yield from found or of_refused_machines(cluster, complaints, sizes)


def _unseen(
    pools: AgentPools,
    usages: ComputeUsages,
    sizes: VmSizes,
    scaler: AutoscalerStatus | NotApplicable | Unavailable,
    claims: NodeClaims | NotApplicable | Unavailable,
) -> Iterator[Unavailable]:
    """What the autoscalers would have said. Where every autoscaled pool may grow to its limit, nothing hangs on it."""
    if not _all_may_grow(pools, usages, sizes):
        if isinstance(scaler, Unavailable):
            yield scaler
        elif isinstance(scaler, AutoscalerStatus):
            yield from scaler.gaps
    if isinstance(claims, Unavailable):
        yield claims


def _all_may_grow(pools: AgentPools, usages: ComputeUsages, sizes: VmSizes) -> bool:
    wanted: dict[str, int] = {}
    for pool in pools.pools:
        for nodes in pool.sizes if pool.autoscaled and not pool.reserved else ():
            size, more = sizes.of(nodes.size), max(0, nodes.most - nodes.wanted)
            if size is None or not nodes.most:
                return False
            for name in quotas_of(size, spot=pool.spot):
                wanted[name] = wanted.get(name, 0) + more * size.cores
    rows = {name: usages.row(name) for name in wanted}
    return all(row is not None and wanted[name] <= row.free for name, row in rows.items())


def _compare(
    cluster: ManagedCluster,
    pools: AgentPools,
    usages: ComputeUsages,
    sizes: VmSizes,
    demands: list[Demand],
    complaints: Complaints,
) -> Iterator[Judgement]:
    by_row: dict[str, list[Demand]] = {}
    for demand in demands:
        for name in demand.quotas:
            by_row.setdefault(name, []).append(demand)
    for name, wanted in by_row.items():
        usage, cores = usages.row(name), sum(demand.cores for demand in wanted)
        if usage is None:
            yield Unavailable(f"the quota {name}", Why.ABSENT, f"{usages.source} has no such row")
        elif cores > usage.free:
            yield _exceeded(cluster, pools, usages, sizes, usage, wanted, cores, complaints)
        elif wanted:
            yield Clear(f"{usage.title or name}: {usage.used} of {usage.limit} used, {cores} wanted: there is room")


def _exceeded(
    cluster: ManagedCluster,
    pools: AgentPools,
    usages: ComputeUsages,
    sizes: VmSizes,
    usage: Usage,
    wanted: list[Demand],
    cores: int,
    complaints: Complaints,
) -> Finding:
    told = [complaint for demand in wanted for complaint in demand.told]
    of_pools = list({demand.pool.id: demand.pool for demand in wanted if demand.pool}.values())
    # Nothing tells since when a quota is full: unless Azure names it, a failure may have filled it with its own nodes.
    claimed = complaints.claimed([*(demand.about for demand in wanted), cluster.id], (CODE,))
    waiting = dict.fromkeys(demand.about for demand in wanted if demand.waits and not complaints.failure(demand.about))
    return Finding(
        code=CODE,
        subject=usages.id_of(usage),
        severity=Severity.ERROR if claimed or waiting else Severity.WARNING,
        affects=(*claimed, *waiting),
        because=(
            f"{usage.title or usage.name} in {usages.location}: {usage.used} of {usage.limit} used, {usage.room}",
            *(str(demand) for demand in wanted),
            f"{usage.used} + {cores} = {usage.used + cores} > {usage.limit}: {cores - usage.free} cores short",
            *dict.fromkeys(said for demand in wanted for said in demand.says),
            *(str(complaint) for complaint in told[:1]),
        ),
        facts={
            "quota": usage.name,
            "title": usage.title or usage.name,
            "location": usages.location,
            "subscription": cluster.subscription,
            "used": usage.used,
            "limit": usage.limit,
            "needed": cores,
            "short": cores - usage.free,
            "new_limit": usage.used + cores,
            "pools": [pool.name for pool in of_pools],
            "pool_ids": [pool.id for pool in of_pools],
            "wanted_by": [demand.who for demand in wanted if demand.pool is None],
            "retried": any(demand.says for demand in wanted),
            "refused": not any(demand.waits for demand in wanted),
            "surging": [demand.pool.name for demand in wanted if _surges(demand) and demand.pool],
            "spot": usage.name == SPOT,
            "holders": list(_holders(pools, sizes, usage, {pool.id for pool in of_pools})),
            "cluster": cluster.name,
            "group": cluster.group,
            HEADROOM: headroom(
                f"{usage.title or usage.name} in {usages.location}",
                "cores",
                usage.limit,
                [("in use", usage.used)],
                [(demand.who, demand.cores) for demand in wanted],
            ),
        },
    )


def _surges(demand: Demand) -> bool:
    return demand.surges and demand.pool is not None and demand.pool.may_lose_nodes


def _holders(pools: AgentPools, sizes: VmSizes, usage: Usage, but: set[str]) -> Iterator[dict[str, object]]:
    """Other user pools of this cluster that hold cores of the same quota: what could be given back."""
    for pool in pools.pools:
        if pool.id in but or pool.mode.lower() == "system" or not pool.count or pool.stopped or pool.reserved:
            continue
        cores = _cores_of(pool, sizes, usage)
        if cores:
            yield {"pool": pool.name, "nodes": pool.count, "cores": cores}


def _cores_of(pool: AgentPool, sizes: VmSizes, usage: Usage) -> int:
    cores = 0
    for nodes in pool.sizes:
        size = sizes.of(nodes.size)
        rows = (SPOT,) if pool.spot else (size.family, REGIONAL) if size else ()
        cores += nodes.wanted * size.cores if size and usage.name.lower() in (row.lower() for row in rows) else 0
    return cores
