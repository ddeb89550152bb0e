"""Do the cluster's own pods run?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.cluster import SYSTEM, Nodes, Pod, Pods
from handlers.evidence.compute import ScaleSets
from handlers.evidence.monitor import ActivityLog, NodeActivityLog
from handlers.model import Clear, Finding, Severity

STARTING = timedelta(minutes=5)
"""Pulling images and starting takes a system pod a minute or two."""


@diagnostic(
    codes=("kube-system-not-running",),
    area="cluster",
    clear_without=ClearWithout(
        (ActivityLog, NodeActivityLog, AgentPools, ScaleSets),
        "every pod of kube-system is read; pools and errors only tell which other pods are kept",
    ),
)
def kube_system_not_running(cluster: ManagedCluster, pods: Pods, nodes: Nodes) -> Iterator[Finding | Clear]:
    """A pod of kube-system does not run."""
    system = [pod for pod in pods.pods if pod.namespace == SYSTEM]
    down = {node.name for node in nodes.nodes if not node.is_ready}
    broken: dict[str, list[Pod]] = {}
    for pod in system:
        if _broken(pod, pods) and pod.node not in down:
            broken.setdefault(pod.workload, []).append(pod)
    for owner, mine in sorted(broken.items()):
        yield _not_running(cluster, owner, mine, pods.system.get(owner, len(mine)))
    if pods.complete:
        yield Clear(f"{sum(pods.system.values())} pods in kube-system, none broken on a node that is Ready")


def _broken(pod: Pod, pods: Pods) -> bool:
    """Restarts alone are history; a pod that is new, leaving, finished or unready for a moment is no trouble."""
    if pod.ready or pod.done or pod.deleting or _within(STARTING, pod.created, pods):
        return False
    return bool(pod.trouble) or pod.phase != "Running" or not _within(STARTING, pod.ready_since, pods)


def _within(span: timedelta, moment: datetime | None, pods: Pods) -> bool:
    return moment is not None and pods.taken_at - moment < span


def _not_running(cluster: ManagedCluster, owner: str, broken: list[Pod], total: int) -> Finding:
    first = broken[0]
    none_left = len(broken) >= total
    detail = first.detail or "no message"
    return Finding(
        code="kube-system-not-running",
        subject=f"{SYSTEM}/{owner}",
        severity=Severity.ERROR if none_left else Severity.WARNING,
        because=(
            f"{owner}: {len(broken)} of {total} pods do not run",
            f"{first.name}{f' on {first.node}' if first.node else ''} is {first.trouble or first.phase}: {detail}",
            *([f"image {first.image}"] if first.image else []),
            *([f"restarted {first.restarts} times"] if first.restarts else []),
        ),
        facts={
            "owner": owner,
            "pods": [pod.name for pod in broken],
            "pod": first.name,
            "node": first.node,
            "trouble": first.trouble or first.phase,
            "message": first.detail,
            "image": first.image,
            "restarts": first.restarts,
            "owned": first.owner_kind != "Pod",
            "cluster": cluster.name,
            "group": cluster.group,
        },
    )
