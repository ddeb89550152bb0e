"""What a connection from a pod to a service passes: read only for `path`, and only where the two ends are.

Each piece is a fact of its own, so that one that is denied leaves the others to be looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from handlers.clients.kube.listing import KubeListing
from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster, NetworkProfile
from handlers.evidence.gather import each
from handlers.evidence.kube_proxy import LABELS, why_without
from handlers.evidence.policy_peers import (
    OtherPolicies,
    PolicyPeers,
    names_of,
    other_kinds,
    read_peers,
)
from handlers.evidence.system_namespaces import KUBE_SYSTEM
from handlers.evidence.wire import text
from handlers.evidence.workloads.pods import WorkloadPod, WorkloadPods, read_workload_pod
from handlers.evidence.workloads.services import (
    EndpointSlices,
    Services,
    read_endpoint_slice,
    read_workload_service,
)
from handlers.evidence.workloads.wiring.routes import NetworkPolicies, read_network_policy
from handlers.model import Evidence, NotApplicable, Target
from handlers.question import Question, Word

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class PathPods(WorkloadPods):
    """The pods of the two namespaces."""


@dataclass(frozen=True, kw_only=True)
class PathServices(Services):
    """The services of the namespace that the path leads to."""


@dataclass(frozen=True, kw_only=True)
class PathSlices(EndpointSlices):
    """The endpoint slices of that namespace."""


@dataclass(frozen=True, kw_only=True)
class PathPolicies(NetworkPolicies):
    """The network policies of the cluster."""


@dataclass(frozen=True, kw_only=True)
class PathPeers(PolicyPeers):
    """The namespaces by label, and the pods that answer DNS."""


@dataclass(frozen=True, kw_only=True)
class PathOtherPolicies(OtherPolicies):
    """The network policies of Calico's and Cilium's own kinds."""


@dataclass(frozen=True, kw_only=True)
class PathProxies(Evidence):
    """The kube-proxy pods: they turn a service's address into a pod's, on the node of the pod that calls."""

    pods: tuple[WorkloadPod, ...]

    def on(self, node: str) -> tuple[WorkloadPod, ...]:
        return tuple(pod for pod in self.pods if pod.node == node and not pod.done)


def enforced(profile: NetworkProfile) -> bool:
    """Whether anything in the cluster enforces network policies; with a plugin of one's own nobody knows."""
    return profile.policy not in ("", "none") or profile.plugin.lower() == "none"


def path_of(target: Target) -> Question | None:
    """The path that was asked about."""
    return target.about if target.about and target.about.word is Word.PATH else None


NOT_ASKED = NotApplicable("nobody asked about a path")


@collector(reads=(), sees=("list pods",), deadline_s=15)
async def path_pods(target: Target, cluster: ManagedCluster, kube: KubeReader) -> PathPods | NotApplicable:
    """the pods of both namespaces"""
    asked = path_of(target)
    if asked is None or cluster.stopped:
        return NOT_ASKED if asked is None else stopped(cluster)
    spaces = list(dict.fromkeys(asked.namespaces))
    listed, gaps = await each(spaces, lambda name: kube.list(f"/api/v1/namespaces/{name}/pods", read_workload_pod))
    return PathPods(
        source="; ".join(listing.source for listing in listed),
        taken_at=min(listing.taken_at for listing in listed),
        truncated=any(listing.truncated for listing in listed),
        gaps=gaps,
        pods=tuple(pod for listing in listed for pod in listing.items),
    )


@collector(reads=(), sees=("list services",), deadline_s=15)
async def path_services(target: Target, cluster: ManagedCluster, kube: KubeReader) -> PathServices | NotApplicable:
    """the services of the namespace that the path leads to"""
    listed = await _there(target, cluster, kube, "/api/v1/namespaces/{}/services", read_workload_service)
    return listed if isinstance(listed, NotApplicable) else PathServices(**_meta(listed), services=listed.items)


@collector(reads=(), sees=("list endpointslices.discovery.k8s.io",), deadline_s=15)
async def path_slices(target: Target, cluster: ManagedCluster, kube: KubeReader) -> PathSlices | NotApplicable:
    """the endpoint slices of the namespace that the path leads to"""
    path = "/apis/discovery.k8s.io/v1/namespaces/{}/endpointslices"
    listed = await _there(target, cluster, kube, path, read_endpoint_slice)
    return listed if isinstance(listed, NotApplicable) else PathSlices(**_meta(listed), slices=listed.items)


@collector(reads=(), sees=("list networkpolicies.networking.k8s.io",), deadline_s=15)
async def path_policies(
    target: Target, cluster: ManagedCluster, profile: NetworkProfile, kube: KubeReader
) -> PathPolicies | NotApplicable:
    """the network policies"""
    if not enforced(profile):
        return NotApplicable(f"nothing in {cluster.name} enforces network policies")
    path = "/apis/networking.k8s.io/v1/networkpolicies"
    listed = await _there(target, cluster, kube, path, read_network_policy)
    return listed if isinstance(listed, NotApplicable) else PathPolicies(**_meta(listed), policies=listed.items)


@collector(reads=(), sees=("list namespaces", "list pods"), deadline_s=15)
async def path_peers(target: Target, cluster: ManagedCluster, kube: KubeReader) -> PathPeers | NotApplicable:
    """the namespaces, and the pods that answer DNS"""
    if path_of(target) is None or cluster.stopped:
        return NOT_ASKED
    return await read_peers(PathPeers, kube)


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
async def path_other_policies(
    target: Target, profile: NetworkProfile, kube: KubeReader
) -> PathOtherPolicies | NotApplicable:
    """the network policies of Calico's and Cilium's own kinds"""
    paths = other_kinds(profile)
    if path_of(target) is None or not paths:
        return NotApplicable("nothing here has network policies of its own kind")
    names, truncated = await names_of(paths, kube)
    return PathOtherPolicies(source="; ".join(paths), taken_at=profile.taken_at, truncated=truncated, names=names)


@collector(reads=(), sees=("list pods",), deadline_s=15)
async def path_proxies(target: Target, cluster: ManagedCluster, kube: KubeReader) -> PathProxies | NotApplicable:
    """the kube-proxy pods"""
    without = why_without(cluster)
    if path_of(target) is None or without:
        return NotApplicable(without) if without else NOT_ASKED
    listed = await kube.list(f"/api/v1/namespaces/{KUBE_SYSTEM}/pods", _read_proxy, labels=LABELS)
    return PathProxies(**_meta(listed), pods=listed.items)


async def _there(
    target: Target,
    cluster: ManagedCluster,
    kube: KubeReader,
    path: str,
    keep: Callable[[Mapping[str, Any]], T | None],
) -> KubeListing[T] | NotApplicable:
    """A list of the namespace that the path leads to (`{}`), or of all."""
    asked = path_of(target)
    if asked is None or cluster.stopped:
        return NOT_ASKED if asked is None else stopped(cluster)
    return await kube.list(path.format(asked.service[0]), keep)


def _read_proxy(body: Mapping[str, Any]) -> WorkloadPod | None:
    return read_workload_pod(body) if text(body, "metadata", "labels", "component") == "kube-proxy" else None


def _meta(listed: KubeListing[Any]) -> dict[str, Any]:
    return {"source": listed.source, "taken_at": listed.taken_at, "truncated": listed.truncated}


def stopped(cluster: ManagedCluster) -> NotApplicable:
    return NotApplicable(f"{cluster.name} is stopped: nothing runs in it")
