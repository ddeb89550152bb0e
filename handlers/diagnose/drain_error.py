"""Which nodes cannot be emptied?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from handlers.counted import counted
from handlers.diagnose.draining import Draining, asked_version, draining, named_or_cordoned
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.cluster import Node, Nodes, Pod, Pods
from handlers.evidence.complaints import Complaints
from handlers.evidence.compute import ScaleSets
from handlers.evidence.drains import DRAINS, named_nodes
from handlers.evidence.monitor import ActivityLog, NodeActivityLog
from handlers.model import Clear, Finding, Unavailable

OVERDUE = timedelta(minutes=5)
"""A pod that is deleted goes within its grace period; five minutes more, and something holds it."""


@diagnostic(
    codes=("drain-error",),
    area="workloads",
    clear_without=ClearWithout(
        (ActivityLog, NodeActivityLog, ScaleSets),
        "no pool is upgrading or has failed: nothing is to be drained",
        in_health_only=True,
    ),
)
def drain_error(
    cluster: ManagedCluster, pools: AgentPools, nodes: Nodes, pods: Pods, complaints: Complaints
) -> Iterator[Finding | Clear | Unavailable]:
    """A node that must be drained keeps pods that do not go."""
    emptied = draining(pools, nodes, complaints)
    for each_draining in emptied:
        by_name: dict[str, Node | None] = {node.name: node for node in each_draining.nodes} | dict.fromkeys(
            each_draining.gone
        )
        for name, node in by_name.items():
            left = [pod for pod in pods.on(name) if pod.drained]
            stuck = [pod for pod in left if _stuck(pod, pods)]
            blamed = any(name in named_nodes(told.error) for told in each_draining.told)
            if stuck or (blamed and left):
                harmed = complaints.affected((each_draining.pool.id, cluster.id), DRAINS)
                yield _cannot_drain(cluster, each_draining, name, node, stuck, len(left), harmed)
    if pools.failed and complaints.gaps:  # whether that was a drain is told there
        yield complaints.gaps[0]
    elif nodes.complete and (pods.complete or not named_or_cordoned(emptied)):
        yield Clear(_none_stuck(sum(len(draining.nodes) for draining in emptied)))


def _none_stuck(nodes: int) -> str:
    return f"{counted(nodes, 'node')} to drain, and no pod is stuck there" if nodes else "no node is to be drained"


def _stuck(pod: Pod, pods: Pods) -> bool:
    if pod.phase == "Unknown":
        return True
    return pod.deleting is not None and pods.taken_at - pod.deleting > OVERDUE


def _why(pod: Pod, node: Node | None) -> str:
    if pod.finalizers:
        return f"held by finalizer {', '.join(pod.finalizers)}"
    if node is None:
        return "its node does not exist any more"
    return "its containers do not end" if node.is_ready else "its node is not Ready"


def _cannot_drain(
    cluster: ManagedCluster,
    draining: Draining,
    name: str,
    node: Node | None,
    stuck: list[Pod],
    left: int,
    harmed: tuple[str, ...],
) -> Finding:
    lines = [
        f"{pod.namespace}/{pod.name} is {'Terminating' if pod.deleting else pod.phase}"
        + (f" since {pod.deleting:%Y-%m-%d %H:%M} UTC" if pod.deleting else "")
        + f": {_why(pod, node)}"
        for pod in stuck
    ]
    pods = f"{left} pod{'s' if left > 1 else ''}"
    return Finding(
        code="drain-error",
        subject=f"Node/{name}",
        affects=harmed,
        because=(
            f"{name} (pool {draining.pool.name}, {draining.pool.state}) must be emptied and still holds {pods}",
            *(lines[:5] if lines else ("none of them is stuck now",)),
            *(str(told) for told in draining.told[:1]),
        ),
        facts=_facts(cluster, draining, name, node, stuck),
    )


def _facts(
    cluster: ManagedCluster, draining: Draining, name: str, node: Node | None, stuck: list[Pod]
) -> dict[str, object]:
    pool, machine = draining.pool, node.machine if node else ""
    return {
        "node": name,
        "node_ready": node is not None and node.is_ready,
        "pool": pool.name,
        "pool_id": pool.id,
        "stuck": [{"namespace": pod.namespace, "pod": pod.name, "finalizers": list(pod.finalizers)} for pod in stuck],
        "pool_state": pool.state,
        "upgrade_pending": pool.upgrading,
        "target": asked_version(cluster, pool),
        "machine_id": machine,
        "scale_set": machine.split("/")[-3] if node and node.in_scale_set else "",
        "instance_id": machine.split("/")[-1] if node and node.in_scale_set else "",
        "node_group": cluster.node_group,
        "subscription": cluster.subscription,
        "cluster": cluster.name,
        "group": cluster.group,
    }
