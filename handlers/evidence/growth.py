"""How many nodes each pool wants beyond those it has: the missing ones, and those an upgrade adds for a while."""

from __future__ import annotations

import math
from dataclasses import dataclass

from handlers.engine.declare import collector
from handlers.evidence.azure import AgentPool, AgentPools
from handlers.evidence.compute import Instances
from handlers.model import Evidence, Unavailable

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
async def growth(pools: AgentPools, instances: Instances | Unavailable) -> Growth:
    """the nodes that the pools want"""
    running = [pool for pool in pools.pools if not pool.stopped]
    return Growth(
        source=pools.source,
        taken_at=pools.taken_at,
        truncated=pools.truncated,
        gaps=_gaps(instances),
        pools=tuple(Wanted(pool, _missing(pool, instances), surge_nodes(pool)) for pool in running),
    )


def surge_nodes(pool: AgentPool) -> int:
    """Nodes that an upgrade adds: a count, or a share of the pool rounded up."""
    asked = pool.max_surge or DEFAULT_SURGE
    number = asked.rstrip("%")
    if not number.isdigit():
        return 1
    return math.ceil(pool.count * int(number) / 100) if asked.endswith("%") else int(number)


def _missing(pool: AgentPool, instances: Instances | Unavailable) -> int:
    if not isinstance(instances, Instances) or not instances.complete:
        return 0
    return max(0, pool.count - len(instances.of(pool)))


def _gaps(instances: Instances | Unavailable) -> tuple[Unavailable, ...]:
    if isinstance(instances, Unavailable):
        return (instances,)
    return instances.gaps if isinstance(instances, Instances) else ()
