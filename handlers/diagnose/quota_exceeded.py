"""Is there a core left for the next node?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from handlers.engine.declare import diagnostic
from handlers.evidence.azure import AgentPool, AgentPools, ManagedCluster
from handlers.evidence.complaints import Complaint, Complaints
from handlers.evidence.compute import ComputeUsages, Usage, VmSize, VmSizes
from handlers.evidence.errors import ErrorDetail
from handlers.evidence.growth import Growth, Wanted
from handlers.model import Clear, Finding, Judgement, Unavailable, Why

REGIONAL, SPOT = "cores", "lowPriorityCores"
_STATED_NEED = re.compile(r"(?:Additional Required:|requested quota|quota requested)\s*(?P<cores>\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Demand:
    """Cores that a pool wants and was refused, or could not get."""

    pool: AgentPool
    size: VmSize
    nodes: int
    surges: bool
    stated: int
    told: tuple[Complaint, ...]

    @property
    def cores(self) -> int:
        return max(self.nodes * self.size.cores, self.stated)

    def __str__(self) -> str:
        counted = self.nodes * self.size.cores
        each = f"{self.nodes} × {self.size.name}, {self.size.cores} cores each"
        told = f"Azure was asked for that many; {counted} for {each}" if self.stated > counted else each
        return f"pool {self.pool.name} wants {self.cores} cores ({told})"


@diagnostic(codes=("quota-exceeded",), area="compute")
def quota_exceeded(
    cluster: ManagedCluster,
    pools: AgentPools,
    usages: ComputeUsages,
    sizes: VmSizes,
    growth: Growth,
    complaints: Complaints,
) -> Iterator[Judgement]:
    """A core quota (family, regional or spot) has no room for the nodes that a pool wants."""
    wanting = [one for one in growth.pools if _wants_cores(cluster, one, complaints)]
    if not wanting:
        blind = next(iter(growth.gaps), None) or complaints.blind_spot()
        until = f"the day until {complaints.until}"
        yield blind or Clear(f"no node pool lacks nodes, and none was refused cores in {until}")
    demands = []
    for wanted in wanting:
        size = sizes.of(wanted.pool.vm_size)
        if size is None:
            name = wanted.pool.vm_size or f"the mixed sizes of pool {wanted.pool.name}"
            yield Unavailable(f"the cores of {name}", Why.ABSENT, f"not among the sizes of {cluster.location}")
        else:
            demands.append(_demand(cluster, wanted, size, complaints))
    yield from _compare(cluster, pools, usages, sizes, demands, complaints)


def _wants_cores(cluster: ManagedCluster, wanted: Wanted, complaints: Complaints) -> bool:
    pool, told = wanted.pool, _refusals(cluster, wanted.pool, complaints)
    if pool.failed or (wanted.missing and not pool.busy):
        return bool(told) or complaints.claimable(pool.id, speaks_of_quota)
    return any(one in told for one in complaints.recent(speaks_of_quota))


def _refusals(cluster: ManagedCluster, pool: AgentPool, complaints: Complaints) -> tuple[Complaint, ...]:
    """What Azure said about quota: of the pool, or of the cluster where that names the pool."""
    of_cluster = complaints.speaking_of(speaks_of_quota, cluster.id)
    named = tuple(one for one in of_cluster if re.search(rf"\b{re.escape(pool.name)}\b", one.error.message))
    return complaints.speaking_of(speaks_of_quota, pool.id) or named


def _demand(cluster: ManagedCluster, wanted: Wanted, size: VmSize, complaints: Complaints) -> Demand:
    told = _refusals(cluster, wanted.pool, complaints)
    stated = [int(found["cores"]) for one in told if (found := _STATED_NEED.search(one.error.message))]
    nodes = wanted.missing or wanted.surge
    return Demand(wanted.pool, size, nodes, not wanted.missing, max(stated, default=0), told)


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
        names = (SPOT,) if demand.pool.spot else (demand.size.family, REGIONAL)
        for name in names:
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
    told = [one for demand in wanted for one in demand.told]
    harmed = [*(demand.pool.id for demand in wanted), cluster.id]
    return Finding(
        code="quota-exceeded",
        subject=usages.id_of(usage),
        affects=tuple(one for one in harmed if complaints.claimable(one, speaks_of_quota)),
        because=(
            f"{usage.title or usage.name} in {usages.location}: {usage.used} of {usage.limit} used, {usage.free} free",
            *(str(demand) for demand in wanted),
            f"{usage.used} + {cores} = {usage.used + cores} > {usage.limit}: {cores - usage.free} cores short",
            *(str(one) for one in told[:1]),
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
            "pools": [demand.pool.name for demand in wanted],
            "pool_ids": [demand.pool.id for demand in wanted],
            "surging": [demand.pool.name for demand in wanted if demand.surges and demand.pool.may_lose_nodes],
            "spot": usage.name == SPOT,
            "holders": list(_holders(pools, sizes, usage, {demand.pool.id for demand in wanted})),
            "cluster": cluster.name,
            "group": cluster.group,
        },
    )


def _holders(pools: AgentPools, sizes: VmSizes, usage: Usage, but: set[str]) -> Iterator[dict[str, object]]:
    """Other user pools of this cluster that hold cores of the same quota: what could be given back."""
    for pool in pools.pools:
        size = sizes.of(pool.vm_size)
        if size is None or pool.id in but or pool.mode.lower() == "system" or not pool.count or pool.stopped:
            continue
        rows = (SPOT,) if pool.spot else (size.family.lower(), REGIONAL)
        if usage.name.lower() in (row.lower() for row in rows):
            yield {"pool": pool.name, "nodes": pool.count, "cores": pool.count * size.cores}


def speaks_of_quota(error: ErrorDetail) -> bool:
    """QuotaExceeded, ErrCode_InsufficientVCPUQuota, or OperationNotAllowed that speaks of a core quota."""
    code, message = error.code.lower(), error.message.lower()
    if code in ("quotaexceeded", "errcode_insufficientvcpuquota", "insufficientvcpuquota"):
        return True
    return "quota" in message and any(word in message for word in ("core", "vcpu", "exceed"))
