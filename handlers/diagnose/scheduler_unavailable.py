"""Does anybody put pods on nodes?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from handlers.diagnose.workload_findings import WITHOUT_AZURE, harmed, workload_facts
from handlers.engine.declare import diagnostic
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.cluster import Nodes
from handlers.evidence.workloads.pods import WorkloadPod, WorkloadPods
from handlers.evidence.workloads.wiring.calls import Calls
from handlers.model import Finding, Judgement, Unavailable

CODE = "scheduler-unavailable"
DEFAULT = "default-scheduler"
AT_ONCE = timedelta(seconds=20)
"""The scheduler says within milliseconds where a pod goes, or why it goes nowhere; after a failover within 15 s, the
lease of its leader."""


@diagnostic(
    codes=(CODE,),
    area="workloads",
    clear_without=WITHOUT_AZURE,
    clear_says="no pod is left Pending without a word from its scheduler",
)
def scheduler_unavailable(
    cluster: ManagedCluster, pods: WorkloadPods, nodes: Nodes, calls: Calls | Unavailable
) -> Iterator[Judgement]:
    """Nobody schedules: pods wait without a word from the scheduler."""
    silent = [pod for pod in pods.pods if _is_left_alone(pod, pods)]
    by_scheduler: dict[str, list[WorkloadPod]] = {}
    for pod in silent:
        by_scheduler.setdefault(pod.spec.scheduling.scheduler or DEFAULT, []).append(pod)
    for scheduler, waiting in by_scheduler.items():
        yield _finding(cluster, scheduler, waiting, nodes, calls)


def _is_left_alone(pod: WorkloadPod, pods: WorkloadPods) -> bool:
    """Pending, and nobody has said whether it can be scheduled: no gate holds it, and it is old enough."""
    old = pod.created is not None and pod.created <= pods.taken_at - AT_ONCE
    return pod.unscheduled and old and not pod.spec.scheduling.gates and pod.condition("PodScheduled") is None


def _finding(
    cluster: ManagedCluster, scheduler: str, waiting: list[WorkloadPod], nodes: Nodes, calls: Calls | Unavailable
) -> Finding:
    oldest = min(waiting, key=lambda pod: pod.created.timestamp() if pod.created else 0)
    names = sorted({pod.workload for pod in waiting})
    planes = [node.subject for node in nodes.nodes if not node.pool and not node.virtual]
    affects = (item for pod in waiting for item in harmed(pod.owned_by, (pod,), calls))
    age = f"since {oldest.created:%H:%M:%S} UTC" if oldest.created else ""
    told = [
        f"no scheduler has looked at {len(waiting)} pending pods: no PodScheduled condition ({', '.join(names[:5])})"
    ]
    told.append(f"{oldest.name} waits {age}; no scheduling gate holds it")
    return Finding(
        code=CODE,
        subject=cluster.id if scheduler == DEFAULT else f"Scheduler/{scheduler}",
        affects=tuple(dict.fromkeys((*affects, *planes))),
        because=tuple(told),
        facts=workload_facts(oldest.owned_by, waiting)
        | {"scheduler": scheduler, "own": scheduler != DEFAULT, "cluster": cluster.name, "group": cluster.group},
        began=oldest.created,
    )
