"""Ingresses of the namespaces that are looked into, and the network policies of all, while something is unwell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.wire import dig, need_text, rows, text, texts
from handlers.evidence.workloads.lists import in_namespaces
from handlers.evidence.workloads.unwell import UnwellNamespaces
from handlers.model import Evidence


@dataclass(frozen=True, slots=True)
class Backend:
    """Where one rule of an ingress leads."""

    host: str
    path: str
    service: str
    port: str
    """A number or a name."""


@dataclass(frozen=True, slots=True)
class Ingress:
    """One ingress."""

    namespace: str
    name: str
    class_name: str
    backends: tuple[Backend, ...]
    kind: str = "Ingress"
    told: str = ""
    """What its controller says of backends that it does not find (HTTPRoute)."""

    @property
    def subject(self) -> str:
        return f"{self.namespace}/{self.kind}/{self.name}"


@dataclass(frozen=True, slots=True)
class NetworkPolicy:
    """One network policy. Selectors and rules as the API has them."""

    namespace: str
    name: str
    selector: Mapping[str, Any]
    kinds: tuple[str, ...]
    """Ingress, Egress or both, as Kubernetes fills them in."""
    ingress: tuple[Mapping[str, Any], ...]
    egress: tuple[Mapping[str, Any], ...]

    @property
    def subject(self) -> str:
        return f"{self.namespace}/NetworkPolicy/{self.name}"


@dataclass(frozen=True, kw_only=True)
class Ingresses(Evidence):
    """The ingresses of the namespaces that are looked into."""

    ingresses: tuple[Ingress, ...]


@dataclass(frozen=True, kw_only=True)
class NetworkPolicies(Evidence):
    """The network policies of the whole cluster: the other end of a connection may be in any namespace."""

    policies: tuple[NetworkPolicy, ...]
    all_read: bool = True
    """Whether none of the cluster was left out, however few namespaces are looked into."""


@collector(reads=(), sees=("list ingresses.networking.k8s.io",), deadline_s=15)
async def ingresses(unwell: UnwellNamespaces, kube: KubeReader) -> Ingresses:
    """the ingresses of the namespaces in which something is unwell"""
    path = "/apis/networking.k8s.io/v1/namespaces/{}/ingresses"
    listed = await in_namespaces(kube, unwell, path, read_ingress, ingresses.title)
    return Ingresses(
        source=listed.source,
        taken_at=listed.taken_at,
        truncated=listed.truncated,
        gaps=listed.gaps,
        ingresses=listed.items,
    )


@collector(reads=(), sees=("list networkpolicies.networking.k8s.io",), deadline_s=15)
async def network_policies(unwell: UnwellNamespaces, kube: KubeReader) -> NetworkPolicies:
    """the network policies"""
    if not unwell.namespaces:
        return NetworkPolicies(
            source=unwell.source, taken_at=unwell.taken_at, truncated=unwell.truncated, gaps=unwell.gaps, policies=()
        )
    listing = await kube.list("/apis/networking.k8s.io/v1/networkpolicies", read_network_policy)
    return NetworkPolicies(
        source=listing.source,
        taken_at=listing.taken_at,
        truncated=listing.truncated or unwell.truncated,
        gaps=unwell.gaps,
        policies=listing.items,
        all_read=not listing.truncated,
    )


def read_ingress(body: Mapping[str, Any]) -> Ingress:
    """An ingress from its wire body."""
    return Ingress(
        namespace=need_text(body, "metadata", "namespace"),
        name=need_text(body, "metadata", "name"),
        class_name=text(body, "spec", "ingressClassName"),
        backends=tuple(_backends(body)),
    )


def read_network_policy(body: Mapping[str, Any]) -> NetworkPolicy:
    """A network policy from its wire body. Without policyTypes it is about ingress, and egress where it has rules."""
    spec = dig(body, "spec") or {}
    kinds = texts(spec, "policyTypes") or (("Ingress", "Egress") if "egress" in spec else ("Ingress",))
    return NetworkPolicy(
        namespace=need_text(body, "metadata", "namespace"),
        name=need_text(body, "metadata", "name"),
        selector=dict(dig(spec, "podSelector") or {}),
        kinds=kinds,
        ingress=tuple(dict(row) for row in rows(spec, "ingress")),
        egress=tuple(dict(row) for row in rows(spec, "egress")),
    )


def _backends(body: Mapping[str, Any]) -> Iterator[Backend]:
    default = dig(body, "spec", "defaultBackend")
    if text(default, "service", "name"):
        yield _backend("", "", default)
    for rule in rows(body, "spec", "rules"):
        for path in rows(rule, "http", "paths"):
            if text(path, "backend", "service", "name"):
                yield _backend(text(rule, "host"), text(path, "path"), dig(path, "backend"))


def _backend(host: str, path: str, body: Any) -> Backend:
    number = dig(body, "service", "port", "number")
    port = text(body, "service", "port", "name") if number is None else str(number)
    return Backend(host, path, text(body, "service", "name"), port)
