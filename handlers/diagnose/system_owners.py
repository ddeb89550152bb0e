"""What of AKS's own pods is wrong, by owner: those that do not run, are not there, or end again and again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from handlers.diagnose.node_machines import JOINING
from handlers.evidence.cluster import MANY_RESTARTS, Node, Nodes, Pod
from handlers.evidence.system import DAEMON_SET, SystemPods, SystemWorkload, SystemWorkloads
from handlers.evidence.system_namespaces import KUBE_SYSTEM
from handlers.model import NotApplicable, Unavailable

STARTING = timedelta(minutes=5)
"""Pulling images and starting takes a system pod a minute or two."""
LATELY = timedelta(minutes=10)
"""A container that has run for so long starts anew in the kubelet's count: older ends are history."""
INDISPENSABLE = {
    "coredns": "no pod of the cluster can resolve a name",
    "konnectivity-agent": "kubectl logs and exec, webhooks and metrics do not get through to the nodes",
}
"""What has no pod only by mistake. AKS does not scale these back up by itself."""
OFTEN_MISSED = {"metrics-server": "kubectl top and every HorizontalPodAutoscaler are blind"}


@dataclass(frozen=True, slots=True)
class Trouble:
    """One owner whose pods are not as they should be."""

    owner: str
    """`namespace/kind/name`."""
    standing: int
    """How many pods it has."""
    broken: tuple[Pod, ...] = ()
    restarting: tuple[Pod, ...] = ()
    missing: int = 0
    workload: SystemWorkload | None = None
    off: str = ""
    """It is scaled to 0, and this is what that costs."""

    @property
    def none_works(self) -> bool:
        if self.off:
            return self.owner.rsplit("/", 1)[-1] in INDISPENSABLE
        return len(self.broken) + self.missing > 0 and len(self.broken) >= self.standing


@dataclass
class _Owner:
    broken: list[Pod] = field(default_factory=list)
    restarting: list[Pod] = field(default_factory=list)


def troubles(
    pods: SystemPods, nodes: Nodes, workloads: SystemWorkloads | Unavailable | NotApplicable
) -> Iterator[Trouble]:
    """Every owner with something wrong, by name."""
    at = {node.name: node for node in nodes.nodes}
    owners: defaultdict[str, _Owner] = defaultdict(_Owner)
    for pod in pods.pods:
        if pod.done or pod.debugs_a_node:
            continue
        owner = f"{pod.namespace}/{pod.workload}"
        if _broken(pod, pods.taken_at) and (pod.node not in at or at[pod.node].is_ready):
            owners[owner].broken.append(pod)
        elif _restarting(pod, pods.taken_at, at.get(pod.node)):
            owners[owner].restarting.append(pod)
    known = (
        {system_workload.owner: system_workload for system_workload in workloads.workloads}
        if isinstance(workloads, SystemWorkloads)
        else {}
    )
    for owner in sorted(owners.keys() | known.keys()):
        mine, workload = owners[owner], known.get(owner)
        standing = pods.counts.get(owner, len(mine.broken))
        missing = _missing(workload, standing, nodes, pods.taken_at) if workload and pods.complete else 0
        off = _off(workload) if workload else ""
        if mine.broken or mine.restarting or missing or off:
            standing = max(standing, workload.ready) if workload and missing else standing
            yield Trouble(owner, standing, tuple(mine.broken), tuple(mine.restarting), missing, workload, off)


def _broken(pod: Pod, now: datetime) -> bool:
    """A pod that is new, leaving or unready for a moment is no trouble."""
    if pod.ready or pod.deleting or _within(STARTING, pod.created, now):
        return False
    return bool(pod.trouble) or pod.phase != "Running" or not _within(STARTING, pod.ready_since, now)


def _restarting(pod: Pod, now: datetime, node: Node | None) -> bool:
    """It may be Ready at this moment. After a reboot all containers of a node have ended once, which is no trouble."""
    if pod.ended is None or pod.deleting or pod.ended.restarts < MANY_RESTARTS:
        return False
    rebooted = node is not None and (not node.is_ready or _within(LATELY, node.ready.since, now))
    return _within(LATELY, pod.ended.at, now) and not rebooted


def _missing(workload: SystemWorkload, standing: int, nodes: Nodes, now: datetime) -> int:
    """Pods that it wants and that are neither among those that exist nor, as its controller says, Ready.

    Its controller makes a pod within a second, so what is missing is refused, or nobody makes it.
    """
    wanted = workload.wanted
    if workload.kind == DAEMON_SET:  # nodes that came just now, or after the nodes had been listed
        wanted = min(wanted, len(nodes.nodes)) - sum(_within(JOINING, node.created, now) for node in nodes.nodes)
    if not workload.settled or _within(STARTING, workload.created, now):
        return 0
    if not workload.refused and _within(STARTING, workload.complains_since, now):
        return 0
    return max(0, wanted - max(standing, workload.ready))


def _off(workload: SystemWorkload) -> str:
    scaled = workload.kind != DAEMON_SET and workload.namespace == KUBE_SYSTEM and workload.wanted == 0
    return (INDISPENSABLE | OFTEN_MISSED).get(workload.name, "") if scaled else ""


def _within(span: timedelta, moment: datetime | None, now: datetime) -> bool:
    return moment is not None and now - moment < span
