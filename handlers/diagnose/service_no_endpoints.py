"""Is there anything behind the services that are called?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta

from handlers.counted import counted
from handlers.diagnose.nearest_labels import Nearest, nearest
from handlers.diagnose.service_use import Use, unseen, use_of
from handlers.diagnose.workload_findings import WITHOUT_AZURE
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.cluster import Nodes
from handlers.evidence.workloads.logs import LogTails
from handlers.evidence.workloads.owners import JOB, Owners
from handlers.evidence.workloads.pods import WorkloadPod, WorkloadPods
from handlers.evidence.workloads.services import EndpointSlices, Services, WorkloadService
from handlers.evidence.workloads.wiring.calls import Calls
from handlers.evidence.workloads.wiring.routes import Ingresses
from handlers.model import Clear, Finding, Judgement, Unavailable

CODE = "service-no-endpoints"
STARTING = timedelta(minutes=2)
"""Pulling an image and starting takes most pods less."""

ALSO = ClearWithout(
    (*WITHOUT_AZURE.kinds, Ingresses, LogTails), "where every service has an endpoint, callers do not matter"
)


@diagnostic(codes=(CODE,), area="workloads", clear_without=ALSO)
def service_no_endpoints(
    cluster: ManagedCluster,
    services: Services,
    slices: EndpointSlices,
    pods: WorkloadPods,
    owners: Owners,
    nodes: Nodes,
    calls: Calls | Unavailable,
    tails: LogTails | Unavailable,
    ingresses: Ingresses | Unavailable,
) -> Iterator[Judgement]:
    """A service that is called has no ready pod behind it."""
    sure = slices.complete and pods.complete
    looked, lost = 0, frozenset(node.name for node in nodes.nodes if not node.is_ready)
    for service in services.services if sure else ():
        if not service.selector or service.kind == "ExternalName" or service.namespace in cluster.all_system_namespaces:
            continue
        looked += 1
        if slices.ready(service):
            continue
        use = use_of(service, calls, tails, ingresses)
        open_question = unseen(calls, tails, ingresses)
        for finding in _of(cluster, service, use, pods, owners, services, lost, calls):
            if use.any:
                yield finding
            elif open_question:
                yield open_question
    if sure and services.complete and owners.complete:
        yield Clear(f"no service in use lacks Ready pods ({counted(looked, 'service')} checked)")


def _of(
    cluster: ManagedCluster,
    service: WorkloadService,
    use: Use,
    pods: WorkloadPods,
    owners: Owners,
    services: Services,
    lost: frozenset[str],
    calls: Calls | Unavailable,
) -> Iterator[Finding]:
    behind = [pod for pod in pods.selected(service.namespace, service.selector) if not pod.done]
    if any(pod.ready for pod in behind):  # a Ready pod that is no endpoint: its port has no such name
        return
    if behind:
        unready = [pod for pod in behind if _for_long(pod, pods)]
        of_node = all(pod.node in lost or _needs_lost_node(pod, lost, pods, services, calls) for pod in behind)
        if len(unready) == len(behind) and not of_node:  # else the node is the question
            yield _finding(cluster, service, use, calls, "not-ready", unready, None)
        return
    makers = [
        workload for workload in owners.workloads if workload.namespace == service.namespace and workload.kind != JOB
    ]
    matching = [maker for maker in makers if service.selector.items() <= maker.labels.items()]
    if matching:  # scaled to 0, or its pods cannot be made: that is the question then
        return
    near = nearest(service, [maker for maker in makers if maker.wanted])
    if near:
        yield _finding(cluster, service, use, calls, "selector", pods.of(near.owner.subject), near)


def _needs_lost_node(
    pod: WorkloadPod, lost: frozenset[str], pods: WorkloadPods, services: Services, calls: Calls | Unavailable
) -> bool:
    """Whether it calls a service of which a pod is on a node that is not Ready: its probe fails with that."""
    if not lost or isinstance(calls, Unavailable):
        return False
    called = [service for service in services.services if pod.owned_by in calls.callers.get(service.subject, ())]
    return any(other.node in lost for service in called for other in pods.selected(service.namespace, service.selector))


def _for_long(pod: WorkloadPod, pods: WorkloadPods) -> bool:
    condition = pod.condition("Ready")
    since = (condition.since if condition else None) or pod.created
    return since is None or pods.taken_at - since >= STARTING


def _finding(
    cluster: ManagedCluster,
    service: WorkloadService,
    use: Use,
    calls: Calls | Unavailable,
    cause: str,
    pods: list[WorkloadPod] | tuple[WorkloadPod, ...],
    near: Nearest | None,
) -> Finding:
    selector = ", ".join(f"{key}={value}" for key, value in sorted(service.selector.items()))
    harmed = calls.harmed_by(service.subject)[1:] if isinstance(calls, Calls) else use.callers
    ready = sum(pod.ready for pod in pods)
    return Finding(
        code=CODE,
        subject=service.subject,
        affects=tuple(harmed),
        because=(
            f"Service {service.namespace}/{service.name} has no ready endpoint: {_why(cause, selector, len(pods))}",
            *(near.differences if near else ()),
            *(
                [f"{ready} of {len(pods)} pods of {near.owner.kind}/{near.owner.name} Ready, and no traffic gets there"]
                if near
                else []
            ),
            *use.told(),
        ),
        facts={
            "service": service.name,
            "namespace": service.namespace,
            "selector": selector,
            "cause": cause,
            "nearest": f"{near.owner.kind}/{near.owner.name}" if near else "",
            "differences": list(near.differences) if near else [],
            "patch": json.dumps({"spec": {"selector": dict(near.patch)}}) if near else "",
            "pods": [pod.name for pod in pods][:5],
            "owner": pods[0].workload if pods else "",
            "callers": list(use.callers),
            "cluster": cluster.name,
            "group": cluster.group,
            "subscription": cluster.subscription,
        },
    )


def _why(cause: str, selector: str, pods: int) -> str:
    if cause == "selector":
        return f"its selector ({selector}) matches no pod"
    return f"its selector ({selector}) matches {pods} pod{'s' if pods > 1 else ''}, and none is Ready"
