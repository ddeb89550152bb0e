"""Did an upgrade stop half way?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from handlers.counted import counted
from handlers.diagnose.draining import asked_version
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import AgentPool, AgentPools, ManagedCluster
from handlers.evidence.cluster import Node, Nodes
from handlers.evidence.complaints import Complaints, Failure, always, never
from handlers.evidence.compute import ScaleSets
from handlers.evidence.drains import speaks_of_upgrade
from handlers.evidence.monitor import ActivityLog, NodeActivityLog
from handlers.model import Clear, Finding, NotApplicable, Severity, Unavailable
from handlers.version import meets

CODE = "upgrade-half-done"


@diagnostic(
    codes=(CODE,),
    area="nodes",
    clear_without=ClearWithout(
        (ActivityLog, NodeActivityLog, ScaleSets),
        "versions, cordons and surplus nodes are seen; errors only tell that a failed pool has another reason",
    ),
)
def upgrade_half_done(
    cluster: ManagedCluster,
    pools: AgentPools,
    nodes: Nodes | Unavailable | NotApplicable,
    complaints: Complaints,
) -> Iterator[Finding | Clear | Unavailable]:
    """An upgrade has ended and left nodes of two versions, surge nodes or cordons behind."""
    waiting = []
    for pool in pools.pools:
        if pool.busy or pool.stopped:
            continue
        if pool.upgrading and not pool.failed and cluster.state.lower() == "upgrading":
            waiting.append(pool.name)  # AKS takes the pools of a cluster one after the other
            continue
        mine = nodes.of(pool.name) if isinstance(nodes, Nodes) else ()
        # A pool that failed for another, known reason may have a cordoned node for a reason of its own.
        failure = complaints.failure(pool.id)
        failed = failure is not None and (not failure.named or _of_upgrade(failure))
        versions = [*_versions(pool, mine, failed=failed)]
        signs = [*versions, *_leftovers(pool, mine, failed=failed)]
        # Versions apart prove an upgrade; a cordon or a node too many can be anybody's doing.
        proved = bool(versions) or any(node.quarantined for node in mine)
        harmed = complaints.claimed((pool.id,), (CODE,), always if proved else never)
        if signs:
            yield _half_done(cluster, pool, mine, signs, harmed, proved=proved)
    if isinstance(nodes, Unavailable):
        yield nodes
    elif pools.complete and (isinstance(nodes, NotApplicable) or nodes.complete):
        turn = f"; waiting their turn: {', '.join(waiting)}" if waiting else ""
        yield Clear(f"{counted(len(pools.pools), 'node pool')}, none half upgraded{turn}")


def _of_upgrade(failure: Failure) -> bool:
    return failure.error is not None and speaks_of_upgrade(failure.error)


def _versions(pool: AgentPool, nodes: tuple[Node, ...], *, failed: bool) -> Iterator[str]:
    if pool.upgrading:
        yield f"pool {pool.name} is set to {pool.version} and runs {pool.current_version}"
    versions = Counter(node.version for node in nodes)
    if len(versions) > 1:
        yield "its nodes run " + ", ".join(f"{version} ({count})" for version, count in sorted(versions.items()))
    images = Counter(node.image for node in nodes if node.image)
    if failed and len(images) > 1 and len(versions) == 1:
        yield "its nodes have " + ", ".join(f"{image} ({count})" for image, count in sorted(images.items()))


def _leftovers(pool: AgentPool, nodes: tuple[Node, ...], *, failed: bool) -> Iterator[str]:
    """Signs that a person or an autoscaler could leave too count only beside a failed operation."""
    quarantined = [node.name for node in nodes if node.quarantined]
    if quarantined:
        yield f"quarantined by the upgrade: {', '.join(quarantined)}"
    if not failed:
        return
    cordoned = [node.name for node in nodes if node.cordoned and not node.quarantined]
    if cordoned:
        yield f"cordoned: {', '.join(cordoned)}"
    standing = [node for node in nodes if node.is_ready or not pool.parks_nodes]
    if len(standing) > pool.count > 0:
        yield f"{len(standing)} nodes for a pool of {pool.count}: {len(standing) - pool.count} left over from the surge"


def _half_done(
    cluster: ManagedCluster,
    pool: AgentPool,
    nodes: tuple[Node, ...],
    signs: list[str],
    harmed: tuple[str, ...],
    *,
    proved: bool,
) -> Finding:
    old = sorted(node.name for node in nodes if not meets(node.version, pool.version))
    return Finding(
        code=CODE,
        subject=pool.id,
        severity=Severity.ERROR if harmed else Severity.WARNING,
        affects=harmed,
        because=tuple(signs),
        facts={
            "pool": pool.name,
            "version": pool.version,
            "current_version": pool.current_version,
            "old_nodes": old,
            "cordoned": [node.name for node in nodes if node.cordoned],
            "quarantined": [node.name for node in nodes if node.quarantined],
            "count": pool.count,
            "autoscaled": pool.autoscaled,
            "surplus": max(0, len(nodes) - pool.count),
            "failed": pool.failed,
            "proved": proved,
            "images_only": not pool.upgrading and len({node.version for node in nodes}) < 2,
            "target": asked_version(cluster, pool, nodes),
            "cluster": cluster.name,
            "group": cluster.group,
            "subscription": cluster.subscription,
            "pool_id": pool.id,
        },
    )
