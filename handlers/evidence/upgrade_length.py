"""How long an upgrade may take before it is slow: as long as the settings of its pools let it wait for pods."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from handlers.evidence.azure import AgentPool
from handlers.evidence.growth import share_of, surge_nodes

NODE_COMES = timedelta(minutes=10)
"""A machine is made or given its new image, boots and joins: some five minutes, and twice that on a slow day."""


@dataclass(frozen=True, slots=True)
class PoolLength:
    """The longest that one pool takes its turn, and the sum that says why."""

    pool: AgentPool
    length: timedelta
    sum: str


def rolls(state: str) -> bool:
    """Whether nodes are replaced one batch after the other in this provisioning state."""
    return state.lower().startswith(("upgrading", "rotating"))


def lengths(pools: Iterable[AgentPool]) -> tuple[PoolLength, ...]:
    """Pools take their turns one after the other."""
    return tuple(_blue_green(pool) if pool.rolling.blue_green else _rolling(pool) for pool in pools if not pool.stopped)


def _rolling(pool: AgentPool) -> PoolLength:
    at_once = max(1, surge_nodes(pool), share_of(pool.max_unavailable, pool.count))
    batches, how = math.ceil(max(pool.count, 1) / at_once), pool.rolling
    each = NODE_COMES + how.drain_timeout + how.soak
    parts = f"{spoken(NODE_COMES)} for a node to come + {spoken(how.drain_timeout)} drainTimeoutInMinutes"
    soak = f" + {spoken(how.soak)} nodeSoakDurationInMinutes" if how.soak else ""
    whole = batches * each
    left = f"; a node that cannot be drained is left behind ({how.undrainable})" if how.undrainable else ""
    return PoolLength(pool, whole, f"{_nodes(pool, at_once)}: {batches} × ({parts}{soak}) = {spoken(whole)}{left}")


def _blue_green(pool: AgentPool) -> PoolLength:
    how = pool.rolling
    at_once = max(1, share_of(how.batch, pool.count))
    batches = math.ceil(max(pool.count, 1) / at_once)
    whole = NODE_COMES + batches * (how.drain_timeout + how.soak) + how.final_soak
    parts = f"{spoken(how.drain_timeout)} drainTimeoutInMinutes + {spoken(how.soak)} batchSoakDurationInMinutes"
    return PoolLength(
        pool,
        whole,
        f"{_nodes(pool, at_once)}, blue-green: {spoken(NODE_COMES)} for the new nodes + {batches} × ({parts}) "
        f"+ {spoken(how.final_soak)} finalSoakDurationInMinutes = {spoken(whole)}",
    )


def _nodes(pool: AgentPool, at_once: int) -> str:
    return f"pool {pool.name}, {pool.count} nodes, {at_once} at a time"


def spoken(length: timedelta) -> str:
    minutes = int(length.total_seconds() // 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min"
