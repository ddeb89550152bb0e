"""Does kube-proxy turn service addresses into pod addresses on every node?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.system_owners import Trouble, troubles
from handlers.diagnose.workload_findings import WITHOUT_AZURE
from handlers.engine.declare import diagnostic
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.cluster import Nodes
from handlers.evidence.kube_proxy import KUBE_PROXY, OWNER, KubeProxyLogs, ProxyTail, why_without
from handlers.evidence.system import DAEMON_SET, SystemPods, SystemWorkloads
from handlers.evidence.wire import text
from handlers.evidence.workloads.log_families import Cause, said
from handlers.evidence.workloads.logs import LogTails
from handlers.evidence.workloads.symptoms import Sign, Symptoms
from handlers.model import Finding, Judgement, NotApplicable, Severity, Unavailable

CODE = "kube-proxy-broken"
MOST_NODES = 5
_UNANSWERED = frozenset({Cause.TIMEOUT, Cause.PORT, Cause.DNS})
"""What a workload says that gets no answer from a service: its name, its address, its port."""


@diagnostic(
    codes=(CODE,),
    area="network",
    clear_without=WITHOUT_AZURE,
    clear_says="kube-proxy runs on every node that is Ready, and writes its rules",
)
def kube_proxy_broken(
    cluster: ManagedCluster,
    nodes: Nodes,
    pods: SystemPods,
    workloads: SystemWorkloads | Unavailable | NotApplicable,
    logs: KubeProxyLogs | Unavailable | NotApplicable,
    symptoms: Symptoms | Unavailable,
    tails: LogTails | Unavailable,
) -> Iterator[Judgement]:
    """kube-proxy is missing, crashes, or does not write its rules on a node."""
    without = why_without(cluster) or _nothing_runs(cluster, nodes)
    if without:
        yield NotApplicable(without)
        return
    trouble = next((item for item in troubles(pods, nodes, workloads) if item.owner == OWNER), None)
    stale = [tail for tail in logs.tails if tail.runs and tail.line] if isinstance(logs, KubeProxyLogs) else []
    gone = isinstance(workloads, SystemWorkloads) and _is_gone(cluster, workloads, pods)
    if gone or trouble or stale:
        harmed = _harmed(trouble, stale, symptoms, tails, everywhere=gone)
        yield _finding(cluster, nodes, trouble, stale, logs, harmed)
        return
    yield from (evidence for evidence in (workloads, logs, symptoms) if isinstance(evidence, Unavailable))


def _nothing_runs(cluster: ManagedCluster, nodes: Nodes) -> str:
    """Where no node is Ready, kube-proxy is not what is wrong."""
    if any(node.is_ready and not node.virtual for node in nodes.nodes):
        return ""
    return f"{cluster.name} has no node that is Ready"


def _is_gone(cluster: ManagedCluster, workloads: SystemWorkloads, pods: SystemPods) -> bool:
    """The daemon set was deleted. With a network plugin of people's own, that may do its work."""
    if cluster.coming_or_going or text(cluster.network, "networkPlugin").lower() == "none":
        return False
    listed = any(workload.kind == DAEMON_SET for workload in workloads.named(KUBE_PROXY))
    return workloads.complete and pods.complete and not listed and not pods.counts.get(OWNER)


def _finding(
    cluster: ManagedCluster,
    nodes: Nodes,
    trouble: Trouble | None,
    stale: list[ProxyTail],
    logs: KubeProxyLogs | Unavailable | NotApplicable,
    harmed: tuple[str, ...],
) -> Finding:
    first = next(iter((*trouble.broken, *trouble.restarting)), None) if trouble else None
    tail = _tail_of(first.name if first else "", logs) or (stale[0] if stale and not trouble else None)
    broken = _nodes(trouble, stale)
    node = first.node if first else tail.node if tail else ""
    everywhere = trouble.none_works if trouble else not stale
    return Finding(
        code=CODE,
        subject=OWNER,
        severity=Severity.ERROR if everywhere or harmed else Severity.WARNING,
        affects=(OWNER, *harmed),
        because=tuple(_because(trouble, stale, tail)),
        facts={
            "cause": _cause(trouble, stale),
            "node": node,
            "nodes": list(broken),
            "pod": first.name if first else tail.pod if tail else "",
            "says": tail.line if tail else first.detail if first else "",
            "reason": (first.trouble or first.phase) if first else "",
            "wanted": trouble.workload.wanted if trouble and trouble.workload else len(broken),
            "standing": trouble.standing if trouble else len(stale),
            "cluster": cluster.name,
            "group": cluster.group,
            "subscription": cluster.subscription,
            "node_group": cluster.node_group,
            "scale_set": _machine_of(node, nodes)[0],
            "instance_id": _machine_of(node, nodes)[1],
        },
    )


def _machine_of(name: str, nodes: Nodes) -> tuple[str, str]:
    """The scale set of a node and the id of its instance there; empty outside scale sets."""
    machine = next((node.machine for node in nodes.nodes if node.name == name and node.in_scale_set), "")
    parts = machine.split("/")
    return (parts[-3], parts[-1]) if machine else ("", "")


def _cause(trouble: Trouble | None, stale: list[ProxyTail]) -> str:
    if trouble and (trouble.broken or trouble.restarting):
        return "crashing"
    if trouble:
        return "missing"
    return "rules" if stale else "deleted"


def _because(trouble: Trouble | None, stale: list[ProxyTail], tail: ProxyTail | None) -> Iterator[str]:
    if trouble is None and not stale:
        yield f"kube-system has no DaemonSet/{KUBE_PROXY}: no node turns service addresses into pod addresses"
    if trouble and trouble.missing and trouble.workload:
        yield f"DaemonSet/{KUBE_PROXY} wants {trouble.workload.wanted} pods and has {trouble.standing}"
        if trouble.workload.refused:
            yield f"its controller says {trouble.workload.refused}"
    for pod in (*trouble.broken, *trouble.restarting)[:MOST_NODES] if trouble else ():
        again = f", restarted {pod.restarts} times" if pod.restarts else ""
        state = f"{pod.trouble or pod.phase}{again}: {pod.detail or 'no message'}"
        yield f"{pod.name} on {pod.node or 'no node'} is {state}"
    for row in stale[:MOST_NODES]:
        yield f"{row.pod} on {row.node} runs and failed {row.count} times in the last 10 minutes: {row.line}"
    if tail and not tail.runs and tail.line:
        yield f"its last lines: {tail.line}"


def _tail_of(pod: str, logs: KubeProxyLogs | Unavailable | NotApplicable) -> ProxyTail | None:
    tails = logs.tails if isinstance(logs, KubeProxyLogs) else ()
    return next((tail for tail in tails if tail.pod == pod and tail.line), None)


def _nodes(trouble: Trouble | None, stale: list[ProxyTail]) -> tuple[str, ...]:
    """The nodes on which services do not answer."""
    broken = (pod.node for pod in (*trouble.broken, *trouble.restarting)) if trouble else ()
    return tuple(dict.fromkeys(node for node in (*broken, *(tail.node for tail in stale)) if node))


def _harmed(
    trouble: Trouble | None,
    stale: list[ProxyTail],
    symptoms: Symptoms | Unavailable,
    tails: LogTails | Unavailable,
    *,
    everywhere: bool,
) -> tuple[str, ...]:
    """Workloads that say that a service does not answer, and whose pods that are unwell are all on those nodes."""
    if isinstance(symptoms, Unavailable) or isinstance(tails, Unavailable):
        return ()
    broken = set(_nodes(trouble, stale))
    unanswered = {tail.owner for tail in tails.tails if (words := said(tail.lines)) and words.cause in _UNANSWERED}
    unwell: dict[str, set[str]] = {}
    for symptom in symptoms.of(Sign.CRASHING, Sign.NOT_READY):
        unwell.setdefault(symptom.owner, set()).update(pod.node for pod in symptom.pods)
    return tuple(owner for owner, there in unwell.items() if owner in unanswered and (everywhere or there <= broken))
