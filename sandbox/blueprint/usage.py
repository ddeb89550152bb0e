"""Quota usage, computed from the fleet's node pools so that it is never stated twice."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from sandbox.blueprint.fleet import Fleet, PoolSpec, QuotaSpec
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
_NETWORK = {
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
_USAGES = re.compile(r"/subscriptions/[^/]+/providers/[^/]+/locations/[^/]+/usages", re.IGNORECASE)


def compute_usages(pools: Iterable[PoolSpec], quotas: Mapping[str, QuotaSpec]) -> list[Body]:
    """The compute quota rows of one region: the regional total is the sum of the families, with spot separate."""
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
        rows.append(usage_row(name, label, used[name], limit))
    return rows


def network_usages(scope: str, counts: Mapping[str, int], quotas: Mapping[str, QuotaSpec]) -> list[Body]:
    """The network quota rows of one region: the fleet's resources by kind, plus other usage."""
    rows = []
    for name, (label, usual) in _NETWORK.items():
        asked = quotas.get(name, QuotaSpec())
        limit = usual if asked.limit is None else asked.limit
        row = usage_row(name, label, counts.get(name, 0) + asked.other, limit)
        rows.append({**row, "id": f"{scope}/usages/{name}", "isAdjustable": True})
    return rows


def unknown_rows(fleet: Fleet) -> Iterator[tuple[str, str]]:
    """Quotas for rows that do not exist: the key and the reason."""
    for subscription, regions in fleet.quotas.items():
        for location, rows in regions.items():
            for name in set(rows) - {*_LABELS, *_NETWORK}:
                yield f"quotas.{subscription}.{location}.{name}", "is no compute or network quota that is counted here"


def is_usages(path: str) -> bool:
    """Whether a path is a provider's regional usages list."""
    return bool(_USAGES.fullmatch(path))


def usage_row(name: str, label: str, used: int, limit: int) -> Body:
    return {
        "limit": limit,
        "unit": "Count",
        "currentValue": used,
        "name": {"value": name, "localizedValue": label},
    }
