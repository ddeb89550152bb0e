"""The connections that an unwell workload needs: to the services that it names, to DNS, to the API server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from handlers.diagnose.network_policies.decision import Decision, decide
from handlers.diagnose.network_policies.rules import End, Policy
from handlers.evidence.policy_peers import PolicyPeers
from handlers.evidence.selectors import Labels
from handlers.evidence.workloads.pods import WorkloadPod, WorkloadPods
from handlers.evidence.workloads.services import ServicePort, WorkloadService

DNS, API_SERVER = "DNS", "the API server"
DNS_PORT = 53


@dataclass(frozen=True, slots=True)
class Target:
    """Something that a workload needs, and the addresses that answer for it."""

    name: str
    """As a person calls it: `cart:80`, DNS, the API server."""
    said_as: tuple[str, ...]
    """How it stands in a line of a log."""
    ends: tuple[tuple[End, int], ...]
    """Each with the port that it answers on."""
    protocol: str = "TCP"
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A connection that network policies drop, to every address that could answer."""

    source: WorkloadPod
    target: Target
    end: End
    port: int
    decision: Decision


def end_of(pod: WorkloadPod, namespaces: Mapping[str, Labels]) -> End:
    """A pod as one end of a connection. The name of a namespace is a label of it, whether or not it was read."""
    own = {"kubernetes.io/metadata.name": pod.namespace}
    return End(
        address=pod.address,
        namespace=pod.namespace,
        name=pod.name,
        labels=pod.labels,
        namespace_labels=namespaces.get(pod.namespace, {}) or own,
        node=pod.node,
        host_network=pod.spec.scheduling.host_network,
        ports={(port.name, port.protocol): port.number for box in pod.containers for port in box.ports if port.name},
    )


def to_service(service: WorkloadService, port: ServicePort, pods: WorkloadPods, peers: PolicyPeers) -> Target:
    """A port of a service, with the pods behind it that run."""
    ends = [end_of(pod, peers.namespaces) for pod in pods.selected(service.namespace, service.selector) if pod.address]
    numbered = [(end, _number(port, end)) for end in ends]
    names = [f"{name}:{port.number}" for name in service.names]
    addresses = [f"{service.address}:{port.number}"] if service.address not in ("", "None") else []
    behind = [f"{end.address}:{number}" for end, number in numbered]
    return Target(
        f"{service.namespace}/{service.name}:{port.number}",
        (*names, *addresses, *behind, *service.names[1:]),
        tuple((end, number) for end, number in numbered if number),
        port.protocol,
        service.subject,
    )


def to_dns(peers: PolicyPeers) -> Target:
    """The DNS of the cluster: over UDP, as every resolver asks first."""
    ends = tuple((end_of(pod, peers.namespaces), DNS_PORT) for pod in peers.dns if pod.address)
    return Target(DNS, (), ends, "UDP", "kube-system/Service/kube-dns")


def to_api_server(service_address: str, addresses: Iterable[str], port: int) -> Target:
    """The API server: outside of the pod network, at the addresses behind default/kubernetes."""
    ends = tuple((End(address), port) for address in addresses)
    said = (f"{service_address}:443", "kubernetes.default", *(f"{end.address}:{port}" for end, port in ends))
    return Target(API_SERVER, said, ends, "TCP", "default/Service/kubernetes")


def dropped(
    policies: tuple[Policy, ...], source: WorkloadPod, targets: Iterable[Target], namespaces: Mapping[str, Labels]
) -> Iterator[Dropped]:
    """Those that no address is left for. Where one end still gets through, callers do, too, by trying again."""
    here = end_of(source, namespaces)
    for target in targets:
        decided = [(end, port, decide(policies, here, end, port, target.protocol)) for end, port in target.ends]
        if decided and not any(decision.allowed for _, _, decision in decided):
            end, port, decision = decided[0]
            yield Dropped(source, target, end, port, decision)


def _number(port: ServicePort, end: End) -> int:
    """The number behind a target port; 0 where the pod has no port of that name."""
    if port.target.isdigit():
        return int(port.target)
    return end.ports.get((port.target, port.protocol), 0)
