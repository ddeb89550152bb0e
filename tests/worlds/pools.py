"""The node pools, the effects of a running operation on them, and their VMs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property

from sandbox.blueprint.sizes import SIZES
from tests.worlds.ids import IMAGE, MADE, NEXT_VERSION, OLD_IMAGE, VERSION, Body, Ids, guid
from tests.worlds.shape import PoolShape, Shape

WINDOWS_IMAGE = "AKSWindows-2022-containerd-20348.4297.251015"
BEGAN = timedelta(minutes=21)
"""When the running operation started: recent enough for any of them to be still running normally."""
_SIZES = {
    "system": "Standard_D4ds_v5",
    "plain": "Standard_D8s_v5",
    "autoscaled": "Standard_D8s_v5",
    "parking": "Standard_D8ds_v5",
    "stopped": "Standard_D16s_v5",
    "spot": "Standard_F8s_v2",
    "spot-evicted": "Standard_F8s_v2",
    "windows": "Standard_D4s_v5",
    "reserved": "Standard_E8s_v5",
    "dedicated": "Standard_D8as_v5",
    "machines": "Standard_D4as_v5",
    "machines-autoscaled": "Standard_D4as_v5",
    "empty": "Standard_NC4as_T4_v3",
    "availability-set": "Standard_D4s_v5",
    "auto": "Standard_D4as_v5",
    "fresh": "Standard_D8s_v5",
}
BIGGER = "Standard_D8as_v5"
SPOT = frozenset({"spot", "spot-evicted"})
SLOW = timedelta(hours=3)
"""How long an upgrade with a two-hour drain timeout and a 30-minute node soak has been running."""
AUTOSCALED = frozenset({"autoscaled", "parking", "empty", "machines-autoscaled"})
OF_MACHINES = frozenset({"machines", "machines-autoscaled"})


@dataclass(frozen=True, slots=True)
class Machine:
    """One VM and the state of its node."""

    id: str
    node: str
    pool: str
    """Empty for an auto-provisioned VM."""
    kind: str
    number: int
    size: str
    version: str = VERSION
    image: str = IMAGE
    state: str = "Succeeded"
    power: str = "running"
    age: timedelta = MADE
    joined: bool = True
    ready: bool = True
    cordoned: bool = False

    @property
    def os(self) -> str:
        return "Windows" if self.kind == "windows" else "Linux"

    @property
    def cores(self) -> int:
        return SIZES[self.size].cores


@dataclass(frozen=True)
class Pool:
    """The current state of one node pool."""

    ids: Ids
    shape: PoolShape
    state: str = "Succeeded"
    asked: str = VERSION
    runs: str = VERSION
    count: int = 0
    machines: tuple[Machine, ...] = ()
    has_scale_set: bool = True
    set_state: str = "Succeeded"
    more: Body = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.shape.name

    @property
    def kind(self) -> str:
        return self.shape.kind

    @property
    def size(self) -> str:
        return _SIZES[self.kind]

    @property
    def system(self) -> bool:
        return self.kind in ("system", "availability-set")

    @property
    def surge(self) -> int:
        """How many surge nodes an upgrade adds. Spot pools have none: AKS removes their nodes instead."""
        text = self.shape.surge or "10%"
        share = math.ceil(self.count * int(text[:-1]) / 100) if text.endswith("%") else int(text)
        return 0 if self.kind in ("stopped", *SPOT) else min(share, self.count)

    @cached_property
    def max_pods(self) -> int:
        return {"flat": 30, "kubenet": 110, "blocks": 48, "dynamic": 60}.get(self.ids.shape.network, 110)


def pools_of(ids: Ids) -> tuple[Pool, ...]:
    """All pools, one of them in the running operation, if any."""
    shape = ids.shape
    pools = [_settled(ids, one) for one in shape.pools]
    if shape.stopped:
        return tuple(replace(one, count=0, machines=()) for one in pools)
    busy = _busy(shape, pools)
    if shape.operation == "creating-pool":
        pools.append(_fresh(ids))
    elif busy is not None:
        pools[busy] = _OPERATIONS[shape.operation](pools[busy])
        if shape.operation in ("upgrade", "slow-upgrade"):
            pools = [one if at == busy else _waiting(one) for at, one in enumerate(pools)]
    if "joining-node" in shape.inside:
        pools = _with_a_joining_node(pools)
    if "cordoned-node" in shape.inside:
        pools = _with_a_cordoned_node(pools)
    return tuple(pools)


def auto_machines(ids: Ids) -> tuple[Machine, ...]:
    """Auto-provisioned VMs: outside any pool and scale set."""
    names = [f"aks-default-{guid(ids.seed, 'auto', number)[:5]}" for number in range(max(0, ids.shape.auto))]
    made = () if ids.shape.stopped else names
    size, image = _SIZES["auto"], IMAGE
    return tuple(
        Machine(ids.machine(name), name, "", "auto", at, size, image=image, age=timedelta(hours=5 + at))
        for at, name in enumerate(made)
    )


def _settled(ids: Ids, shape: PoolShape) -> Pool:
    pool = Pool(ids, shape)
    count = 0 if shape.kind in ("stopped", "empty") else shape.nodes
    machines = tuple(machine(pool, number) for number in range(count))
    if shape.kind == "parking":
        parked = machine(pool, count)
        here = ids.seed % 2 == 0
        machines += (replace(parked, power="deallocated", ready=False, joined=here, age=timedelta(days=20)),)
    if shape.kind == "spot-evicted" and machines:
        machines = (*machines[:-1], replace(machines[-1], power="deallocated", ready=False))
    return replace(pool, count=count, machines=machines)


def machine(pool: Pool, number: int) -> Machine:
    """The VM with this number in a pool."""
    ids, name, size = pool.ids, pool.name, pool.size
    if pool.kind in OF_MACHINES:
        node = f"aks-{name}-{ids.suffix}-vms{number}"
        return Machine(ids.machine(node), node, name, pool.kind, number, BIGGER if number == 0 else size)
    if pool.kind == "availability-set":
        node = f"aks-{name}-{ids.suffix}-{number}"
        return Machine(ids.machine(node), node, name, pool.kind, number, size)
    node = f"aks{name}{number:06d}" if pool.kind == "windows" else f"aks-{name}-{ids.suffix}-vmss{number:06d}"
    image = WINDOWS_IMAGE if pool.kind == "windows" else IMAGE
    return Machine(f"{ids.scale_set(name)}/virtualMachines/{number}", node, name, pool.kind, number, size, image=image)


# -- operations ---------------------------------------------------------------------------------------------------


def _busy(shape: Shape, pools: list[Pool]) -> int | None:
    """Which pool the operation is on."""
    special = {"autoscaling": ("autoscaled",), "deleting-pool": ("plain",), "slow-upgrade": ("plain",)}
    wanted = special.get(shape.operation, ("plain", "autoscaled", "system"))
    fit = [at for at, one in enumerate(pools) if one.kind in wanted]
    return fit[shape.seed % len(fit)] if fit and shape.operation else None


def _upgrading(pool: Pool) -> Pool:
    """The first node is upgraded, the next is being drained, and the surge nodes exist."""
    first, second, *rest = [*pool.machines, None, None]
    surge = [
        replace(machine(pool, pool.count + 10 + at), version=NEXT_VERSION, age=BEGAN - timedelta(minutes=5))
        for at in range(pool.surge)
    ]
    done = replace(first, version=NEXT_VERSION) if first and second else first and replace(first, cordoned=True)
    draining = replace(second, cordoned=True) if second else None
    machines = tuple(one for one in (done, draining, *rest, *surge) if one)
    return replace(pool, state="Upgrading", asked=NEXT_VERSION, machines=machines)


def _slowly_upgrading(pool: Pool) -> Pool:
    """A slow upgrade by configuration: a two-hour drain timeout and a 30-minute node soak."""
    slow: Body = {"drainTimeoutInMinutes": 120, "nodeSoakDurationInMinutes": 30}
    return replace(_upgrading(pool), more={"upgradeSettings": {**_surge(pool), **slow}})


def _waiting(pool: Pool) -> Pool:
    """A pool waiting for its turn: AKS upgrades pools one at a time."""
    state = "Upgrading" if pool.ids.seed % 2 and pool.kind != "stopped" else "Succeeded"
    return replace(pool, state=state, asked=NEXT_VERSION)


def _new_image(pool: Pool) -> Pool:
    old = [replace(one, image=OLD_IMAGE) for one in pool.machines]
    old[-1] = replace(old[-1], cordoned=True)
    surge = [replace(machine(pool, pool.count + 10 + at), age=timedelta(minutes=14)) for at in range(pool.surge)]
    return replace(pool, state="UpgradingNodeImageVersion", machines=(*old, *surge))


def _scaling(pool: Pool) -> Pool:
    """Scaling up by two: one has just joined, one is still being created or starting."""
    joining = replace(machine(pool, pool.count), age=timedelta(minutes=2), ready=False)
    state = "Creating" if pool.ids.seed % 2 else "Succeeded"
    coming = replace(machine(pool, pool.count + 1), age=timedelta(minutes=2), state=state, joined=False)
    machines = (*pool.machines, joining, coming)
    return replace(pool, state="Scaling", count=pool.count + 2, machines=machines, set_state="Updating")


def _autoscaling(pool: Pool) -> Pool:
    """The autoscaler writes to the scale set; AKS updates the count afterwards."""
    coming = replace(machine(pool, pool.count), age=timedelta(minutes=1), state="Creating", joined=False)
    return replace(pool, count=pool.count + 1, machines=(*pool.machines, coming), set_state="Updating")


def _deleting(pool: Pool) -> Pool:
    """Its scale set is already deleted, but AKS is not done with the rest."""
    return replace(pool, state="Deleting", machines=(), has_scale_set=False)


_OPERATIONS = {
    "deleting-pool": _deleting,
    "upgrade": _upgrading,
    "slow-upgrade": _slowly_upgrading,
    "pool-upgrade": _upgrading,
    "image-upgrade": _new_image,
    "scaling": _scaling,
    "autoscaling": _autoscaling,
}


def _fresh(ids: Ids) -> Pool:
    """A pool that was just created: its scale set does not exist yet."""
    return Pool(ids, PoolShape("fresh", "fresh", 3), state="Creating", count=3, has_scale_set=False)


def _with_a_joining_node(pools: list[Pool]) -> list[Pool]:
    """Add a node that was replaced a few minutes ago and is not Ready yet."""
    at = next(
        (at for at, one in enumerate(pools) if one.kind in ("plain", "system") and one.state == "Succeeded"), None
    )
    if at is None or not pools[at].machines:
        return pools
    *others, last = pools[at].machines
    pools[at] = replace(pools[at], machines=(*others, replace(last, age=timedelta(minutes=3), ready=False)))
    return pools


def _with_a_cordoned_node(pools: list[Pool]) -> list[Pool]:
    """Add a node that someone has cordoned for an investigation."""
    for at, one in enumerate(pools):
        if one.kind == "plain" and one.state == "Succeeded" and len(one.machines) > 1:
            pools[at] = replace(one, machines=(replace(one.machines[0], cordoned=True), *one.machines[1:]))
    return pools


# -- bodies -------------------------------------------------------------------------------------------------------


def pool_body(pool: Pool) -> Body:
    """One node pool as AKS returns it."""
    ids, kind = pool.ids, pool.kind
    alias = ids.seed % 3 == 0
    properties: Body = {
        **_counts(pool),
        "osDiskSizeGB": 128,
        "osDiskType": "Ephemeral",
        "kubeletDiskType": "OS",
        "maxPods": pool.max_pods,
        "type": _type(kind),
        "enableAutoScaling": kind in AUTOSCALED and kind not in OF_MACHINES,
        **({"minCount": 0, "maxCount": pool.count + 5} if kind in AUTOSCALED - OF_MACHINES else {}),
        "scaleDownMode": "Deallocate" if kind == "parking" else "Delete",
        "provisioningState": pool.state,
        "powerState": {"code": "Stopped" if kind == "stopped" or ids.shape.stopped else "Running"},
        "orchestratorVersion": pool.asked.rpartition(".")[0] if alias else pool.asked,
        **({"currentOrchestratorVersion": pool.runs} if pool.state != "Creating" else {}),
        "mode": "System" if pool.system else "User",
        "osType": "Windows" if kind == "windows" else "Linux",
        "osSKU": "Windows2022" if kind == "windows" else "Ubuntu",
        "nodeImageVersion": WINDOWS_IMAGE if kind == "windows" else IMAGE,
        "upgradeSettings": _surge(pool),
        "networkProfile": {},
        "eTag": guid(ids.seed, pool.name, "etag"),
        **({"availabilityZones": ["1", "2", "3"]} if kind in ("plain", "system") and ids.seed % 2 else {}),
        **_subnets(pool),
        **_special(pool),
        **pool.more,
    }
    if "unknown-fields" in ids.shape.oddities:
        properties |= {"nodeSomethingProfile": {"level": 3, "of": [{"name": "new"}]}, "status": None}
    return {
        "id": ids.pool(pool.name),
        "name": pool.name,
        "type": "Microsoft.ContainerService/managedClusters/agentPools",
        "properties": properties,
    }


def _type(kind: str) -> str:
    special = {"availability-set": "AvailabilitySet", "machines": "VirtualMachines"}
    return special.get(kind, "VirtualMachines" if kind in OF_MACHINES else "VirtualMachineScaleSets")


def _counts(pool: Pool) -> Body:
    """Node counts: by size for VirtualMachines pools, else one count and one size."""
    if pool.kind not in OF_MACHINES:
        return {"count": pool.count, "vmSize": pool.size}
    by_size = {size: sum(one.size == size for one in pool.machines) for size in (BIGGER, pool.size)}
    there = [{"size": size, "count": count} for size, count in by_size.items() if count]
    if pool.kind == "machines":
        return {"virtualMachinesProfile": {"scale": {"manual": there}}, "virtualMachineNodesStatus": there}
    scale = {"autoscale": [{"size": size, "minCount": 0, "maxCount": 10} for size in (BIGGER, pool.size)]}
    return {"virtualMachinesProfile": {"scale": scale}, "virtualMachineNodesStatus": there}


def _surge(pool: Pool) -> Body:
    if pool.kind in SPOT:
        return {}
    if pool.shape.surge == "0":
        return {"maxSurge": "0", "maxUnavailable": "1"}
    return {"maxSurge": pool.shape.surge, "maxUnavailable": "0"} if pool.shape.surge else {}


def _subnets(pool: Pool) -> Body:
    ids, shape = pool.ids, pool.ids.shape
    if not shape.own_subnet:
        return {}
    pods: Body = {"podSubnetID": ids.subnet("pods")} if shape.network in ("dynamic", "blocks") else {}
    if shape.network == "blocks":
        pods["podIPAllocationMode"] = "StaticBlock"
    return {"vnetSubnetID": ids.subnet("nodes"), **pods}


def _special(pool: Pool) -> Body:
    where = f"{pool.ids.group_id}/providers/Microsoft.Compute"
    spot = {"scaleSetPriority": "Spot", "spotMaxPrice": -1}
    return {
        "spot": {**spot, "scaleSetEvictionPolicy": "Delete"},
        "spot-evicted": {**spot, "scaleSetEvictionPolicy": "Deallocate"},
        "reserved": {"capacityReservationGroupID": f"{where}/capacityReservationGroups/reserved"},
        "dedicated": {"hostGroupID": f"{where}/hostGroups/dedicated"},
    }.get(pool.kind, {})
