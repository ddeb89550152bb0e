"""The VM sizes that a fleet may use, and a few more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sandbox.world import Body


@dataclass(frozen=True, slots=True)
class Size:
    """One row of the size table."""

    name: str
    family: str
    label: str
    """The family's display name in usages."""
    cores: int
    memory_gb: int
    zones: tuple[str, ...] = ("1", "2", "3")
    not_in: tuple[str, ...] = ()
    """Locations where the size is restricted for the subscription."""


_ROWS = (
    Size("Standard_B4ms", "standardBSFamily", "Standard BS Family vCPUs", 4, 16),
    Size("Standard_D4as_v5", "standardDASv5Family", "Standard DASv5 Family vCPUs", 4, 16),
    Size("Standard_D8as_v5", "standardDASv5Family", "Standard DASv5 Family vCPUs", 8, 32),
    Size("Standard_D4ds_v5", "standardDDSv5Family", "Standard DDSv5 Family vCPUs", 4, 16),
    Size("Standard_D8ds_v5", "standardDDSv5Family", "Standard DDSv5 Family vCPUs", 8, 32),
    Size("Standard_D4s_v5", "standardDSv5Family", "Standard DSv5 Family vCPUs", 4, 16),
    Size("Standard_D8s_v5", "standardDSv5Family", "Standard DSv5 Family vCPUs", 8, 32),
    Size("Standard_D16s_v5", "standardDSv5Family", "Standard DSv5 Family vCPUs", 16, 64),
    Size("Standard_E8s_v5", "standardESv5Family", "Standard ESv5 Family vCPUs", 8, 64),
    Size("Standard_F8s_v2", "standardFSv2Family", "Standard FSv2 Family vCPUs", 8, 16),
    Size("Standard_D4pds_v5", "standardDPDSv5Family", "Standard DPDSv5 Family vCPUs", 4, 16, ("1", "2")),
    Size(
        "Standard_NC4as_T4_v3",
        "Standard NCASv3_T4 Family",
        "Standard NCASv3_T4 Family vCPUs",
        4,
        28,
        ("1",),
        ("northeurope",),
    ),
)

SIZES = {size.name: size for size in _ROWS}
FAMILIES = {size.family: size.label for size in _ROWS}


def sku_rows(locations: Iterable[str]) -> Iterator[Body]:
    """Rows of `Microsoft.Compute/skus`: one for each size and location."""
    for location in locations:
        for size in SIZES.values():
            yield _row(size, location)


def _row(size: Size, location: str) -> Body:
    version = size.name.rsplit("_", 1)[-1]
    return {
        "resourceType": "virtualMachines",
        "name": size.name,
        "tier": "Standard",
        "size": size.name.removeprefix("Standard_"),
        "family": size.family,
        "locations": [location],
        "locationInfo": [{"location": location, "zones": list(size.zones), "zoneDetails": []}],
        "capabilities": [
            {"name": "MaxResourceVolumeMB", "value": str(size.cores * 37_500)},
            {"name": "OSVhdSizeMB", "value": "1047552"},
            {"name": "vCPUs", "value": str(size.cores)},
            {"name": "MemoryGB", "value": str(size.memory_gb)},
            {"name": "HyperVGenerations", "value": "V1,V2" if version == "v2" else "V2"},
            {"name": "CpuArchitectureType", "value": "Arm64" if "pds" in size.name else "x64"},
            {"name": "LowPriorityCapable", "value": "True"},
            {"name": "PremiumIO", "value": "True"},
            {"name": "vCPUsAvailable", "value": str(size.cores)},
            {"name": "EphemeralOSDiskSupported", "value": "True" if "ds_" in size.name else "False"},
            {"name": "AcceleratedNetworkingEnabled", "value": "True"},
            {"name": "MaxNetworkInterfaces", "value": "4"},
        ],
        "restrictions": [_restriction(location)] if location in size.not_in else [],
    }


def _restriction(location: str) -> Body:
    return {
        "type": "Location",
        "values": [location],
        "restrictionInfo": {"locations": [location]},
        "reasonCode": "NotAvailableForSubscription",
    }
