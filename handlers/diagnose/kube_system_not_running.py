"""Do the cluster's own pods run?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from handlers.ages import ago
from handlers.counted import counted
from handlers.diagnose.system_owners import Trouble, troubles
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.cluster import LastEnd, Nodes, Pod
from handlers.evidence.complaints import Complaints
from handlers.evidence.compute import ScaleSets
from handlers.evidence.monitor import ActivityLog, NodeActivityLog
from handlers.evidence.system import SystemPods, SystemWorkloads
from handlers.evidence.system_namespaces import KUBE_SYSTEM, SYSTEM_NAMESPACE
from handlers.model import Clear, Finding, Judgement, NotApplicable, Severity, Unavailable

CODE = "kube-system-not-running"


@diagnostic(
    codes=(CODE,),
    area="cluster",
    clear_without=ClearWithout(
        (ActivityLog, NodeActivityLog, ScaleSets),
        "every pod of kube-system is read; errors only tell which other pods are kept, and what failed because of them",
    ),
)
def kube_system_not_running(
    cluster: ManagedCluster,
    pods: SystemPods,
    nodes: Nodes,
    workloads: SystemWorkloads | Unavailable | NotApplicable,
    complaints: Complaints | Unavailable,
) -> Iterator[Judgement]:
    """A pod of kube-system does not run, is missing, or ends again and again."""
    found = list(troubles(pods, nodes, workloads))
    # Nothing tells since when a pod is broken: it is why the cluster failed only where Azure says so.
    harmed = complaints.claimed((cluster.id,), (CODE,)) if isinstance(complaints, Complaints) else ()
    if found and nodes.complete and not nodes.any_ready:
        if cluster.coming_or_going:
            yield NotApplicable(f"{cluster.name} is {cluster.state}: its nodes come or go")
        else:
            yield _no_node(cluster, nodes, found, harmed)
        return
    for trouble in found:
        yield _not_running(cluster, trouble, pods, harmed)
    if isinstance(workloads, Unavailable):
        yield workloads
    elif pods.complete and nodes.complete and (isinstance(workloads, NotApplicable) or workloads.complete):
        lacking = "" if isinstance(workloads, NotApplicable) else _none_lacks(workloads)
        where = ", ".join(cluster.system_namespaces)
        yield Clear(
            f"{counted(sum(pods.counts.values()), 'pod')} in {where}, none of them failing on a Ready node{lacking}"
        )


def _none_lacks(workloads: SystemWorkloads) -> str:
    return f"; none of {len(workloads.workloads)} deployments and daemon sets lacks a pod"


def _no_node(cluster: ManagedCluster, nodes: Nodes, found: list[Trouble], harmed: tuple[str, ...]) -> Finding:
    has = f"none of its {len(nodes.nodes)} nodes is Ready" if nodes.nodes else "it has no node"
    owners = [trouble.owner.partition("/")[2] for trouble in found]
    return Finding(
        code=CODE,
        subject=SYSTEM_NAMESPACE,
        affects=harmed,
        because=(f"{cluster.name}: {has}, so none of its system pods can run", f"waiting: {', '.join(owners)}"),
        facts=_facts(cluster, Trouble(f"{KUBE_SYSTEM}/", 0), None) | {"trouble": "NoNode", "message": has},
    )


def _not_running(cluster: ManagedCluster, trouble: Trouble, pods: SystemPods, harmed: tuple[str, ...]) -> Finding:
    first = next(iter((*trouble.broken, *trouble.restarting)), None)
    return Finding(
        code=CODE,
        subject=trouble.owner,
        severity=Severity.ERROR if trouble.none_works or harmed else Severity.WARNING,
        affects=(*harmed, trouble.owner),
        because=tuple(_because(trouble, pods)),
        facts=_facts(cluster, trouble, first),
    )


def _because(trouble: Trouble, pods: SystemPods) -> Iterator[str]:
    owner, workload = trouble.owner.partition("/")[2], trouble.workload
    if trouble.off:
        yield f"{owner} is scaled to 0: {trouble.off}"
    if workload and trouble.missing:
        yield f"{owner} wants {workload.wanted} pods and has {trouble.standing}"
        if workload.refused or workload.complaint:
            yield f"its controller says {workload.refused or workload.complaint}"
    if trouble.broken:
        first = trouble.broken[0]
        run = "does not run" if len(trouble.broken) == 1 else "do not run"
        yield f"{owner}: {len(trouble.broken)} of {trouble.standing} pods {run}"
        where = f" on {first.node}" if first.node else ""
        yield f"{first.name}{where} is {first.trouble or first.phase}: {first.detail or 'no message'}"
        if first.image:
            yield f"image {first.image}"
        if first.restarts:
            yield f"restarted {first.restarts} times"
    for pod in trouble.restarting[:3]:
        if pod.ended:
            yield _restarted(pod, pod.ended, pods.taken_at)


def _restarted(pod: Pod, end: LastEnd, at: datetime) -> str:
    last = f"last {ago(end.at, at)} ({end.reason or 'ended'}, exit code {end.exit_code})"
    now = "Ready now" if pod.ready else "not Ready"
    return f"{pod.name} is {now}; its container {end.container} was restarted {end.restarts} times, {last}"


def _facts(cluster: ManagedCluster, trouble: Trouble, pod: Pod | None) -> dict[str, object]:
    namespace, _, owner = trouble.owner.partition("/")
    workload = trouble.workload
    word, message = _word(trouble)
    return {
        "owner": owner,
        "system_namespace": namespace,
        "pods": [pod.name for pod in (*trouble.broken, *trouble.restarting)],
        "pod": pod.name if pod else "",
        "node": pod.node if pod else "",
        "trouble": word,
        "message": message,
        "image": pod.image if pod else "",
        "restarts": pod.restarts if pod else 0,
        "owned": pod is None or pod.owner_kind != "Pod",
        "wanted": workload.wanted if workload else trouble.standing,
        "standing": trouble.standing,
        "cluster": cluster.name,
        "group": cluster.group,
        "subscription": cluster.subscription,
    }


def _word(trouble: Trouble) -> tuple[str, str]:
    """What is wrong, in Kubernetes' word where it has one; and the message that goes with it."""
    workload = trouble.workload
    if trouble.broken:
        first = trouble.broken[0]
        return first.trouble or first.phase, first.detail
    if trouble.off:
        return "ScaledToZero", trouble.off
    if workload and trouble.missing:
        return "FailedCreate" if workload.refused else "NoPods", workload.refused or workload.complaint
    ends = [pod.ended for pod in trouble.restarting if pod.ended]
    return "Restarts", ends[0].reason if ends else ""
