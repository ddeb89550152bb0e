"""Did an upgrade stop half way?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from handlers.engine.declare import diagnostic
from handlers.evidence.azure import AgentPool, AgentPools, ManagedCluster
from handlers.evidence.cluster import Node, Nodes
from handlers.model import Clear, Finding, NotApplicable, Severity, Unavailable


@diagnostic(codes=("upgrade-half-done",), area="nodes")
def upgrade_half_done(
    cluster: ManagedCluster, pools: AgentPools, nodes: Nodes | Unavailable | NotApplicable
) -> Iterator[Finding | Clear | Unavailable]:
    """An upgrade has ended and left nodes of two versions, surge nodes or cordons behind."""
    for pool in pools.pools:
        if pool.busy or pool.stopped:
            continue
        mine = nodes.of(pool.name) if isinstance(nodes, Nodes) else ()
        signs = [*_versions(pool, mine), *_leftovers(pool, mine)]
        if signs:
            yield _half_done(cluster, pool, mine, signs)
    if isinstance(nodes, Unavailable):
        yield nodes
    elif pools.complete and (isinstance(nodes, NotApplicable) or nodes.complete):
        yield Clear(f"{len(pools.pools)} node pools, none half upgraded")


def _versions(pool: AgentPool, nodes: tuple[Node, ...]) -> Iterator[str]:
    if pool.upgrading:
        yield f"pool {pool.name} is set to {pool.version} and runs {pool.current_version}"
    versions = Counter(node.version for node in nodes)
    if len(versions) > 1:
        yield "its nodes run " + ", ".join(f"{version} ({count})" for version, count in sorted(versions.items()))
    images = Counter(node.image for node in nodes if node.image)
    if pool.failed and len(images) > 1 and len(versions) == 1:
        yield "its nodes have " + ", ".join(f"{image} ({count})" for image, count in sorted(images.items()))


def _leftovers(pool: AgentPool, nodes: tuple[Node, ...]) -> Iterator[str]:
    """Signs that a person or an autoscaler could leave too count only beside a failed operation."""
    quarantined = [node.name for node in nodes if node.quarantined]
    if quarantined:
        yield f"quarantined by the upgrade: {', '.join(quarantined)}"
    if not pool.failed:
        return
    cordoned = [node.name for node in nodes if node.cordoned and not node.quarantined]
    if cordoned:
        yield f"cordoned: {', '.join(cordoned)}"
    if len(nodes) > pool.count > 0:
        yield f"{len(nodes)} nodes for a pool of {pool.count}: {len(nodes) - pool.count} left over from the surge"


def _half_done(cluster: ManagedCluster, pool: AgentPool, nodes: tuple[Node, ...], signs: list[str]) -> Finding:
    old = sorted(node.name for node in nodes if pool.version and not node.version.startswith(pool.version))
    return Finding(
        code="upgrade-half-done",
        subject=pool.id,
        severity=Severity.ERROR if pool.failed else Severity.WARNING,
        affects=(pool.id, cluster.id) if pool.failed else (),
        because=tuple(signs),
        facts={
            "pool": pool.name,
            "version": pool.version,
            "current_version": pool.current_version,
            "old_nodes": old,
            "cordoned": [node.name for node in nodes if node.cordoned],
            "surplus": max(0, len(nodes) - pool.count),
            "failed": pool.failed,
            "cluster": cluster.name,
            "group": cluster.group,
            "subscription": cluster.subscription,
            "pool_id": pool.id,
        },
    )
