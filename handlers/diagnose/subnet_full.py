"""Is there an address left for the next node?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from handlers.engine.declare import diagnostic
from handlers.evidence.azure import AgentPool, ManagedCluster, NetworkProfile
from handlers.evidence.complaints import Complaints
from handlers.evidence.errors import ErrorDetail
from handlers.evidence.growth import Growth, Wanted
from handlers.evidence.network import RESERVED, PoolSubnets, Subnet
from handlers.model import Clear, Finding, Judgement, Severity, Unavailable, Why

POD_BATCH = 16
"""Addresses that a node takes at once from a subnet of its own for pods (dynamic allocation hands out 16s)."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What one pool would still take from one subnet."""

    wanted: Wanted
    per_node: int
    for_pods: bool = False

    @property
    def pool(self) -> AgentPool:
        return self.wanted.pool

    @property
    def missing(self) -> int:
        return self.wanted.missing * self.per_node

    @property
    def surge(self) -> int:
        return self.wanted.surge * self.per_node


@diagnostic(codes=("subnet-full",), area="network")
def subnet_full(
    cluster: ManagedCluster, subnets: PoolSubnets, network: NetworkProfile, growth: Growth, complaints: Complaints
) -> Iterator[Judgement]:
    """A node pool's subnet has no room for its nodes, its surge and their pods."""
    for subnet in subnets.subnets:
        demands = list(_demands(subnet, network, growth))
        # An upgrade of the cluster needs room for the surge of all its pools (Azure: customize node surge upgrade).
        wanted = sum(one.missing + one.surge for one in demands)
        if any(one.pool.max_pods == 0 and not one.for_pods for one in demands) and network.pods_use_the_subnet:
            yield Unavailable(f"the pods of {subnet.name}", Why.ABSENT, "a node pool does not say its maxPods")
        elif wanted > subnet.free:
            yield _full(cluster, subnet, demands, wanted, complaints)
        elif subnets.complete and growth.complete:
            yield Clear(f"{subnet.name} has {subnet.free} of {subnet.usable} addresses free, {wanted} wanted")


def _demands(subnet: Subnet, network: NetworkProfile, growth: Growth) -> Iterator[Demand]:
    for wanted in growth.pools:
        pool = wanted.pool
        if pool.subnet.lower() == subnet.id.lower():
            pods = pool.max_pods if network.pods_use_the_subnet and not pool.pod_subnet else 0
            yield Demand(wanted, 1 + pods)
        if pool.pod_subnet.lower() == subnet.id.lower():
            yield Demand(wanted, POD_BATCH, for_pods=True)


def _full(
    cluster: ManagedCluster, subnet: Subnet, demands: list[Demand], wanted: int, complaints: Complaints
) -> Finding:
    lacks = sum(one.missing for one in demands) > subnet.free
    stuck = [one for one in demands if (one.missing and lacks) or one.pool.failed]
    harmed = [one.pool.id for one in stuck if complaints.claimable(one.pool.id, speaks_of_subnet)]
    told = [one for demand in demands for one in complaints.speaking_of(speaks_of_subnet, demand.pool.id)]
    first = (stuck or demands)[0]
    kept, short = RESERVED * len(subnet.prefixes), wanted - subnet.free
    room = f"{', '.join(subnet.prefixes)}: {subnet.size} addresses - {kept} kept by Azure - {subnet.used} in use"
    return Finding(
        code="subnet-full",
        subject=subnet.id,
        severity=Severity.ERROR if harmed else Severity.WARNING,
        affects=(*harmed, *([cluster.id] if harmed and complaints.claimable(cluster.id, speaks_of_subnet) else [])),
        because=(
            f"{room} = {subnet.free} free",
            *(_sum(demand) for demand in demands if demand.missing or demand.surge),
            f"wanted {wanted}, free {subnet.free}: {short} short",
            *(str(one) for one in told[:1]),
        ),
        facts={
            "subnet": subnet.name,
            "subnet_id": subnet.id,
            "vnet": subnet.id.split("/")[-3],
            "vnet_group": subnet.id.split("/")[4],
            "vnet_subscription": subnet.id.split("/")[2],
            "prefixes": list(subnet.prefixes),
            "used": subnet.used,
            "free": subnet.free,
            "wanted": wanted,
            "short": short,
            "pools": [demand.pool.name for demand in demands],
            "pool": first.pool.name,
            "size": first.pool.vm_size,
            "mode": first.pool.mode,
            "nodes": first.pool.count,
            "os": first.pool.os or "Linux",
            "zones": list(first.pool.zones),
            "spot": first.pool.spot,
            "nodes_subnet": first.pool.subnet,
            "pods_subnet": first.pool.pod_subnet,
            "for_pods": first.for_pods,
            "surging": [one.pool.name for one in demands if one.surge and not one.missing and one.pool.may_lose_nodes],
            "per_node": first.per_node,
            "max_pods": first.pool.max_pods,
            "blocked": bool(harmed),
            "cluster": cluster.name,
            "group": cluster.group,
            "subscription": cluster.subscription,
        },
    )


def _sum(demand: Demand) -> str:
    wanted = demand.wanted
    each = "1" if demand.per_node == 1 else f"{demand.per_node} (1 + {demand.per_node - 1} pods)"
    each = f"{POD_BATCH} for pods" if demand.for_pods else each
    nodes = f"{wanted.missing} missing + {wanted.surge} surge" if wanted.missing else f"{wanted.surge} surge"
    return f"pool {demand.pool.name}: {nodes} × {each} = {demand.missing + demand.surge} addresses"


def speaks_of_subnet(error: ErrorDetail) -> bool:
    """SubnetIsFull, InsufficientSubnetSize, or the sentence that comes with them."""
    words = f"{error.code} {error.message}".lower()
    return any(word in words for word in ("subnetisfull", "subnet is full", "insufficientsubnetsize"))
