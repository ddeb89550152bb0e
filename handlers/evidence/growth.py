"""How many nodes each pool wants beyond those it has: the missing ones, and those an upgrade adds for a while."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from handlers.engine.declare import collector
from handlers.evidence.azure import AgentPool, AgentPools
from handlers.evidence.compute import Instance, Instances, ScaleSets
from handlers.evidence.pool_sizes import SCALE_SETS
from handlers.model import Evidence, Unavailable, Why

DEFAULT_SURGE = "10%"
"""What AKS uses where a pool does not say (upgradeSettings.maxSurge)."""


@dataclass(frozen=True, slots=True)
class WantedOfSize:
    """What a pool wants of one VM size."""

    size: str
    missing: int
    surge: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """The nodes that one pool wants beyond those it has."""

    pool: AgentPool
    by_size: tuple[WantedOfSize, ...]

    @property
    def missing(self) -> int:
        return sum(size.missing for size in self.by_size)

    @property
    def surge(self) -> int:
        return sum(size.surge for size in self.by_size)


@dataclass(frozen=True, kw_only=True)
class Growth(Evidence):
    """What every running pool wants. Whether nodes are missing is not known where the instances were not seen."""

    pools: tuple[Wanted, ...]


@collector(reads=())
async def growth(pools: AgentPools, sets: ScaleSets | Unavailable, instances: Instances | Unavailable) -> Growth:
    """the nodes that the pools want"""
    gaps = [item for item in (sets, instances) if isinstance(item, Unavailable)]
    gaps += instances.gaps if isinstance(instances, Instances) else ()
    wanted = []
    for pool in pools.pools:
        if pool.stopped or pool.state.lower() == "deleting":
            continue
        if isinstance(sets, ScaleSets) and not _is_being_made(pool) and _lost_its_scale_set(pool, sets):
            detail = f"no scale set of the node resource group is tagged as pool {pool.name}'s"
            gaps.append(Unavailable(f"the machines of pool {pool.name}", Why.ABSENT, detail))
            wanted.append(_wanted(pool, None))
        else:
            seen = instances if isinstance(instances, Instances) and instances.complete else None
            wanted.append(_wanted(pool, seen.of(pool) if seen else None))
    return Growth(
        source=pools.source,
        taken_at=pools.taken_at,
        truncated=pools.truncated or (isinstance(instances, Instances) and instances.truncated),
        gaps=tuple(dict.fromkeys(gaps)),
        pools=tuple(wanted),
    )


def _is_being_made(pool: AgentPool) -> bool:
    """AKS takes the request, then makes the scale set: all of its nodes are still to come."""
    return pool.state.lower() == "creating"


def surge_nodes(pool: AgentPool) -> int:
    """Nodes that an upgrade adds: a count, or a share of the pool rounded up; never more than the pool has.

    None for spot pools: AKS takes their nodes away and does not bring others first. A blue-green upgrade brings as many
    as the pool has (learn.microsoft.com/azure/aks/blue-green-node-pool-upgrade: "double the node capacity").
    """
    if pool.spot:
        return 0
    if pool.rolling.blue_green:
        return pool.count
    asked = pool.max_surge or DEFAULT_SURGE
    return share_of(asked, pool.count) if asked.rstrip("%").isdigit() else min(1, pool.count)


def share_of(asked: str, nodes: int) -> int:
    """A count, or a share of so many nodes rounded up."""
    number = asked.rstrip("%")
    if not number.isdigit():
        return 0
    found = math.ceil(nodes * int(number) / 100) if asked.endswith("%") else int(number)
    return min(found, nodes)


def _wanted(pool: AgentPool, machines: tuple[Instance, ...] | None) -> Wanted:
    """What is missing is not known where the machines were not seen, nor which surge nodes of an upgrade stand."""
    missing = _missing(pool, machines) if machines is not None else [0] * len(pool.sizes)
    # Surge nodes that stand already need no more room.
    surplus = max(0, len(machines or ()) - pool.count)
    surge = 0 if machines is None and pool.busy else max(0, surge_nodes(pool) - surplus)
    # AKS does not say which size they will have: that of most nodes is the likeliest.
    most = max(range(len(pool.sizes)), key=lambda at: pool.sizes[at].wanted, default=0)
    return Wanted(
        pool,
        tuple(WantedOfSize(size.size, missing[at], surge if at == most else 0) for at, size in enumerate(pool.sizes)),
    )


def _missing(pool: AgentPool, machines: tuple[Instance, ...]) -> list[int]:
    """By size; a machine whose size was not told may be any of them."""
    if len(pool.sizes) == 1:
        return [max(0, pool.count - len(machines))]
    standing = Counter(machine.size.lower() for machine in machines)
    unreported_outcomes = standing.pop("", 0)
    missing = []
    for size in pool.sizes:
        lacks = max(0, size.wanted - standing[size.size.lower()])
        missing.append(max(0, lacks - unreported_outcomes))
        unreported_outcomes = max(0, unreported_outcomes - lacks)
    return missing


def _lost_its_scale_set(pool: AgentPool, sets: ScaleSets) -> bool:
    """A pool whose creation failed has none yet; for any other, not to find it is a gap, and not zero machines."""
    return pool.type.lower() == SCALE_SETS and sets.of(pool) is None and not pool.failed
