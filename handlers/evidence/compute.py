"""What stands behind the node pools: scale sets, their instances, machines, quotas and sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from handlers.clients.answers import Listing
from handlers.clients.arm.reader import ArmReader
from handlers.engine.declare import collector
from handlers.evidence.azure import AgentPool, AgentPools, ManagedCluster, still_runs
from handlers.evidence.errors import ErrorDetail
from handlers.evidence.gather import each, from_subscription
from handlers.evidence.machine_views import Views, machine_views
from handlers.evidence.pool_sizes import SCALE_SETS
from handlers.evidence.quotas import RegionUsages, region_usages
from handlers.evidence.wire import dig, moment, need_number, need_text, number, rows, text, texts, whole
from handlers.model import Evidence

COMPUTE_API = "2024-11-01"
SKUS_API = "2021-07-01"
MOST_INSTANCES = 5000
"""AKS allows 5,000 nodes in a cluster; a scale set that lists more is cut, and says so."""


@dataclass(frozen=True, slots=True)
class ScaleSet:
    """One scale set of the node resource group."""

    id: str
    name: str
    pool: str
    state: str
    capacity: int
    size: str
    security_groups: tuple[str, ...] = ()
    """Those of its network profile: every interface that it makes gets them."""

    @property
    def failed(self) -> bool:
        return self.state.lower() == "failed"


@dataclass(frozen=True, kw_only=True)
class ScaleSets(Evidence):
    """The scale sets in the node resource group."""

    sets: tuple[ScaleSet, ...]

    def of(self, pool: AgentPool) -> ScaleSet | None:
        return next((scale_set for scale_set in self.sets if scale_set.pool.lower() == pool.name.lower()), None)


@dataclass(frozen=True, slots=True)
class Instance:
    """One virtual machine of a scale set (or, with an empty instance id, one that stands alone)."""

    id: str
    name: str
    instance_id: str
    scale_set: str
    pool: str
    computer: str
    """What Kubernetes and `delete-machines` call it."""
    state: str
    power: str
    latest_model: bool
    unhealthy: bool
    errors: tuple[ErrorDetail, ...]
    extension_errors: tuple[ErrorDetail, ...] = ()
    """Those of the errors that its extensions made."""
    size: str = ""
    provisioned_for: str = ""
    """The NodePool of node auto-provisioning that it was made for: it belongs to no node pool of AKS."""
    created: datetime | None = None

    @property
    def serves(self) -> bool:
        """Whether it was made to be a node of the cluster. Others' machines may stand in the group."""
        return bool(self.pool or self.scale_set or self.provisioned_for)

    @property
    def failed(self) -> bool:
        return self.state.lower() == "failed"

    @property
    def busy(self) -> bool:
        return still_runs(self.state)


@dataclass(frozen=True, kw_only=True)
class Instances(Evidence):
    """Every virtual machine behind the node pools."""

    machines: tuple[Instance, ...]
    lone_listed: bool
    """Whether machines outside of scale sets were looked for."""

    @cached_property
    def by_id(self) -> Mapping[str, Instance]:
        return {machine.id.lower(): machine for machine in self.machines}

    def would_show(self, machine: str) -> bool:
        """Whether a machine of this id, if it existed, would be among them."""
        return self.complete and ("/virtualmachinescalesets/" in machine.lower() or self.lone_listed)

    def of(self, pool: AgentPool) -> tuple[Instance, ...]:
        return tuple(machine for machine in self.machines if machine.pool.lower() == pool.name.lower())


@dataclass(frozen=True, kw_only=True)
class ComputeUsages(RegionUsages):
    """The compute quotas of the cluster's region and subscription."""


@dataclass(frozen=True, slots=True)
class Restriction:
    """Where a size may not be used; without zones: nowhere in the region."""

    reason: str
    zones: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.reason} in zones {', '.join(self.zones)}" if self.zones else self.reason


@dataclass(frozen=True, slots=True)
class VmSize:
    """What a size needs and where it may be used."""

    name: str
    family: str
    cores: int
    zones: tuple[str, ...]
    restrictions: tuple[Restriction, ...]
    memory_gb: float = 0
    architecture: str = ""
    gpus: int = 0
    can: frozenset[str] = frozenset()
    """What it is capable of, in lower case: `lowprioritycapable`, `premiumio`, `ephemeralosdisksupported`."""

    @property
    def open_zones(self) -> tuple[str, ...]:
        """The zones where it is offered and this subscription may use it. Whether machines are free there, nobody
        tells."""
        if self.closed_everywhere:
            return ()
        closed = {zone for restriction in self.restrictions for zone in restriction.zones}
        return tuple(sorted(zone for zone in self.zones if zone not in closed))

    @property
    def closed_everywhere(self) -> bool:
        """Whether this subscription may use it nowhere in the region."""
        return any(not restriction.zones for restriction in self.restrictions)

    def closed_to(self, zones: tuple[str, ...]) -> tuple[str, ...]:
        """Why a pool in these zones (none: wherever Azure likes) cannot get it."""
        return tuple(
            str(restriction)
            for restriction in self.restrictions
            if not restriction.zones or set(restriction.zones) & set(zones)
        )


@dataclass(frozen=True, kw_only=True)
class VmSizes(Evidence):
    """The VM sizes of the region."""

    sizes: Mapping[str, VmSize]

    def of(self, name: str) -> VmSize | None:
        return self.sizes.get(name.lower())


@collector(reads=("Microsoft.Compute/virtualMachineScaleSets/read",))
async def scale_sets(cluster: ManagedCluster, arm: ArmReader) -> ScaleSets:
    """the scale sets"""
    path = f"{cluster.node_group_id}/providers/Microsoft.Compute/virtualMachineScaleSets"
    listing = await arm.list(path, COMPUTE_API)
    sets = tuple(
        ScaleSet(
            id=need_text(item, "id"),
            name=need_text(item, "name"),
            pool=_pool_of(item),
            state=need_text(item, "properties", "provisioningState"),
            capacity=need_number(item, "sku", "capacity"),
            size=text(item, "sku", "name"),
            security_groups=_security_groups(item),
        )
        for item in whole(listing.items)
    )
    return ScaleSets(source=listing.source, taken_at=listing.taken_at, truncated=listing.truncated, sets=sets)


@collector(
    reads=(
        "Microsoft.Compute/virtualMachineScaleSets/virtualMachines/read",
        "Microsoft.Compute/virtualMachines/read",
        "Microsoft.Compute/virtualMachines/instanceView/read",
    ),
    deadline_s=12,
)
async def instances(cluster: ManagedCluster, pools: AgentPools, sets: ScaleSets, arm: ArmReader) -> Instances:
    """the virtual machines"""
    lone = cluster.makes_own_nodes or any(pool.type.lower() != SCALE_SETS for pool in pools.pools)
    places: list[ScaleSet | ManagedCluster] = [*sets.sets, *([cluster] if lone else [])]

    async def of_one(place: ScaleSet | ManagedCluster) -> tuple[list[Instance], Listing, Views]:
        if isinstance(place, ManagedCluster):
            return await _lone(place, arm)
        path, views = f"{place.id}/virtualMachines", {"$expand": "instanceView"}
        listing = await arm.list(path, COMPUTE_API, params=views, most=MOST_INSTANCES)
        return [read_instance(item, place) for item in whole(listing.items)], listing, Views()

    found, gaps = await each(places, of_one)
    return Instances(
        source=", ".join(listing.source for _, listing, _ in found),
        taken_at=min((listing.taken_at for _, listing, _ in found), default=cluster.taken_at),
        truncated=pools.truncated or any(listing.truncated for _, listing, _ in found),
        gaps=(*gaps, *(gap for _, _, views in found for gap in views.gaps)),
        machines=tuple(machine for machines, _, _ in found for machine in machines),
        lone_listed=lone,
    )


async def _lone(cluster: ManagedCluster, arm: ArmReader) -> tuple[list[Instance], Listing, Views]:
    """Machines outside of scale sets: a group's list does not hold their views, so those are asked for apart."""
    path = f"{cluster.node_group_id}/providers/Microsoft.Compute/virtualMachines"
    listing = await arm.list(path, COMPUTE_API, most=MOST_INSTANCES)
    bodies = whole(listing.items)
    ours = [body for body in bodies if read_instance(body, None).serves]
    views = await machine_views(arm, cluster.subscription, ours, COMPUTE_API, most=MOST_INSTANCES)
    seen = [read_instance(body, None, views.of(need_text(body, "id"))) for body in bodies]
    return seen, listing, views


def read_instance(body: Mapping[str, Any], scale_set: ScaleSet | None, view: Any = None) -> Instance:
    """One machine, of a scale set or on its own, with the errors that its view holds."""
    view = view or dig(body, "properties", "instanceView")
    power = [code for code in _codes(view) if code.lower().startswith("powerstate/")]
    return Instance(
        id=need_text(body, "id"),
        name=text(body, "name") or (f"{scale_set.name}_{text(body, 'instanceId')}" if scale_set else ""),
        instance_id=need_text(body, "instanceId") if scale_set else "",
        scale_set=scale_set.id if scale_set else "",
        pool=scale_set.pool if scale_set else _pool_of(body),
        computer=text(body, "properties", "osProfile", "computerName") or text(view, "computerName"),
        state=need_text(body, "properties", "provisioningState"),
        power=power[0].partition("/")[2] if power else "",
        latest_model=dig(body, "properties", "latestModelApplied") is not False,
        unhealthy=text(view, "vmHealth", "status", "code").lower() == "healthstate/unhealthy",
        errors=_view_errors(view),
        extension_errors=_extension_errors(view),
        size=text(body, "sku", "name") or text(body, "properties", "hardwareProfile", "vmSize"),
        provisioned_for="" if scale_set else _provisioned_for(body),
        created=moment(text(body, "properties", "timeCreated")),
    )


def _tags(body: Mapping[str, Any]) -> dict[str, Any]:
    """Tags compare in any case."""
    return {key.lower(): value for key, value in (dig(body, "tags") or {}).items()}


def _provisioned_for(body: Mapping[str, Any]) -> str:
    """Karpenter tags what it makes; a tag's name may hold no slash, so `karpenter.sh/nodepool` has an underscore."""
    tags = _tags(body)
    made = text(tags, "karpenter.sh_nodepool")
    return made or ("node auto-provisioning" if "karpenter.azure.com_cluster" in tags else "")


def _security_groups(body: Mapping[str, Any]) -> tuple[str, ...]:
    profile = dig(body, "properties", "virtualMachineProfile", "networkProfile")
    interfaces = rows(profile, "networkInterfaceConfigurations")
    named = (text(interface, "properties", "networkSecurityGroup", "id") for interface in interfaces)
    return tuple(dict.fromkeys(item for item in named if item))


def _pool_of(body: Mapping[str, Any]) -> str:
    """Machines of the old availability sets carry the second one."""
    tags = _tags(body)
    return text(tags, "aks-managed-poolname") or text(tags, "poolname")


@collector(reads=("Microsoft.Compute/locations/usages/read",))
async def compute_usages(cluster: ManagedCluster, arm: ArmReader) -> ComputeUsages:
    """the compute quotas"""
    return await region_usages(ComputeUsages, "Microsoft.Compute", COMPUTE_API, cluster, arm)


@collector(reads=("Microsoft.Compute/skus/read",), deadline_s=15)
async def vm_sizes(cluster: ManagedCluster, arm: ArmReader) -> VmSizes:
    """the VM sizes of the region"""
    path = f"/subscriptions/{cluster.subscription}/providers/Microsoft.Compute/skus"
    here = {"$filter": f"location eq '{cluster.location}'"}
    asking = arm.list(path, SKUS_API, params=here, most=20000)
    listing = await from_subscription(cluster.subscription, asking)
    machines = [item for item in whole(listing.items) if text(item, "resourceType") == "virtualMachines"]
    sizes = {size.name.lower(): size for size in map(_size, machines)}
    return VmSizes(source=listing.source, taken_at=listing.taken_at, truncated=listing.truncated, sizes=sizes)


def _size(body: Mapping[str, Any]) -> VmSize:
    capabilities = {text(row, "name"): text(row, "value") for row in rows(body, "capabilities")}
    info = next(iter(rows(body, "locationInfo")), {})
    return VmSize(
        name=need_text(body, "name"),
        family=need_text(body, "family"),
        cores=int(capabilities.get("vCPUs") or 0) or number(body, "numberOfCores"),
        zones=texts(info, "zones"),
        restrictions=tuple(_restriction(row) for row in rows(body, "restrictions")),
        memory_gb=_decimal(capabilities.get("MemoryGB", "")),
        architecture=capabilities.get("CpuArchitectureType", "").lower(),
        gpus=int(_decimal(capabilities.get("GPUs", ""))),
        can=frozenset(name.lower() for name, value in capabilities.items() if value.lower() == "true"),
    )


def _decimal(told: str) -> float:
    """`3.5` gigabytes; 0 where the size does not say."""
    return float(told) if told.replace(".", "", 1).isdigit() else 0


def _restriction(body: Mapping[str, Any]) -> Restriction:
    return Restriction(text(body, "reasonCode") or "restricted", texts(body, "restrictionInfo", "zones"))


def _codes(view: Any) -> list[str]:
    return [text(status, "code") for status in rows(view, "statuses")]


def _view_errors(view: Any) -> tuple[ErrorDetail, ...]:
    """Statuses of level Error: of the machine itself, then of its extensions."""
    return (*_errors(text(view, "computerName"), view), *_of_extensions(view))


def _extension_errors(view: Any) -> tuple[ErrorDetail, ...]:
    """Of the machine's own statuses, VMExtensionProvisioningError and its like are an extension's too."""
    own = _errors(text(view, "computerName"), view)
    return (*(detail for detail in own if detail.code.lower().startswith("vmextension")), *_of_extensions(view))


def _of_extensions(view: Any) -> Iterator[ErrorDetail]:
    for extension in rows(view, "extensions"):
        yield from _errors(text(extension, "name"), extension)


def _errors(where: str, holder: Any) -> tuple[ErrorDetail, ...]:
    return tuple(
        ErrorDetail(
            text(status, "code").rsplit("/", 1)[-1], text(status, "message") or text(status, "displayStatus"), where
        )
        for status in rows(holder, "statuses")
        if text(status, "level").lower() == "error" or "/failed" in text(status, "code").lower()
    )
