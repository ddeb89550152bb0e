"""Which nodes a PUT of a cluster or pool could replace, although its body changes nothing.

Azure brings a pool to its configured state. A node that differs from it would be replaced, so such a PUT is an upgrade,
not a repair: it never gets a button.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from handlers.evidence.azure import AgentPool
from handlers.evidence.cluster import Node, Nodes
from handlers.remedy.plan import Forbidden
from handlers.remedy.reasons import some
from handlers.version import meets

_FINISH = "finish the upgrade, or take it back, by the steps of upgrade-half-done; then check again"


def could_roll(pools: Iterable[AgentPool], nodes: Nodes) -> Iterator[Forbidden]:
    """Every reason to expect that a PUT of these pools would replace or remove a node."""
    if not nodes.complete:
        yield Forbidden(
            "not all nodes could be seen, so it is unknown which of them a PUT would replace", "check again"
        )
    for pool in pools:
        if pool.stopped:
            continue
        mine = nodes.of(pool.name)
        yield from _half_done(pool, mine)
        yield from _surplus(pool, mine)


def as_they_are(pools: Iterable[AgentPool], nodes: Nodes) -> Mapping[str, Any]:
    """What must not change about the nodes before the PUT: the versions that exist, not the number of nodes."""
    before: dict[str, Any] = {}
    for pool in pools:
        mine = nodes.of(pool.name)
        before[f"versions of the nodes of pool {pool.name}"] = sorted({node.version for node in mine})
        before[f"images of the nodes of pool {pool.name}"] = sorted({node.image for node in mine})
    return before


@dataclass(frozen=True, slots=True)
class Rolled:
    """What a PUT of one pool replaces. `to`: the Kubernetes version that the nodes get, if it changes."""

    pool: AgentPool
    nodes: tuple[Node, ...]
    to: str


def rolled_by(pools: Iterable[AgentPool], nodes: Nodes) -> tuple[Rolled, ...]:
    """For a plan that intends to continue: the nodes that differ from their pool's configuration."""
    found = []
    for pool in pools:
        to = pool.version if pool.upgrading else ""
        wanted = pool.version or pool.current_version
        left = [node for node in nodes.of(pool.name) if not meets(node.version, wanted) or _has_old_image(node, pool)]
        found.append(Rolled(pool, tuple(left), to))
    return tuple(found)


def _has_old_image(node: Node, pool: AgentPool) -> bool:
    return bool(pool.node_image) and node.image != pool.node_image


def _half_done(pool: AgentPool, nodes: tuple[Node, ...]) -> Iterator[Forbidden]:
    if pool.upgrading:
        what = f"pool {pool.name} is set to {pool.version} and runs {pool.current_version}: a PUT goes on upgrading it"
        yield Forbidden(what, _FINISH)
    others = [node for node in nodes if not _runs(node.version, pool)]
    if others:
        runs = pool.current_version or pool.version
        what = f"pool {pool.name} runs {runs}, not so {_named(others, 'version')}: a PUT could replace them"
        yield Forbidden(what, _FINISH)
    wanted = pool.node_image or (nodes[0].image if nodes else "")
    stale = [node for node in nodes if node.image != wanted]
    if stale:
        what = f"pool {pool.name} has image {wanted}, not so {_named(stale, 'image')}: a PUT could replace them"
        yield Forbidden(what, _FINISH)
    quarantined = [node.name for node in nodes if node.quarantined]
    if quarantined:
        yield Forbidden(f"an upgrade has left nodes quarantined in pool {pool.name}: {some(quarantined)}", _FINISH)


def _surplus(pool: AgentPool, nodes: tuple[Node, ...]) -> Iterator[Forbidden]:
    """The next PUT removes surge nodes that an upgrade left behind. An autoscaler's count always lags a little."""
    standing = [node for node in nodes if not node.leaving and (node.is_ready or not pool.parks_nodes)]
    if not pool.autoscaled and len(standing) > pool.count:
        what = f"pool {pool.name} counts {pool.count} nodes and has {len(standing)}: a PUT could remove the others"
        yield Forbidden(what, "see which nodes are left over, move their pods away, then scale the pool by hand")


def _runs(version: str, pool: AgentPool) -> bool:
    return meets(version, pool.current_version or pool.version)


def _named(nodes: list[Node], what: str) -> str:
    return some(f"{node.name} ({getattr(node, what) or 'not told'})" for node in nodes)
