"""Who wants addresses of a subnet: node pools, node auto-provisioning, and the API server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from handlers.evidence.azure import AgentPool, AgentPools, ManagedCluster, NetworkProfile
from handlers.evidence.growth import Growth
from handlers.evidence.network import NodeClass, NodeClasses, Subnet

POD_BATCH = 16
"""Addresses that a node takes at once from a subnet for pods: dynamic allocation hands out 16s; a block is a /28."""
API_SERVER = 9
"""AKS: "a cluster reserves at least 9 IPs" in the subnet of API server VNet integration."""
OVERLAY_PODS, FLAT_PODS = 250, 30
"""How many pods a node of node auto-provisioning may run where its AKSNodeClass does not say."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What one of them would still take from one subnet."""

    who: str
    per_node: int
    missing_nodes: int = 0
    surge_nodes: int = 0
    pool: AgentPool | None = None
    for_pods: bool = False
    taken: int = 0
    """Addresses that its nodes have taken, whatever the virtual network counts: a block may be counted as one."""
    unknown: bool = False
    """Nobody can tell how many addresses a node of it takes."""

    @property
    def missing(self) -> int:
        return self.missing_nodes * self.per_node

    @property
    def surge(self) -> int:
        return self.surge_nodes * self.per_node

    def __str__(self) -> str:
        if self.pool is None:
            return f"{self.who}: {self.missing + self.surge} addresses"
        if self.for_pods:
            blocks = self.per_node // POD_BATCH
            each = f"{blocks} blocks of {POD_BATCH} for pods" if blocks > 1 else f"{POD_BATCH} for pods"
        else:
            each = "1" if self.per_node == 1 else f"{self.per_node} (1 + {self.per_node - 1} pods)"
        missing, surge = f"{self.missing_nodes} missing + ", f"{self.surge_nodes} surge"
        nodes = (missing if self.missing_nodes else "") + surge
        return f"{self.who}: {nodes} × {each} = {self.missing + self.surge} addresses"


def demands(
    subnet: Subnet,
    cluster: ManagedCluster,
    pools: AgentPools,
    network: NetworkProfile,
    growth: Growth,
    classes: tuple[NodeClass, ...],
) -> list[Demand]:
    """Everybody who lives in a subnet."""
    found = [*_of_pools(subnet, network, growth)]
    found += _of_classes(subnet, pools, network, classes)
    if cluster.api_server_subnet.lower() == subnet.id.lower():
        # It stands there already, and takes more where it scales.
        found.append(Demand("the API server's next replica", max(1, API_SERVER - subnet.used), surge_nodes=1))
    return found


def classes_of(seen: object) -> tuple[NodeClass, ...]:
    return seen.classes if isinstance(seen, NodeClasses) else ()


def _of_pools(subnet: Subnet, network: NetworkProfile, growth: Growth) -> Iterator[Demand]:
    for wanted in growth.pools:
        pool, who = wanted.pool, f"pool {wanted.pool.name}"
        if pool.subnet.lower() == subnet.id.lower():
            flat = network.pods_use_the_subnet and not pool.pod_subnet
            each = 1 + (pool.max_pods if flat else 0)
            yield Demand(who, each, wanted.missing, wanted.surge, pool, unknown=flat and not pool.max_pods)
        if pool.pod_subnet.lower() == subnet.id.lower():
            each = _for_pods(pool)
            taken = max(0, pool.count - wanted.missing) * each if pool.pods_in_blocks else 0
            unknown = pool.pods_in_blocks and not pool.max_pods
            yield Demand(who, each, wanted.missing, wanted.surge, pool, for_pods=True, taken=taken, unknown=unknown)


def _for_pods(pool: AgentPool) -> int:
    """A batch, and more as pods come; or all the blocks at once: N blocks serve 16 N - 1 pods (one address is kept)."""
    return -(-(pool.max_pods + 1) // POD_BATCH) * POD_BATCH if pool.pods_in_blocks else POD_BATCH


def _of_classes(
    subnet: Subnet, pools: AgentPools, network: NetworkProfile, classes: tuple[NodeClass, ...]
) -> Iterator[Demand]:
    """One node more. Classes without a subnet of their own use that of the first system pool."""
    system = next((pool.subnet for pool in pools.pools if pool.mode.lower() == "system"), "")
    for class_ in classes:
        if (class_.subnet or system).lower() == subnet.id.lower():
            pods = (class_.max_pods or FLAT_PODS) if network.pods_use_the_subnet else 0
            yield Demand(f"the next node of AKSNodeClass {class_.name}", 1 + pods, surge_nodes=1)
