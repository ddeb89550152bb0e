"""What ties a pool's machines to certain hardware: the more of it, the fewer machines Azure can choose from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from handlers.evidence.wire import dig, text


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the machines of a node pool may stand, and the disks that they need there."""

    proximity_group: str = ""
    host_group: str = ""
    reservation_group: str = ""
    ephemeral_disk: bool = False
    ultra_disk: bool = False


def read_placement(properties: Any) -> Placement:
    """From the wire body of a node pool."""
    return Placement(
        proximity_group=text(properties, "proximityPlacementGroupID"),
        host_group=text(properties, "hostGroupID"),
        reservation_group=text(properties, "capacityReservationGroupID"),
        ephemeral_disk=text(properties, "osDiskType").lower() == "ephemeral",
        ultra_disk=dig(properties, "enableUltraSSD") is True,
    )
