"""Which sizes and zones this subscription may use instead. Whether Azure has machines of them, nobody tells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from handlers.diagnose.quota_demand import quotas_of
from handlers.evidence.azure import AgentPool
from handlers.evidence.compute import ComputeUsages, VmSize, VmSizes
from handlers.model import Unavailable
from runbooks.linear import compile_linear

MOST_NAMED = 5
"""A phone shows about that many names."""
_SERIES = compile_linear(r"^Standard_(?P<series>[A-Z]+)\d+[a-z]*(?:_\w*?v(?P<version>\d+))?")
NEEDED = ("premiumio", "acceleratednetworkingenabled")
"""What a size of a pool can, another one must, too: its disks and its network are set up for that."""


@dataclass(frozen=True, slots=True)
class OpenSize:
    """A size that could take the place of another."""

    name: str
    zones: tuple[str, ...]
    free: int | None
    """Cores left in its family's quota; None where the quotas were not seen."""

    def __str__(self) -> str:
        where = f"zones {', '.join(self.zones)}" if self.zones else "no zones"
        return f"{self.name} ({where}" + (f"; {self.free} cores of quota left)" if self.free is not None else ")")


def open_sizes(
    size: VmSize, pool: AgentPool, sizes: VmSizes, usages: ComputeUsages | Unavailable, nodes: int
) -> tuple[OpenSize, ...]:
    """The nearest sizes of other families: not restricted here, of the same kind, with quota for so many nodes."""
    found = [vm_size for vm_size in sizes.sizes.values() if _could_replace(size, vm_size, pool)]
    found.sort(key=lambda vm_size: _distance(size, vm_size))
    return tuple(_with_room(found, pool, usages, nodes))[:MOST_NAMED]


def _with_room(
    found: list[VmSize], pool: AgentPool, usages: ComputeUsages | Unavailable, nodes: int
) -> Iterator[OpenSize]:
    for size in found:
        free = None
        if not isinstance(usages, Unavailable):
            rows = [usages.row(name) for name in quotas_of(size, spot=pool.spot)]
            free = min((row.free for row in rows if row), default=0)
        if free is None or free >= size.cores * max(1, nodes):
            yield OpenSize(size.name, size.open_zones, free)


def _could_replace(size: VmSize, other: VmSize, pool: AgentPool) -> bool:
    needed = [what for what in NEEDED if what in size.can]
    needed += ["lowprioritycapable"] if pool.spot else []
    return (
        other.family.lower() != size.family.lower()
        and other.cores == size.cores
        and other.memory_gb >= size.memory_gb
        and (other.architecture, other.gpus) == (size.architecture, size.gpus)
        and not other.closed_everywhere
        and (bool(other.open_zones) or not pool.zones)
        and "-" not in other.name  # constrained cores: the licence of fewer, the price of all
        and (not _burstable(other) or _burstable(size))
        and all(what in other.can for what in needed)
    )


def _burstable(size: VmSize) -> bool:
    return size.name.lower().startswith("standard_b")


def _distance(size: VmSize, other: VmSize) -> tuple[bool, float, int, str]:
    mine, its = _SERIES.search(size.name), _SERIES.search(other.name)
    another = not mine or not its or mine["series"] != its["series"]
    version = abs(int((mine and mine["version"]) or 1) - int((its and its["version"]) or 1))
    return another, other.memory_gb - size.memory_gb, version, other.name
