"""How many nodes of which VM size a node pool asks for.

A pool of type VirtualMachines has no count and no size of its own: `virtualMachinesProfile.scale` holds rows of
`{size, count}` (manual) or `{size, minCount, maxCount}` (autoscale), `virtualMachineNodesStatus` what runs of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from handlers.evidence.wire import dig, need_number, number, rows, text

SCALE_SETS, MACHINES = "virtualmachinescalesets", "virtualmachines"
"""The types of node pools, in lower case."""


@dataclass(frozen=True, slots=True)
class SizedNodes:
    """A pool's nodes of one VM size."""

    size: str
    wanted: int
    """What the pool asks for. Where the cluster autoscaler decides: what runs, within its limits."""
    most: int = 0
    """Up to how many the cluster autoscaler may go."""
    autoscaled: bool = False

    def __str__(self) -> str:
        return f"{self.wanted} × {self.size or 'unknown size'}"


def sized_nodes(properties: Any) -> tuple[SizedNodes, ...]:
    """From an agent pool's properties. A row for every size, also for one that has no node now."""
    kind = text(properties, "type").lower()
    if kind == MACHINES:
        return tuple(_of_machines(properties))
    # A pool of a newer kind may have no count yet; one of a scale set always does.
    count = need_number(properties, "count") if kind == SCALE_SETS else number(properties, "count")
    autoscaled = dig(properties, "enableAutoScaling") is True
    return (SizedNodes(text(properties, "vmSize"), count, number(properties, "maxCount"), autoscaled),)


def _of_machines(properties: Any) -> Iterator[SizedNodes]:
    scale = dig(properties, "virtualMachinesProfile", "scale")
    running = {text(row, "size").lower(): row for row in rows(properties, "virtualMachineNodesStatus")}
    manual, autoscale = rows(scale, "manual"), _limits(scale)
    for row in manual:
        yield SizedNodes(text(row, "size"), number(row, "count"))
    for row in autoscale:
        least, most = number(row, "minCount"), number(row, "maxCount")
        now = number(running.get(text(row, "size").lower()), "count")
        yield SizedNodes(text(row, "size"), min(max(now, least), max(most, least)), most, autoscaled=True)
    if not manual and not autoscale:  # nobody set a number: machines of node auto-provisioning, or none at all
        for row in running.values():
            yield SizedNodes(text(row, "size"), number(row, "count"))


def _limits(scale: Any) -> list[Mapping[str, Any]]:
    """A list; previews had one object."""
    alone = dig(scale, "autoscale")
    return [alone] if isinstance(alone, Mapping) else rows(scale, "autoscale")
