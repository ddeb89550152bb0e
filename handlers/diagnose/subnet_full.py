"""Is there an address left for the next node?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from handlers.diagnose.subnet_demand import Demand, classes_of, demands
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import AgentPool, AgentPools, ManagedCluster, NetworkProfile
from handlers.evidence.complaints import Complaints
from handlers.evidence.growth import Growth
from handlers.evidence.monitor import ActivityLog, NodeActivityLog
from handlers.evidence.network import RESERVED, NodeClasses, PoolSubnets, Subnet
from handlers.headroom import HEADROOM, headroom
from handlers.model import Clear, Finding, Judgement, NotApplicable, Severity, Unavailable, Why

CODE = "subnet-full"


@diagnostic(
    codes=(CODE,),
    area="network",
    clear_without=ClearWithout(
        (ActivityLog, NodeActivityLog),
        "the addresses are counted, and are enough; errors only tell whom a full subnet has hit",
    ),
)
def subnet_full(
    cluster: ManagedCluster,
    pools: AgentPools,
    subnets: PoolSubnets,
    network: NetworkProfile,
    growth: Growth,
    complaints: Complaints,
    classes: NodeClasses | NotApplicable | Unavailable,
) -> Iterator[Judgement]:
    """A subnet has no room for the nodes, their surge and their pods, or for the API server."""
    for subnet in subnets.subnets:
        wanting = demands(subnet, cluster, pools, network, growth, classes_of(classes))
        # An upgrade of the cluster needs room for the surge of all its pools (Azure: customize node surge upgrade).
        wanted = sum(demand.missing + demand.surge for demand in wanting)
        room = replace(subnet, used=max(subnet.used, sum(demand.taken for demand in wanting)))
        if any(demand.unknown for demand in wanting):
            yield Unavailable(f"the pods of {subnet.name}", Why.ABSENT, "a node pool does not say its maxPods")
        elif wanted > room.free:
            yield _full(cluster, room, wanting, wanted, complaints)
        elif subnets.complete and growth.complete:
            yield Clear(f"{subnet.name} has {room.free} of {subnet.usable} addresses free, {wanted} wanted")


def _full(
    cluster: ManagedCluster, subnet: Subnet, wanting: list[Demand], wanted: int, complaints: Complaints
) -> Finding:
    lacks = sum(demand.missing for demand in wanting) > subnet.free
    of_pools = [demand.pool for demand in wanting if demand.pool]
    stuck = [demand for demand in wanting if demand.pool and ((demand.missing and lacks) or demand.pool.failed)]
    # Nothing tells since when a subnet is full: unless Azure names it, a failure may have filled it with its own nodes.
    claimed = complaints.claimed([*(name.pool.id for name in stuck if name.pool), cluster.id], (CODE,))
    harmed = [*claimed, *(name.pool.id for name in stuck if name.pool and not name.pool.failed)]
    starved = [demand.pool.id for demand in wanting if demand.pool and demand.for_pods and subnet.free <= 0]
    told = [complaint for pool in of_pools for complaint in complaints.naming(CODE, pool.id)]
    refused = [complaint for complaint in complaints.recent(CODE) if "/virtualmachines/" in complaint.about.lower()]
    told += refused if len(of_pools) < len(wanting) else []
    first = next((name for name in (*stuck, *wanting) if name.pool), wanting[0])
    kept, short = RESERVED * len(subnet.prefixes), wanted - subnet.free
    room = f"{', '.join(subnet.prefixes)}: {subnet.size} addresses - {kept} kept by Azure - {subnet.used} in use"
    return Finding(
        code=CODE,
        subject=subnet.id,
        severity=Severity.ERROR if harmed or (refused and first.pool is None) else Severity.WARNING,
        affects=tuple(dict.fromkeys((*harmed, *starved))),
        because=(
            f"{room} = {subnet.free} free",
            *(str(demand) for demand in wanting if demand.missing or demand.surge),
            f"wanted {wanted}, free {subnet.free}: {short} short",
            *(str(complaint) for complaint in told[:1]),
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
            "pools": [pool.name for pool in of_pools],
            "others": [demand.who for demand in wanting if demand.pool is None],
            "for_api_server": cluster.api_server_subnet.lower() == subnet.id.lower(),
            "for_pods": first.for_pods,
            "surging": [pool.name for pool in map(_surges, wanting) if pool],
            "per_node": first.per_node,
            "blocked": bool(harmed) or lacks,
            "cluster": cluster.name,
            "group": cluster.group,
            "subscription": cluster.subscription,
            **_to_make_another(first.pool),
            HEADROOM: headroom(
                f"Subnet {subnet.name} ({', '.join(subnet.prefixes)})",
                "addresses",
                subnet.size,
                [("kept by Azure", kept), ("in use", subnet.used)],
                [(demand.who, demand.missing + demand.surge) for demand in wanting],
            ),
        },
    )


def _surges(demand: Demand) -> AgentPool | None:
    """A pool that could upgrade without extra nodes."""
    pool = demand.pool
    return pool if pool and demand.surge and not demand.missing and pool.may_lose_nodes else None


def _to_make_another(pool: AgentPool | None) -> dict[str, object]:
    """What makes a pool like the first one in another subnet."""
    return {
        "pool": pool.name if pool else "",
        "size": pool.vm_size if pool else "",
        "mode": pool.mode if pool else "",
        "nodes": pool.count if pool else 0,
        "os": (pool.os if pool else "") or "Linux",
        "zones": list(pool.zones) if pool else [],
        "spot": pool.spot if pool else False,
        "nodes_subnet": pool.subnet if pool else "",
        "pods_subnet": pool.pod_subnet if pool else "",
        "max_pods": pool.max_pods if pool else 0,
    }
