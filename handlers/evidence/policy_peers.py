"""Whom network policies are about beside the pods that are looked into: namespaces by label, and the DNS pods.

And the policies of other kinds, which are counted and not evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from handlers.clients.errors import NotFound
from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.azure import NetworkProfile
from handlers.evidence.selectors import Labels
from handlers.evidence.wire import dig, text
from handlers.evidence.workloads.pods import WorkloadPod, read_workload_pod
from handlers.evidence.workloads.unwell import UnwellNamespaces
from handlers.evidence.workloads.wiring.routes import NetworkPolicies
from handlers.model import Evidence, NotApplicable

DNS_PODS = "k8s-app=kube-dns"
"""The label of CoreDNS on AKS."""
OTHER_KINDS = {
    "calico": (
        "/apis/crd.projectcalico.org/v1/globalnetworkpolicies",
        "/apis/crd.projectcalico.org/v1/networkpolicies",
    ),
    "cilium": (
        "/apis/cilium.io/v2/ciliumnetworkpolicies",
        "/apis/cilium.io/v2/ciliumclusterwidenetworkpolicies",
    ),
}
_EVERY_KIND = tuple(path for paths in OTHER_KINDS.values() for path in paths)
_MIRROR = "knp."
"""How Calico begins the name of its own copy of a Kubernetes network policy."""


@dataclass(frozen=True, kw_only=True)
class PolicyPeers(Evidence):
    """The labels of namespaces, and the pods that answer DNS. Only asked for where there are network policies."""

    namespaces: Mapping[str, Labels]
    dns: tuple[WorkloadPod, ...]


@dataclass(frozen=True, kw_only=True)
class OtherPolicies(Evidence):
    """Network policies of Calico's and Cilium's own kinds, by kind."""

    names: tuple[str, ...]
    """`CiliumNetworkPolicy shop/allow-dns`, `GlobalNetworkPolicy deny-all`."""

    def about(self, namespace: str) -> tuple[str, ...]:
        """Those that may choose pods of this namespace: its own, and those of the whole cluster."""
        if self.truncated:
            return self.names
        spaces = {name: name.rpartition(" ")[2].partition("/") for name in self.names}
        return tuple(name for name, (space, slash, _) in spaces.items() if not slash or space == namespace)


Peers = TypeVar("Peers", bound=PolicyPeers)


@collector(reads=(), sees=("list namespaces", "list pods"), deadline_s=15)
async def policy_peers(policies: NetworkPolicies, kube: KubeReader) -> PolicyPeers:
    """the namespaces and DNS pods that network policies are about"""
    if not policies.policies:
        return PolicyPeers(source=policies.source, taken_at=policies.taken_at, namespaces={}, dns=())
    return await read_peers(PolicyPeers, kube)


@collector(
    reads=(),
    sees=(
        "list globalnetworkpolicies.crd.projectcalico.org",
        "list networkpolicies.crd.projectcalico.org",
        "list ciliumnetworkpolicies.cilium.io",
        "list ciliumclusterwidenetworkpolicies.cilium.io",
    ),
    deadline_s=15,
)
async def other_policies(
    profile: NetworkProfile, unwell: UnwellNamespaces, kube: KubeReader
) -> OtherPolicies | NotApplicable:
    """the network policies of Calico's and Cilium's own kinds"""
    paths = other_kinds(profile)
    if not paths or not unwell.namespaces:
        return NotApplicable("nothing is unwell, or nothing here has network policies of its own kind")
    names, truncated = await names_of(paths, kube)
    return OtherPolicies(source="; ".join(paths), taken_at=unwell.taken_at, truncated=truncated, names=names)


async def read_peers(kind: type[Peers], kube: KubeReader) -> Peers:
    """Also for those who ask about one path."""
    spaces = await kube.list("/api/v1/namespaces", read_namespace)
    dns = await kube.list("/api/v1/namespaces/kube-system/pods", read_dns_pod, labels=DNS_PODS)
    return kind(
        source=f"{spaces.source}; {dns.source}",
        taken_at=spaces.taken_at,
        truncated=spaces.truncated or dns.truncated,
        namespaces=dict(spaces.items),
        dns=dns.items,
    )


async def names_of(paths: Iterable[str], kube: KubeReader) -> tuple[tuple[str, ...], bool]:
    """The policies of these kinds, and whether some were left out."""
    found: list[str] = []
    truncated = False
    for path in paths:
        try:
            listing = await kube.list(path, read_name)
        except NotFound:  # the kind is not installed
            continue
        found += listing.items
        truncated = truncated or listing.truncated
    return tuple(found), truncated


def other_kinds(profile: NetworkProfile) -> tuple[str, ...]:
    """The kinds beside that of Kubernetes itself. A plugin of one's own may be any: of them, some are not installed."""
    return _EVERY_KIND if profile.plugin.lower() == "none" else OTHER_KINDS.get(profile.policy, ())


def read_namespace(body: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    return text(body, "metadata", "name"), dict(dig(body, "metadata", "labels") or {})


def read_dns_pod(body: Mapping[str, Any]) -> WorkloadPod | None:
    return read_workload_pod(body) if text(body, "metadata", "labels", "k8s-app") == "kube-dns" else None


def read_name(body: Mapping[str, Any]) -> str | None:
    name = text(body, "metadata", "name")
    if name.startswith(_MIRROR):
        return None
    namespace = text(body, "metadata", "namespace")
    return f"{text(body, 'kind') or 'policy'} {f'{namespace}/' if namespace else ''}{name}"
