"""How many nodes each pool wants beyond those it has: the missing ones, and those an upgrade adds for a while."""

from __future__ import annotations

import math
from dataclasses import dataclass

from handlers.engine.declare import collector
from handlers.evidence.azure import AgentPool, AgentPools
from handlers.evidence.compute import SCALE_SET_POOL, Instances, ScaleSets
from handlers.model import Evidence, Unavailable, Why

DEFAULT_SURGE = "10%"
"""What AKS uses where a pool does not say (upgradeSettings.maxSurge)."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The nodes that one pool wants beyond those it has."""

    pool: AgentPool
    missing: int
    surge: int


@dataclass(frozen=True, kw_only=True)
class Growth(Evidence):
    """What every running pool wants. Whether nodes are missing is not known where the instances were not seen."""

    pools: tuple[Wanted, ...]


@collector(reads=())
async def growth(pools: AgentPools, sets: ScaleSets | Unavailable, instances: Instances | Unavailable) -> Growth:
    """the nodes that the pools want"""
    gaps = [one for one in (sets, instances) if isinstance(one, Unavailable)]
    gaps += instances.gaps if isinstance(instances, Instances) else ()
    wanted = []
    for pool in pools.pools:
        if pool.stopped or pool.state.lower() == "deleting":
            continue
        if isinstance(sets, ScaleSets) and not _is_being_made(pool) and _lost_its_scale_set(pool, sets):
            detail = f"no scale set of the node resource group is tagged as pool {pool.name}'s"
            gaps.append(Unavailable(f"the machines of pool {pool.name}", Why.ABSENT, detail))
            wanted.append(Wanted(pool, 0, surge_nodes(pool)))
        else:
            wanted.append(_wanted(pool, instances))
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

    None for spot pools: AKS takes their nodes away and does not bring others first.
    """
    if pool.spot:
        return 0
    asked = pool.max_surge or DEFAULT_SURGE
    return share_of(asked, pool.count) if asked.rstrip("%").isdigit() else min(1, pool.count)


def share_of(asked: str, nodes: int) -> int:
    """A count, or a share of so many nodes rounded up."""
    number = asked.rstrip("%")
    if not number.isdigit():
        return 0
    found = math.ceil(nodes * int(number) / 100) if asked.endswith("%") else int(number)
    return min(found, nodes)


def _wanted(pool: AgentPool, instances: Instances | Unavailable) -> Wanted:
    """Surge nodes that stand already need no more room."""
    if isinstance(instances, Unavailable) or not instances.complete:
        return Wanted(pool, 0, surge_nodes(pool))
    standing = len(instances.of(pool))
    surplus = max(0, standing - pool.count)
    return Wanted(pool, max(0, pool.count - standing), max(0, surge_nodes(pool) - surplus))


def _lost_its_scale_set(pool: AgentPool, sets: ScaleSets) -> bool:
    """A pool whose creation failed has none yet; for any other, not to find it is a gap, and not zero machines."""
    return pool.type.lower() == SCALE_SET_POOL and sets.of(pool) is None and not pool.failed
