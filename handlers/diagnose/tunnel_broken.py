"""Does the API server reach the nodes?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.system import SystemWorkload, SystemWorkloads
from handlers.evidence.system_namespaces import KUBE_SYSTEM
from handlers.evidence.tunnel import AGENT, Call, KubeletCalls
from handlers.model import Clear, Finding, Judgement, NotApplicable, Unavailable

CODE = "tunnel-broken"
SUBJECT = f"{KUBE_SYSTEM}/Deployment/{AGENT}"
FAILS = "kubectl exec and port-forward, admission webhooks and kubectl top go this way"
MOST_NAMED = 3


@diagnostic(
    codes=(CODE,),
    area="network",
    clear_without=ClearWithout((SystemWorkloads,), "kubelets that answered prove the way; the rest tells why not"),
)
def tunnel_broken(
    cluster: ManagedCluster,
    way: KubeletCalls,
    workloads: SystemWorkloads | Unavailable | NotApplicable,
) -> Iterator[Judgement]:
    """The API server does not reach the kubelets."""
    if way.refused:
        yield _finding(cluster, way, workloads)
    elif way.complete:
        names = ", ".join(call.node.name for call in way.answered)
        yield Clear(f"the API server reaches the kubelets that it was told to ask: {names}")


def _finding(
    cluster: ManagedCluster, way: KubeletCalls, workloads: SystemWorkloads | Unavailable | NotApplicable
) -> Finding:
    first, cause, deployment = way.refused[0], _cause(cluster, way), _deployment(workloads)
    ready = sum(agent.ready for agent in way.agents)
    wanted = deployment.wanted if deployment else len(way.agents)
    agent = next((agent for agent in way.agents if agent.ready), way.agents[0] if way.agents else None)
    return Finding(
        code=CODE,
        subject=_subject(cluster, way, cause),
        affects=(SUBJECT, *_refused_by_webhooks(workloads)),
        because=tuple(_because(way, cause, ready, wanted)),
        facts={
            "cause": cause,
            "says": first.says,
            "partly": bool(way.answered),
            "ready": ready,
            "wanted": wanted,
            "agent": agent.name if agent else first.pod,
            "node": first.node.name,
            "machine": first.node.machine,
            "in_scale_set": first.node.in_scale_set,
            "api_server": cluster.private_fqdn if cluster.private and cluster.private_fqdn else cluster.fqdn,
            "api_server_subnet": cluster.api_server_subnet,
            "node_group": cluster.node_group,
            "subscription": cluster.subscription,
            "cluster": cluster.name,
            "group": cluster.group,
        },
    )


def _cause(cluster: ManagedCluster, way: KubeletCalls) -> str:
    """Where the way ends: before an agent, between the agents and the API server, or behind them at the kubelet."""
    if cluster.vnet_integrated:
        return "own-network"
    if not any(agent.ready for agent in way.agents):
        return "agents"
    return "agents-cannot-connect" if any(call.no_agent for call in way.refused) else "node-port"


def _subject(cluster: ManagedCluster, way: KubeletCalls, cause: str) -> str:
    if cause in ("agents", "agents-cannot-connect"):
        return SUBJECT
    refused = {call.node.subject for call in way.refused}
    return refused.pop() if len(refused) == 1 and way.answered else cluster.id


def _because(way: KubeletCalls, cause: str, ready: int, wanted: int) -> Iterator[str]:
    for call in way.refused[:MOST_NAMED]:
        yield f"the API server does not reach the kubelet of {call.node.name}, which is Ready: {call.says}"
    if way.answered:
        yield f"it does reach {', '.join(_with_agent(call) for call in way.answered)}"
    if cause != "own-network":
        yield f"{AGENT}: {ready} of {wanted} pods are Ready"
    yield f"asked for the log of {way.refused[0].pod}; {FAILS}"


def _with_agent(call: Call) -> str:
    return f"{call.node.name} (an agent runs there)" if call.has_agent else call.node.name


def _deployment(workloads: SystemWorkloads | Unavailable | NotApplicable) -> SystemWorkload | None:
    return next(iter(workloads.named(AGENT)), None) if isinstance(workloads, SystemWorkloads) else None


def _refused_by_webhooks(workloads: SystemWorkloads | Unavailable | NotApplicable) -> Iterator[str]:
    """System workloads whose pods are not created because a webhook is not reached through the tunnel."""
    if isinstance(workloads, SystemWorkloads):
        for workload in workloads.workloads:
            if "no agent available" in workload.refused.lower() or "error dialing backend" in workload.refused.lower():
                yield workload.owner
