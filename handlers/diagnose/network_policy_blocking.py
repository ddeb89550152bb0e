"""Does a network policy drop what an unwell workload needs?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.counted import counted
from handlers.diagnose.network_policies.complaints import complaint
from handlers.diagnose.network_policies.doubt import depends_on_engine, doubt
from handlers.diagnose.network_policies.engine import rules_of
from handlers.diagnose.network_policies.finding import CODE, Blocked, finding
from handlers.diagnose.network_policies.paths import (
    Dropped,
    Target,
    dropped,
    to_api_server,
    to_dns,
    to_service,
)
from handlers.diagnose.workload_findings import WITHOUT_AZURE
from handlers.engine.declare import diagnostic
from handlers.evidence.azure import ManagedCluster, NetworkProfile
from handlers.evidence.endpoints import KubernetesService
from handlers.evidence.policy_peers import OtherPolicies, PolicyPeers
from handlers.evidence.workloads.logs import LogTails, Tail
from handlers.evidence.workloads.pods import WorkloadPod, WorkloadPods
from handlers.evidence.workloads.services import Services
from handlers.evidence.workloads.symptoms import Sign, Symptoms
from handlers.evidence.workloads.wiring.calls import Calls, called_by
from handlers.evidence.workloads.wiring.routes import NetworkPolicies
from handlers.model import Clear, Judgement, NotApplicable, Unavailable, Why

HTTPS = 443


@diagnostic(codes=(CODE,), area="network", clear_without=WITHOUT_AZURE)
def network_policy_blocking(
    cluster: ManagedCluster,
    profile: NetworkProfile,
    symptoms: Symptoms,
    pods: WorkloadPods,
    policies: NetworkPolicies,
    peers: PolicyPeers,
    services: Services,
    tails: LogTails | Unavailable,
    calls: Calls | Unavailable,
    way: KubernetesService | Unavailable,
    others: OtherPolicies | Unavailable | NotApplicable,
) -> Iterator[Judgement]:
    """A network policy drops what an unwell workload needs."""
    if profile.policy in ("", "none") and profile.plugin.lower() != "none":
        yield NotApplicable(
            f"nothing in {cluster.name} enforces network policies (networkProfile.networkPolicy is none)"
        )
        return
    rules = rules_of(cluster, policies.policies)
    found: list[Blocked] = []
    for pod, tail in _suspects(symptoms, tails):
        paths = dropped(rules.strict, pod, _needed(pod, services, pods, peers, way), peers.namespaces)
        for path in paths:
            if tail is None:
                yield _unread(path, tails)
            elif line := complaint(tail.lines, path.target):
                all_read = policies.all_read and peers.complete
                doubtful = doubt(path, others, all_read=all_read) or depends_on_engine(path, rules, peers.namespaces)
                if doubtful:
                    yield doubtful
                else:
                    found.append(Blocked(path, line))
    for group in _by_policy(found):
        yield finding(cluster, group, calls)
    if found or not (policies.complete and peers.complete and symptoms.complete):
        return
    if isinstance(others, OtherPolicies) and others.names and symptoms.symptoms:
        yield _outside(others)
    checked = counted(len(policies.policies), "policy", "policies")
    yield Clear(f"no NetworkPolicy blocks what a failing workload is known to need ({checked} checked)")


def _suspects(symptoms: Symptoms, tails: LogTails | Unavailable) -> Iterator[tuple[WorkloadPod, Tail | None]]:
    """Who may be cut off: workloads that are unwell, and those whose last lines were read because of what they call."""
    seen: set[str] = set()
    read = tails.tails if isinstance(tails, LogTails) else ()
    for tail in read:
        seen.add(tail.owner)
        yield tail.pod, tail
    for symptom in symptoms.of(Sign.CRASHING, Sign.NOT_READY):
        if symptom.pod and symptom.owner not in seen:
            seen.add(symptom.owner)
            yield symptom.pod, None


def _needed(
    pod: WorkloadPod,
    services: Services,
    pods: WorkloadPods,
    peers: PolicyPeers,
    way: KubernetesService | Unavailable,
) -> Iterator[Target]:
    yield to_dns(peers)
    for service in called_by(pod.namespace, pod.spec, services):
        yield from (to_service(service, port, pods, peers) for port in service.ports)
    if isinstance(way, KubernetesService) and way.service:
        yield to_api_server(way.service.address, way.addresses, HTTPS)


def _unread(path: Dropped, tails: LogTails | Unavailable) -> Unavailable:
    if isinstance(tails, Unavailable):
        return tails
    gap = next(iter(tails.gaps), None)
    wanted = f"whether {path.source.subject} misses {path.target.name}"
    return gap or Unavailable(wanted, Why.ABSENT, "its last lines were not read: others came first")


def _outside(others: OtherPolicies) -> Unavailable:
    """Only what Kubernetes itself defines is evaluated."""
    names = ", ".join(others.names[:3])
    return Unavailable("the policies of Calico and Cilium", Why.ABSENT, f"not evaluated here: {names}")


def _by_policy(found: list[Blocked]) -> list[list[Blocked]]:
    groups: dict[str, list[Blocked]] = {}
    for blocked in found:
        groups.setdefault(blocked.policy.subject, []).append(blocked)
    return list(groups.values())
