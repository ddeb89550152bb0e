"""Does a network policy drop what an unwell workload needs?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from handlers.counted import counted
from handlers.diagnose.network_policies.complaints import complaint
from handlers.diagnose.network_policies.decision import Side
from handlers.diagnose.network_policies.paths import (
    API_SERVER,
    DNS,
    Dropped,
    Target,
    dropped,
    to_api_server,
    to_dns,
    to_service,
)
from handlers.diagnose.network_policies.rules import EGRESS, End, Policy, compiled
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
from handlers.model import Clear, Finding, Judgement, NotApplicable, Unavailable, Why

CODE = "network-policy-blocking"
HTTPS = 443
OF_THE_REPLICA = ("pod-template-hash", "controller-revision-hash", "statefulset.kubernetes.io/pod-name")
"""Labels that another pod of the same workload has with another value."""
MOST_PATHS = 4


@dataclass(frozen=True, slots=True)
class _Blocked:
    """A dropped connection, with the line of the log that misses it."""

    path: Dropped
    line: str

    @property
    def side(self) -> Side:
        return self.path.decision.blocking or self.path.decision.ingress

    @property
    def policy(self) -> Policy:
        """Of several that restrict the pod none allows it; the one with the fewest rules says so most plainly."""
        return min(self.side.choosing, key=lambda policy: (len(policy.rules[self.side.direction]), policy.name))


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
    rules = compiled(policies.policies)
    found: list[_Blocked] = []
    for pod, tail in _suspects(symptoms, tails):
        paths = dropped(rules, pod, _needed(pod, services, pods, peers, way), peers.namespaces)
        for path in paths:
            if tail is None:
                yield _unread(path, tails)
            elif line := complaint(tail.lines, path.target):
                found.append(_Blocked(path, line))
    for group in _by_policy(found):
        yield _finding(cluster, group, calls)
    if found or not (policies.complete and peers.complete and symptoms.complete):
        return
    if isinstance(others, OtherPolicies) and others.names and symptoms.symptoms:
        yield _outside(others)
    checked = counted(len(rules), "policy", "policies")
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


def _by_policy(found: list[_Blocked]) -> list[list[_Blocked]]:
    groups: dict[str, list[_Blocked]] = {}
    for blocked in found:
        groups.setdefault(blocked.policy.subject, []).append(blocked)
    return list(groups.values())


def _finding(cluster: ManagedCluster, group: list[_Blocked], calls: Calls | Unavailable) -> Finding:
    first = group[0]
    owners = list(dict.fromkeys(blocked.path.source.owned_by for blocked in group))
    harmed = [who for owner in owners for who in (calls.harmed_by(owner) if isinstance(calls, Calls) else (owner,))]
    return Finding(
        code=CODE,
        subject=first.policy.subject,
        affects=tuple(dict.fromkeys((*harmed, *(blocked.path.source.subject for blocked in group)))),
        because=tuple(line for blocked in group[:MOST_PATHS] for line in _because(blocked)),
        facts={
            "policy": first.policy.name,
            "policies": [policy.subject for policy in first.side.choosing],
            "namespace": first.policy.namespace,
            "direction": first.side.direction,
            "source": first.path.source.subject,
            "destination": first.path.target.name,
            "rules": [rule for blocked in group[:MOST_PATHS] for rule in _rules(blocked)],
            "callers": owners,
            "probe_namespace": first.path.source.namespace,
            "probe_labels": ",".join(f"{key}={value}" for key, value in _labels_of(first.path.source).items()),
            "probe_address": first.path.end.address,
            "probe_port": first.path.port,
            "cluster": cluster.name,
            "group": cluster.group,
            "subscription": cluster.subscription,
        },
    )


def _because(blocked: _Blocked) -> Iterator[str]:
    path, side = blocked.path, blocked.side
    source, where = path.source, f"{path.end.address}:{path.port}/{path.target.protocol}"
    yield f"{source.namespace}/{source.name} cannot reach {path.target.name} ({where})"
    restricted = "what it may send" if side.direction == EGRESS else f"what {path.end.name} may receive"
    names = ", ".join(policy.subject for policy in side.choosing[:3])
    rules = any(policy.rules[side.direction] for policy in side.choosing)
    none = f"no {side.direction.lower()} rule allows this" if rules else f"there is no {side.direction.lower()} rule"
    yield f"{names} restricts {restricted}, and {none}"
    other = path.decision.ingress
    if side.direction == EGRESS and not other.allowed:
        yield f"{other.choosing[0].subject} would drop it at the other end, too"
    yield f"{source.workload} says: {blocked.line}"


def _rules(blocked: _Blocked) -> Iterator[dict[str, str]]:
    """The rules to add, one for each end that drops it, as policies of their own: those that are there stay."""
    decision = blocked.path.decision
    if not decision.egress.allowed:
        yield _rule(
            blocked, EGRESS, "to", _labels_of(blocked.path.source), blocked.path.source.namespace, _peer(blocked)
        )
    if not decision.ingress.allowed:
        source = blocked.path.source
        peer = _pods(source.namespace, _labels_of(source))
        yield _rule(blocked, "Ingress", "from", _stable(blocked.path.end), blocked.path.end.namespace, peer)


def _rule(
    blocked: _Blocked, direction: str, side: str, chosen: dict[str, str], namespace: str, peer: dict[str, object]
) -> dict[str, str]:
    ports = [{"protocol": blocked.path.target.protocol, "port": blocked.path.port}]
    if blocked.path.target.name == DNS:
        ports = [{"protocol": protocol, "port": blocked.path.port} for protocol in ("UDP", "TCP")]
    return {
        "name": _named(blocked, direction),
        "namespace": namespace,
        "direction": direction,
        "key": direction.lower(),
        "chosen": json.dumps({"matchLabels": chosen}),
        "rows": json.dumps([{side: [peer], "ports": ports}]),
    }


def _named(blocked: _Blocked, direction: str) -> str:
    """A name for the policy to add: `allow-to-dns`, `allow-from-web`."""
    if direction != EGRESS:
        return f"allow-from-{blocked.path.source.workload.partition('/')[2]}"[:63]
    target = blocked.path.target.name.partition("/")[2].partition(":")[0]
    short = {DNS: "dns", API_SERVER: "api-server"}.get(blocked.path.target.name, target)
    return f"allow-to-{short}"[:63]


def _peer(blocked: _Blocked) -> dict[str, object]:
    end = blocked.path.end
    if not end.namespace:
        return {"ipBlock": {"cidr": f"{end.address}/{128 if ':' in end.address else 32}"}}
    return _pods(end.namespace, _stable(end))


def _pods(namespace: str, labels: dict[str, str]) -> dict[str, object]:
    return {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "podSelector": {"matchLabels": labels},
    }


def _labels_of(pod: WorkloadPod) -> dict[str, str]:
    return {key: value for key, value in pod.labels.items() if key not in OF_THE_REPLICA}


def _stable(end: End) -> dict[str, str]:
    return {key: value for key, value in end.labels.items() if key not in OF_THE_REPLICA}
