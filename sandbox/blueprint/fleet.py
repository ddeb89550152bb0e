"""The schema of a fleet description."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network
from typing import Literal

from pydantic import Field, field_validator

from sandbox.blueprint.operator_kinds import KINDS
from sandbox.blueprint.sizes import SIZES
from sandbox.blueprint.strict import Strict

NetworkMode = Literal["overlay", "flat", "pod-subnet", "kubenet"]
PoolType = Literal["VirtualMachineScaleSets", "VirtualMachines", "AvailabilitySet"]


class PrincipalSpec(Strict):
    """A service principal."""

    actions: list[str] = Field(default_factory=list)
    not_actions: list[str] = Field(default_factory=list)


class SubscriptionSpec(Strict):
    id: str = Field(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
    display_name: str
    management_group: str
    groups: dict[str, str] = Field(default_factory=dict)
    """Additional resource groups, with their locations."""


class SubnetSpec(Strict):
    prefix: str
    private_endpoints: int = 0
    """Other teams' private endpoints in the same subnet, using one address each."""
    route_table: str | None = None
    for_pods: bool = False

    @field_validator("prefix")
    @classmethod
    def _is_a_network(cls, value: str) -> str:
        return str(ip_network(value))


class PlacedSpec(Strict):
    """Base of everything in a resource group."""

    subscription: str
    group: str
    location: str


class VnetSpec(PlacedSpec):
    """A custom virtual network of a cluster's owners."""

    space: str
    subnets: dict[str, SubnetSpec]


class PoolSpec(Strict):
    size: str
    os: Literal["Linux", "Windows"] = "Linux"
    count: int = Field(ge=0)
    type: PoolType = "VirtualMachineScaleSets"
    more_sizes: dict[str, int] = Field(default_factory=dict)
    """Additional VM sizes of a VirtualMachines pool, with node counts."""
    mode: Literal["System", "User"] = "User"
    max_pods: int = Field(default=110, ge=10, le=250)
    max_surge: str = "10%"
    zones: list[str] = Field(default_factory=list)
    spot: bool = False
    autoscale: tuple[int, int] | None = Field(default=None, strict=False)
    """The cluster autoscaler's minimum and maximum node count."""
    stopped: bool = False
    version: str | None = None
    """If different from the cluster's, as during an upgrade."""
    labels: dict[str, str] = Field(default_factory=dict)
    taints: list[str] = Field(default_factory=list)

    @field_validator("size")
    @classmethod
    def _is_known(cls, value: str) -> str:
        if value not in SIZES:
            raise ValueError(f"{value!r} is not in sandbox/blueprint/sizes.py")
        return value

    @property
    def machine_count(self) -> int:
        return self.count + sum(self.more_sizes.values())

    @property
    def machine_sizes(self) -> Iterator[str]:
        """The size of each VM."""
        for size, count in ((self.size, self.count), *self.more_sizes.items()):
            yield from (size for _ in range(count))


class NetworkSpec(Strict):
    mode: NetworkMode
    policy: Literal["none", "azure", "calico", "cilium"] = "none"
    vnet: str | None = None
    """The owners' own virtual network; without it, AKS creates one."""
    node_subnet: str | None = None
    pod_subnet: str | None = None
    pod_cidr: str | None = None
    service_cidr: str = "10.0.0.0/16"


class ClusterSpec(PlacedSpec):
    version: str
    sku: Literal["Base", "Automatic"] = "Base"
    network: NetworkSpec
    pools: dict[str, PoolSpec] = Field(min_length=1)
    identity: Literal["system", "user"] = "system"
    private: bool = False
    entra: bool = False
    """Whether the API server uses Entra authentication."""
    local_accounts: bool = True
    """Whether local accounts (client certificates) are enabled too."""
    pods_per_node: int = Field(default=5, ge=0, le=250)
    """User pods per user node, in addition to AKS's own."""
    auto: dict[str, dict[str, int]] = Field(default_factory=dict)
    """Auto-provisioned nodes: by Karpenter NodePool, the count of each size."""
    service_operator: list[str] = Field(default_factory=list)
    """The kinds that Azure Service Operator defines; empty where it is not installed."""
    tier: Literal["Free", "Standard", "Premium"] = "Standard"
    created: str = "now-300d"
    logs_to: str | None = None
    """The Log Analytics workspace that control-plane logs are sent to."""
    tags: dict[str, str] = Field(default_factory=dict)

    @property
    def auto_specs(self) -> dict[str, PoolSpec]:
        """The auto-provisioned nodes, as node pools."""
        found = {}
        for name, sizes in self.auto.items():
            (size, count), *more = sizes.items()
            found[name] = PoolSpec(size=size, count=count, more_sizes=dict(more), type="VirtualMachines", max_pods=250)
        return found


class SiteClusterSpec(PlacedSpec):
    """A cluster on premises, seen through Arc."""

    version: str
    nodes: int = Field(default=0, ge=0)
    """How many nodes its API server shows; none: it has no API server here."""


class NexusSpec(SiteClusterSpec):
    """A cluster on Azure Operator Nexus."""

    vlan: int
    prefix: str
    site: str = ""
    """The Nexus cluster (the hardware) that it runs on; clusters that name the same one share its custom location."""
    more_cloud_services_networks: int = 0
    """How many other cloud services networks the site carries."""


class HybridSpec(SiteClusterSpec):
    """A provisioned cluster of AKS hybrid: a connected cluster with an instance named `default` below it."""

    bridge: str
    """The Arc resource bridge whose custom location it is in."""


class BridgeSpec(PlacedSpec):
    """An Arc resource bridge."""

    version: str
    infrastructure: Literal["VMWare", "HCI", "SCVMM"] = "VMWare"


class QuotaSpec(Strict):
    """One row of the compute or network quotas. The fleet's own usage is added automatically."""

    limit: int | None = None
    other: int = 0
    """Usage by resources outside this fleet."""


class PolicySpec(Strict):
    scope: str
    definition: str
    display_name: str
    parameters: dict[str, object] = Field(default_factory=dict)
    exempt: list[str] = Field(default_factory=list)


class LockSpec(Strict):
    scope: str
    level: Literal["CanNotDelete", "ReadOnly"]
    notes: str = ""
    set_at: str = "now-30d"


class Fleet(Strict):
    """All resources of one tenant."""

    tenant: str
    principals: dict[str, PrincipalSpec]
    subscriptions: dict[str, SubscriptionSpec] = Field(min_length=1)
    vnets: dict[str, VnetSpec] = Field(default_factory=dict)
    clusters: dict[str, ClusterSpec] = Field(default_factory=dict)
    nexus: dict[str, NexusSpec] = Field(default_factory=dict)
    hybrid: dict[str, HybridSpec] = Field(default_factory=dict)
    bridges: dict[str, BridgeSpec] = Field(default_factory=dict)
    quotas: dict[str, dict[str, dict[str, QuotaSpec]]] = Field(default_factory=dict)
    """By subscription, location and the row's name."""
    policies: dict[str, PolicySpec] = Field(default_factory=dict)
    locks: dict[str, LockSpec] = Field(default_factory=dict)

    def parts(self) -> Iterator[PlacedSpec]:
        """Everything in a resource group."""
        yield from self.clusters.values()
        yield from self.nexus.values()
        yield from self.hybrid.values()
        yield from self.bridges.values()
        yield from self.vnets.values()

    @property
    def names(self) -> list[str]:
        """The names of everything that users can ask about."""
        return [*self.clusters, *self.nexus, *self.hybrid, *self.bridges]


def misfits(fleet: Fleet) -> Iterator[tuple[str, str]]:
    """Inconsistencies in a description: the key and the reason."""
    for kind in ("vnets", "clusters", "nexus", "hybrid", "bridges"):
        for name, part in getattr(fleet, kind).items():
            if part.subscription not in fleet.subscriptions:
                yield f"{kind}.{name}.subscription", f"{part.subscription!r} is not among the subscriptions"
    for name in fleet.quotas:
        if name not in fleet.subscriptions:
            yield f"quotas.{name}", "is not among the subscriptions"
    for name, cluster in fleet.clusters.items():
        yield from _network_misfits(fleet, f"clusters.{name}.network", cluster.network)
        if not cluster.entra and not cluster.local_accounts:
            yield f"clusters.{name}.local_accounts", "a cluster without Entra needs them"
        for pool_name, sizes in cluster.auto.items():
            if not set(sizes) <= set(SIZES):
                yield f"clusters.{name}.auto.{pool_name}", "names a size that is not in sizes.py"
        if not set(cluster.service_operator) <= set(KINDS):
            yield f"clusters.{name}.service_operator", "names a kind that is not in operator_kinds.py"
        if not any(pool.mode == "System" and pool.count for pool in cluster.pools.values()):
            yield f"clusters.{name}.pools", "a cluster needs a system pool with nodes"
        for pool_name, pool in cluster.pools.items():
            if pool.stopped and pool.count:
                yield f"clusters.{name}.pools.{pool_name}.count", "a stopped pool has no nodes"
            if pool.more_sizes and (pool.type != "VirtualMachines" or not set(pool.more_sizes) <= set(SIZES)):
                key = f"clusters.{name}.pools.{pool_name}.more_sizes"
                yield key, "only a pool of type VirtualMachines has more sizes, and only those of sizes.py"


def _network_misfits(fleet: Fleet, key: str, network: NetworkSpec) -> Iterator[tuple[str, str]]:
    if network.vnet is None:
        return
    if network.vnet not in fleet.vnets:
        yield f"{key}.vnet", f"{network.vnet!r} is not among the vnets"
        return
    subnets = fleet.vnets[network.vnet].subnets
    if network.node_subnet not in subnets:
        yield f"{key}.node_subnet", f"{network.node_subnet!r} is not a subnet of {network.vnet}"
    if network.mode == "pod-subnet" and network.pod_subnet not in subnets:
        yield f"{key}.pod_subnet", f"{network.pod_subnet!r} is not a subnet of {network.vnet}"
