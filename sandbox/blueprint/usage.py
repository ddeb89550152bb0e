"""Quotas: what the fleet uses of them is counted from its pools, never written down twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from sandbox.blueprint.fleet import PoolSpec, QuotaSpec
from sandbox.blueprint.sizes import FAMILIES, SIZES
from sandbox.world import Body

REGIONAL, SPOT, MACHINES, SETS = "cores", "lowPriorityCores", "virtualMachines", "virtualMachineScaleSets"
AVAILABILITY = "availabilitySets"
USUAL_LIMIT = 100
_LABELS = {
    AVAILABILITY: "Availability Sets",
    REGIONAL: "Total Regional vCPUs",
    MACHINES: "Virtual Machines",
    SETS: "Virtual Machine Scale Sets",
    "dedicatedVCpus": "Dedicated vCPUs",
    SPOT: "Total Regional Spot vCPUs",
    **FAMILIES,
    "PremiumDiskCount": "Premium Storage Managed Disks",
    "StandardSSDDiskCount": "StandardSSD Storage Managed Disks",
}
_LIMITS = {
    AVAILABILITY: 2500,
    REGIONAL: 500,
    MACHINES: 25_000,
    SETS: 2500,
    "dedicatedVCpus": 3000,
    "PremiumDiskCount": 50_000,
    "StandardSSDDiskCount": 50_000,
}


def compute_usages(pools: Iterable[PoolSpec], quotas: Mapping[str, QuotaSpec]) -> list[Body]:
    """The compute rows of one region: the regional total is the sum of the families, spot counts apart."""
    used: Counter[str] = Counter({name: spec.other for name, spec in quotas.items()})
    for pool in pools:
        for size in map(SIZES.__getitem__, pool.machine_sizes):
            used[SPOT if pool.spot else size.family] += size.cores
        used[MACHINES] += pool.machine_count
        used[SETS] += pool.type == "VirtualMachineScaleSets"
        used[AVAILABILITY] += pool.type == "AvailabilitySet"
    used[REGIONAL] += sum(used[family] for family in FAMILIES)
    rows = []
    for name, label in _LABELS.items():
        asked = quotas.get(name)
        limit = asked.limit if asked and asked.limit is not None else _LIMITS.get(name, USUAL_LIMIT)
        rows.append(_row(name, label, used[name], limit))
    return rows


def network_usages(scope: str, counts: Mapping[str, int]) -> list[Body]:
    """The network rows of one region, by what it holds of each kind."""
    labels = {
        "VirtualNetworks": ("Virtual Networks", 1000),
        "PublicIPAddresses": ("Public IP Addresses", 1000),
        "StaticPublicIPAddresses": ("Static Public IP Addresses", 1000),
        "StandardSkuPublicIpAddresses": ("Public IPv4 Addresses - Standard", 100),
        "LoadBalancers": ("Load Balancers", 1000),
        "StandardSkuLoadBalancers": ("Standard Sku Load Balancers", 1000),
        "NetworkSecurityGroups": ("Network Security Groups", 5000),
        "RouteTables": ("Route Tables", 200),
        "PrivateEndpoints": ("Private Endpoints", 65536),
    }
    return [
        {
            "currentValue": counts.get(name, 0),
            "id": f"{scope}/usages/{name}",
            "limit": limit,
            "name": {"localizedValue": label, "value": name},
            "unit": "Count",
            "isAdjustable": True,
        }
        for name, (label, limit) in labels.items()
    ]


def _row(name: str, label: str, used: int, limit: int) -> Body:
    return {
        "limit": limit,
        "unit": "Count",
        "currentValue": used,
        "name": {"value": name, "localizedValue": label},
    }
