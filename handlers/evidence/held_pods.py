"""System pods that need the API server while none of their deployment is Ready, and the policies that may hold them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.asked.path import enforced
from handlers.evidence.azure import NetworkProfile
from handlers.evidence.policy_peers import OtherPolicies, names_of, other_kinds
from handlers.evidence.system import SystemWorkloads
from handlers.evidence.workloads.pods import WorkloadPod, read_workload_pod
from handlers.evidence.workloads.wiring.routes import NetworkPolicy, read_network_policy
from handlers.model import CannotSee, Evidence, NotApplicable, Unavailable

USERS = ("coredns", "metrics-server")
"""Their pods become Ready only after they have listed what they need from the API server."""
THEIR_LABELS = ("kube-dns", "metrics-server")
"""`k8s-app` of their pods."""


@dataclass(frozen=True, kw_only=True)
class HeldPods(Evidence):
    """Those pods, and the network policies of kube-system."""

    pods: tuple[WorkloadPod, ...]
    policies: tuple[NetworkPolicy, ...]
    others: OtherPolicies | Unavailable | NotApplicable
    """Those of Calico's and Cilium's own kinds: what none of `policies` allows, they may."""


@collector(
    reads=(),
    sees=(
        "list networkpolicies.networking.k8s.io",
        "list pods",
        "list globalnetworkpolicies.crd.projectcalico.org",
        "list networkpolicies.crd.projectcalico.org",
        "list ciliumnetworkpolicies.cilium.io",
        "list ciliumclusterwidenetworkpolicies.cilium.io",
    ),
    deadline_s=10,
)
async def held_pods(workloads: SystemWorkloads, profile: NetworkProfile, kube: KubeReader) -> HeldPods | NotApplicable:
    """the network policies of kube-system"""
    if not enforced(profile):
        return NotApplicable("nothing in the cluster enforces network policies (networkProfile.networkPolicy is none)")
    if all(workload.ready or not workload.wanted for workload in workloads.named(*USERS)):
        return NotApplicable(f"{' and '.join(USERS)} have Ready pods")
    policies = await kube.list("/apis/networking.k8s.io/v1/namespaces/kube-system/networkpolicies", read_network_policy)
    pods = await kube.list(
        "/api/v1/namespaces/kube-system/pods", _not_ready, labels=f"k8s-app in ({','.join(THEIR_LABELS)})"
    )
    return HeldPods(
        source=f"{policies.source}; {pods.source}",
        taken_at=policies.taken_at,
        truncated=policies.truncated or pods.truncated,
        pods=pods.items,
        policies=policies.items,
        others=await _others(profile, kube) if policies.items else NotApplicable("there is no network policy"),
    )


async def _others(profile: NetworkProfile, kube: KubeReader) -> OtherPolicies | Unavailable:
    paths = other_kinds(profile)
    try:
        names, truncated = await names_of(paths, kube)
    except CannotSee as error:
        return error.unavailable
    return OtherPolicies(source="; ".join(paths), taken_at=profile.taken_at, truncated=truncated, names=names)


def _not_ready(body: Mapping[str, Any]) -> WorkloadPod | None:
    pod = read_workload_pod(body)
    is_theirs = pod.labels.get("k8s-app") in THEIR_LABELS and not pod.spec.scheduling.host_network
    return pod if is_theirs and pod.node and not pod.ready and not pod.done else None
