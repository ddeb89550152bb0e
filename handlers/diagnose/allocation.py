"""What is known of a pool that Azure could not place: its size, its zones, what ties it down, and what is open instead.

Azure's error is the proof. Restrictions and reservations only support it: how many machines are free is told to nobody.
"""

from __future__ import annotations

from dataclasses import dataclass

from handlers.diagnose.open_sizes import OpenSize, open_sizes
from handlers.diagnose.refused_nodes import Refusal
from handlers.evidence.azure import AgentPool, ManagedCluster
from handlers.evidence.compute import ComputeUsages, VmSize, VmSizes
from handlers.model import Unavailable
from handlers.resource_id import last_name
from runbooks.linear import compile_linear

_SIZE = compile_linear(r"\b(?:Standard|Basic)_[A-Z][A-Za-z0-9_-]{1,40}")


@dataclass(frozen=True, slots=True)
class Place:
    """Where one pool's machines should have come from."""

    cluster: ManagedCluster
    pool: AgentPool | None
    size_name: str
    size: VmSize | None
    sizes_seen: bool
    instead: tuple[OpenSize, ...]

    @classmethod
    def of(
        cls,
        cluster: ManagedCluster,
        refusal: Refusal,
        sizes: VmSizes | Unavailable,
        usages: ComputeUsages | Unavailable,
    ) -> Place:
        pool = refusal.pool
        named = _SIZE.search(refusal.error.message)
        name = named[0] if named else pool.vm_size if pool else ""
        if isinstance(sizes, Unavailable):
            return cls(cluster, pool, name, None, sizes_seen=False, instead=())
        size = sizes.of(name)
        instead = open_sizes(size, pool, sizes, usages, refusal.missing or 1) if size and pool else ()
        return cls(cluster, pool, name, size, sizes_seen=True, instead=instead)

    @property
    def zones(self) -> tuple[str, ...]:
        return self.pool.zones if self.pool else ()

    @property
    def other_zones(self) -> tuple[str, ...]:
        """Zones where the size is open to this subscription, and where the pool is not."""
        found = self.size.open_zones if self.size else ()
        return tuple(zone for zone in found if zone not in self.zones) if self.zones else ()

    @property
    def closed(self) -> tuple[str, ...]:
        """Why this size cannot be had here at all: it is restricted for the subscription, or not offered."""
        if not self.sizes_seen or not self.size_name:
            return ()
        if self.size is None:
            return (f"{self.size_name} is not offered in {self.cluster.location}",)
        lacks = [zone for zone in self.zones if self.size.zones and zone not in self.size.zones]
        found = [f"{self.size_name}: {item}" for item in self.size.closed_to(self.zones)]
        return (*found, *([f"{self.size_name} is not offered in zone {', '.join(lacks)}"] if lacks else []))

    @property
    def ties(self) -> tuple[str, ...]:
        """What ties the pool's machines to certain hardware, beside size and zones."""
        placement = self.pool.placement if self.pool else None
        if placement is None:
            return ()
        groups = (
            ("proximity placement group", placement.proximity_group, "all its machines stand in one datacentre"),
            ("host group", placement.host_group, "only its own dedicated hosts count"),
            ("capacity reservation group", placement.reservation_group, "beyond it Azure promises nothing"),
        )
        return tuple(f"the pool is in {what} {last_name(group)}: {so}" for what, group, so in groups if group)

    def lines(self) -> tuple[str, ...]:
        """What supports the proof, and what it leaves open."""
        asked = f" in zones {', '.join(self.zones)}" if self.zones else ", in no zone of its own"
        what = [f"pool {self.pool.name} asks for {self.size_name}{asked}"] if self.pool else []
        if not self.sizes_seen:
            what.append("which sizes and zones this subscription may use was not seen")
        elif self.size and not self.closed:
            where = f" in zones {', '.join(self.size.open_zones)}" if self.size.open_zones else ""
            what.append(f"{self.size_name} is not restricted for this subscription{where}")
            what.append("how many machines of a size are free, Azure does not say")
        return (*what, *self.closed, *self.ties)

    def facts(self) -> dict[str, object]:
        pool = self.pool
        placement = pool.placement if pool else None
        return {
            "size": self.size_name,
            "location": self.cluster.location,
            "zones": list(self.zones),
            "other_zones": list(self.other_zones),
            "open_zones": list(self.size.open_zones) if self.size else [],
            "closed": list(self.closed),
            "sizes_seen": self.sizes_seen,
            "instead": [str(size) for size in self.instead],
            "next_size": self.instead[0].name if self.instead else "",
            "next_zones": list(self.instead[0].zones) if self.instead else [],
            "proximity_group": placement.proximity_group if placement else "",
            "host_group": placement.host_group if placement else "",
            "reservation_group": placement.reservation_group if placement else "",
            "ephemeral": bool(placement and placement.ephemeral_disk),
            "ultra": bool(placement and placement.ultra_disk),
            "pool": pool.name if pool else "",
            "pool_id": pool.id if pool else "",
            "failed": bool(pool and pool.failed),
            "mode": pool.mode if pool else "",
            "os": (pool.os if pool else "") or "Linux",
            "spot": bool(pool and pool.spot),
            "max_pods": pool.max_pods if pool else 0,
            "nodes": max(1, pool.count) if pool else 1,
            "nodes_subnet": pool.subnet if pool else "",
            "pods_subnet": pool.pod_subnet if pool else "",
            "provisioning": self.pool is None and self.cluster.makes_own_nodes,
            "cluster": self.cluster.name,
            "node_group": self.cluster.node_group,
            "cluster_id": self.cluster.id,
            "group": self.cluster.group,
            "subscription": self.cluster.subscription,
        }
