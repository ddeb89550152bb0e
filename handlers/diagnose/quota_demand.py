"""Who wants cores that they did not get: node pools, the cluster autoscaler, claims of node auto-provisioning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from handlers.evidence.autoscaling import BackedOff, NodeClaim
from handlers.evidence.azure import AgentPool, ManagedCluster
from handlers.evidence.complaints import Complaint, Complaints
from handlers.evidence.compute import ScaleSets, VmSize, VmSizes
from handlers.evidence.growth import Wanted, WantedOfSize
from handlers.model import Unavailable, Why
from handlers.resource_id import last_name
from runbooks.linear import compile_linear

CODE = "quota-exceeded"
REGIONAL, SPOT = "cores", "lowPriorityCores"
LAUNCHING = timedelta(minutes=5)
"""A claim without a word on why it waits is being launched: Azure takes the request for a machine within seconds."""

_STATED_NEED = compile_linear(
    r"(?:Additional Required:|requested quota|quota requested)\s*(?P<cores>\d+)", ignore_case=True
)
_SIZE = compile_linear(r"\bStandard_[A-Za-z0-9_-]{2,40}")
_FAMILY = compile_linear(r"\b(?P<family>\w{3,60}Family)\b", ignore_case=True)


@dataclass(frozen=True, slots=True)
class Demand:
    """Cores that somebody wants and was refused, or could not get."""

    who: str
    cores: int
    counted: str
    """How they are counted, for the proof."""
    quotas: tuple[str, ...]
    about: str
    """The id of the pool, or of the cluster."""
    pool: AgentPool | None = None
    surges: bool = False
    waits: bool = True
    """Nodes are missing now. Else somebody asked for more than there is, and nothing is worse than before."""
    told: tuple[Complaint, ...] = ()
    says: tuple[str, ...] = field(default=())
    """What the autoscaler itself says."""

    def __str__(self) -> str:
        return f"{self.who} wants {self.cores} cores ({self.counted})"


def of_pool(
    cluster: ManagedCluster, wanted: Wanted, sizes: VmSizes, told: tuple[Complaint, ...]
) -> Iterator[Demand | Unavailable]:
    """By size. A pool that lacks nodes wants those; else those that an upgrade adds for a while."""
    lacks = [demand for demand in wanted.by_size if demand.missing] or [
        demand for demand in wanted.by_size if demand.surge
    ]
    for number, lack in enumerate(lacks or wanted.by_size[:1]):
        size = sizes.of(lack.size)
        if size is None:
            name = lack.size or f"pool {wanted.pool.name}"
            yield Unavailable(f"the cores of {name}", Why.ABSENT, f"not among the sizes of {cluster.location}")
        else:
            # Azure states one need for a request, whatever the sizes in it.
            yield _of_size(wanted, lack, size, told, stated(told) if number == 0 else 0)


def _of_size(wanted: Wanted, demand: WantedOfSize, size: VmSize, told: tuple[Complaint, ...], asked: int) -> Demand:
    pool, nodes = wanted.pool, demand.missing or demand.surge
    counted = nodes * size.cores
    each = f"{nodes} × {size.name}, {size.cores} cores each"
    return Demand(
        who=f"pool {pool.name}",
        cores=max(counted, asked),
        counted="Azure was asked for that many" if asked > counted else each,
        quotas=quotas_of(size, spot=pool.spot),
        about=pool.id,
        pool=pool,
        surges=not demand.missing and asked <= counted,
        waits=bool(demand.missing) or pool.failed,
        told=told,
    )


def of_backed_off(backoff: BackedOff, pool: AgentPool, sizes: VmSizes) -> Demand | Unavailable | None:
    """None where the autoscaler was stopped by something else than a quota."""
    if backoff.named and backoff.error and backoff.error.names != CODE:
        return None
    size = sizes.of(pool.vm_size)
    if size is None:
        return Unavailable(f"the cores of {pool.vm_size or pool.name}", Why.ABSENT, "not among the region's sizes")
    each = f"{backoff.lacking} × {size.name}, {size.cores} cores each, for the cluster autoscaler"
    quotas = quotas_of(size, spot=pool.spot)
    return Demand(
        f"pool {pool.name}", backoff.lacking * size.cores, each, quotas, pool.id, pool=pool, says=(str(backoff),)
    )


def of_claim(cluster: ManagedCluster, claim: NodeClaim, sizes: VmSizes) -> Demand | None:
    """None where the claim waits for something else than cores, or is only just being launched."""
    speaks = claim.error.names == CODE
    young = claim.created is not None and cluster.taken_at - claim.created < LAUNCHING
    if not speaks and (claim.message or young):
        return None
    named = _SIZE.search(claim.message)
    size = sizes.of(named[0]) if named else None
    if claim.spot or "lowpriority" in claim.message.lower():
        quotas: tuple[str, ...] = (SPOT,)
    else:
        quotas = (size.family, REGIONAL) if size else (REGIONAL,)
    cores = max(claim.cores, size.cores if size else 1)
    counted = f"1 × {size.name}" if size and size.cores >= cores else f"its pods ask for {claim.cores}"
    return Demand(f"NodeClaim {claim.name}", cores, counted, quotas, cluster.id, says=(str(claim),))


def of_refused_machines(cluster: ManagedCluster, complaints: Complaints, sizes: VmSizes) -> Iterator[Demand]:
    """Machines of node auto-provisioning that Azure refused: Karpenter deletes such a claim, and tries another size."""
    if not cluster.makes_own_nodes:
        return
    for complaint in complaints.recent(CODE):
        if "/virtualmachines/" not in complaint.about.lower():
            continue
        size = next((sizes.of(name) for name in _SIZE.findall(complaint.error.message)), None)
        family, asked = _FAMILY.search(complaint.error.message), stated((complaint,))
        cores = max(asked, size.cores if size else 1)
        quotas = (family["family"],) if family else (size.family, REGIONAL) if size else (REGIONAL,)
        spot = (SPOT,) if "lowpriority" in complaint.error.message.lower() else quotas
        name = last_name(complaint.about)
        yield Demand(
            f"machine {name}", cores, "Azure refused to make it", spot, cluster.id, waits=False, told=(complaint,)
        )


def pool_of(group: str, pools: tuple[AgentPool, ...], sets: ScaleSets | Unavailable) -> AgentPool | None:
    """The pool of a node group: known by its scale set, or by its own name where it has none."""
    for pool in pools:
        found = sets.of(pool) if isinstance(sets, ScaleSets) else None
        names = (found.name.lower() if found else "", pool.name.lower())
        if group.lower() in names or group.lower().startswith((f"{pool.name}/".lower(), f"aks-{pool.name}-".lower())):
            return pool
    return None


def quotas_of(size: VmSize, *, spot: bool) -> tuple[str, ...]:
    return (SPOT,) if spot else (size.family, REGIONAL)


def stated(told: tuple[Complaint, ...]) -> int:
    """The cores that Azure says it was asked for."""
    found = (_STATED_NEED.search(complaint.error.message) for complaint in told)
    return max((int(match["cores"]) for match in found if match), default=0)
