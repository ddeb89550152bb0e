"""What Compute returns: scale sets, instances, standalone VMs, sizes and quotas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from sandbox.blueprint.sizes import FAMILIES, SIZES, sku_rows
from tests.worlds.ids import LOCATION, MADE, Body, Ids, wire
from tests.worlds.network import security_group
from tests.worlds.pools import OF_MACHINES, SPOT, Machine, Pool

_SKUS = list(sku_rows([LOCATION]))
"""Read only: the same in every world."""
_OK = {"code": "ProvisioningState/succeeded", "level": "Info", "displayStatus": "Provisioning succeeded"}
OTHERS = 120
"""Cores used by other clusters and VMs of the subscription in the region."""


def compute_bodies(ids: Ids, pools: Iterable[Pool], auto: Iterable[Machine]) -> Iterator[Body]:
    for pool in pools:
        if pool.kind in OF_MACHINES or pool.kind == "availability-set":
            yield from (lone_machine(ids, one) for one in pool.machines)
        elif pool.has_scale_set:
            yield scale_set(pool)
            yield from (instance(pool, one) for one in pool.machines)
    yield from (lone_machine(ids, one) for one in auto)
    for group in ("capacityReservationGroups/reserved", "hostGroups/dedicated"):
        name = group.partition("/")[2]
        where = f"{ids.group_id}/providers/Microsoft.Compute/{group}"
        if any(pool.kind == name for pool in pools):
            yield {"id": where, "name": name, "location": LOCATION, "properties": {"provisioningState": "Succeeded"}}


def scale_set(pool: Pool) -> Body:
    name = pool.ids.scale_set(pool.name).rsplit("/", 1)[-1]
    profile: Body = {"osProfile": {"computerNamePrefix": name.removesuffix("vmss")}}
    if pool.ids.shape.own_subnet:
        interface = {"name": name, "properties": {"networkSecurityGroup": {"id": security_group(pool.ids)}}}
        profile["networkProfile"] = {"networkInterfaceConfigurations": [interface]}
    if pool.kind in SPOT:
        profile |= {"priority": "Spot", "evictionPolicy": "Delete" if pool.kind == "spot" else "Deallocate"}
    if pool.kind == "reserved":
        profile["capacityReservation"] = {"capacityReservationGroup": {"id": _reservation(pool.ids)}}
    return {
        "id": pool.ids.scale_set(pool.name),
        "name": name,
        "type": "Microsoft.Compute/virtualMachineScaleSets",
        "location": LOCATION,
        "tags": _tags(pool),
        "sku": {"name": pool.size, "tier": "Standard", "capacity": len(pool.machines)},
        "properties": {
            "provisioningState": pool.set_state,
            "orchestrationMode": "Uniform",
            "upgradePolicy": {"mode": "Manual"},
            "virtualMachineProfile": profile,
            "timeCreated": wire(MADE),
        },
    }


def instance(pool: Pool, one: Machine) -> Body:
    """One instance of a scale set. Half of them are not on the latest model, which is normal."""
    return {
        "id": one.id,
        "name": f"{one.id.split('/')[-3]}_{one.number}",
        "instanceId": str(one.number),
        "type": "Microsoft.Compute/virtualMachineScaleSets/virtualMachines",
        "location": LOCATION,
        "tags": _tags(pool),
        "sku": {"name": one.size, "tier": "Standard"},
        "properties": {
            "latestModelApplied": pool.ids.seed % 2 == 0,
            "provisioningState": one.state,
            "hardwareProfile": {"vmSize": one.size},
            "osProfile": {"computerName": one.node},
            "instanceView": _view(one),
            "timeCreated": wire(one.age),
        },
    }


def lone_machine(ids: Ids, one: Machine) -> Body:
    """A VM outside a scale set: of a VirtualMachines pool, an availability set, or auto-provisioned."""
    sets = f"{ids.compute}/providers/Microsoft.Compute/availabilitySets/{one.pool}-availabilitySet-{ids.suffix}"
    placed = {"availabilitySet": {"id": sets}} if one.kind == "availability-set" else {}
    return {
        "id": one.id,
        "name": one.node,
        "type": "Microsoft.Compute/virtualMachines",
        "location": LOCATION,
        "tags": _lone_tags(ids, one),
        "properties": {
            "provisioningState": one.state,
            "hardwareProfile": {"vmSize": one.size},
            "osProfile": {"computerName": one.node},
            **placed,
            "instanceView": _view(one),
            "timeCreated": wire(one.age),
        },
    }


def _view(one: Machine) -> Body:
    if one.state == "Creating":
        status = {"code": "ProvisioningState/creating", "level": "Info", "displayStatus": "Creating"}
        return {"statuses": [status]}
    power = {"code": f"PowerState/{one.power}", "level": "Info", "displayStatus": f"VM {one.power}"}
    return {
        "computerName": one.node,
        "statuses": [{**_OK, "time": wire(one.age)}, power],
        "extensions": [{"name": "vmssCSE", "statuses": [_OK]}, {"name": "AKSLinuxBilling"}],
    }


def _tags(pool: Pool) -> Body:
    """AKS's tags, in the various formats it has used over time."""
    name = "AKS-Managed-PoolName" if "other-tags" in pool.ids.shape.oddities else "aks-managed-poolName"
    return {name: pool.name, "aks-managed-createOperationID": "x", "team": "platform"}


def _lone_tags(ids: Ids, one: Machine) -> Body:
    if one.kind == "auto":
        return {"karpenter.azure.com_cluster": ids.name, "karpenter.sh_nodepool": "default"}
    if one.kind == "availability-set":
        return {"poolName": one.pool, "orchestrator": f"Kubernetes:{one.version}", "resourceNameSuffix": ids.suffix}
    return {"aks-managed-poolName": one.pool, "compute.aks.billing": "linux"}


def _reservation(ids: Ids) -> str:
    return f"{ids.group_id}/providers/Microsoft.Compute/capacityReservationGroups/reserved"


def sku_table() -> list[Body]:
    return _SKUS


def usage_rows(ids: Ids, pools: Iterable[Pool], auto: Iterable[Machine]) -> list[Body]:
    """The quotas, with capacity for the next upgrade of any pool: ample, or (for a tight quota) just enough."""
    pools = tuple(pools)
    running = [one for one in (*(one for pool in pools for one in pool.machines), *auto) if one.power == "running"]
    spot = sum(one.cores for one in running if one.kind in SPOT)
    used: Counter[str] = Counter()
    for one in running:
        if one.kind not in SPOT:
            used[SIZES[one.size].family] += one.cores
    surge: Counter[str] = Counter()
    for pool in pools:
        missing = pool.count - len(pool.machines) if pool.state in ("Creating", "Scaling") else 0
        surge[SIZES[pool.size].family] += (pool.surge + max(0, missing)) * SIZES[pool.size].cores
    tight = "tight-quota" in ids.shape.oddities
    rows = [
        _row(family, label, used[family], used[family] + (surge[family] if tight else surge[family] + 100))
        for family, label in FAMILIES.items()
    ]
    whole = used.total() + OTHERS
    rows.append(_row("cores", "Total Regional vCPUs", whole, whole + surge.total() + (0 if tight else 200)))
    low = sum(SIZES[pool.size].cores * (pool.count + pool.surge) for pool in pools if pool.kind in SPOT)
    rows.append(_row("lowPriorityCores", "Total Regional Low-priority vCPUs", spot, low if tight else low + 50))
    return rows


def _row(name: str, label: str, used: int, limit: int) -> Body:
    return {
        "name": {"value": name, "localizedValue": label},
        "currentValue": used,
        "limit": limit,
        "unit": "Count",
    }
