"""Istio's routes: virtual services, and the gateways, subsets and foreign hosts that they name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.gather import each
from handlers.evidence.wire import dig, need_text, number, rows, text, texts
from handlers.evidence.workloads.served import ServedGroups
from handlers.evidence.workloads.unwell import UnwellNamespaces
from handlers.model import Evidence, NotApplicable, Unavailable

GROUP = "networking.istio.io"
VERSIONS = ("v1", "v1beta1")
"""v1 since Istio 1.22; both are served by every revision of the AKS add-on."""
MESH = "mesh"
"""The gateway that stands for all sidecars; it is meant where none is named."""
DOMAIN = ".svc.cluster.local"
MOST_SELECTORS = 4


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a rule of a virtual service leads."""

    path: str
    host: str
    port: int
    """0 where none is named: right for a service that has one port."""
    subset: str

    def __str__(self) -> str:
        port = f":{self.port}" if self.port else ""
        return f"{self.host}{port}{f' (subset {self.subset})' if self.subset else ''}"


@dataclass(frozen=True, slots=True)
class VirtualService:
    """One virtual service."""

    namespace: str
    name: str
    hosts: tuple[str, ...]
    gateways: tuple[str, ...]
    """`namespace/name`, or `mesh`."""
    destinations: tuple[Destination, ...]

    @property
    def subject(self) -> str:
        return f"{self.namespace}/VirtualService/{self.name}"

    @property
    def is_of_mesh(self) -> bool:
        """Whether sidecars follow it, and not only those who come in through a gateway."""
        return MESH in self.gateways


@dataclass(frozen=True, slots=True)
class MeshGateway:
    """A Gateway of Istio, and the labels of the pods that carry it out."""

    name: str
    """`namespace/name`."""
    selector: Mapping[str, str]

    @property
    def labels(self) -> str:
        return ",".join(f"{key}={value}" for key, value in sorted(self.selector.items()))

    def chooses(self, pod: Mapping[str, Any]) -> bool | None:
        """True for a pod that carries it out, by its wire body."""
        return self.selector.items() <= (dig(pod, "metadata", "labels") or {}).items() or None


@dataclass(frozen=True, kw_only=True)
class MeshRoutes(Evidence):
    """Istio's routes of the whole cluster; judged are those of the namespaces that are looked into."""

    services: tuple[VirtualService, ...]
    gateways: tuple[MeshGateway, ...] = ()
    without_pods: tuple[str, ...] = ()
    """The label selectors of gateways for which there is no pod."""
    subsets: Mapping[str, frozenset[str]]
    """By host, as a whole name: the subsets that destination rules define."""
    entries: frozenset[str] = frozenset()
    """Hosts that service entries add: of other clusters, or outside."""


@collector(
    reads=(),
    sees=(
        "list destinationrules.networking.istio.io",
        "list gateways.networking.istio.io",
        "list serviceentries.networking.istio.io",
        "list virtualservices.networking.istio.io",
        "list pods",
    ),
    deadline_s=15,
)
async def mesh_routes(
    unwell: UnwellNamespaces, served: ServedGroups | NotApplicable, kube: KubeReader
) -> MeshRoutes | NotApplicable:
    """Istio's virtual services and gateways"""
    root = served.root(GROUP, *VERSIONS) if isinstance(served, ServedGroups) else ""
    if not root:
        return NotApplicable("Istio is not installed, or nothing is unwell")
    listing = await kube.list(f"{root}/virtualservices", read_virtual_service)
    services = tuple(service for service in listing.items if service.namespace in unwell.namespaces)
    if not services:
        return MeshRoutes(source=listing.source, taken_at=listing.taken_at, services=(), subsets={})
    gateways = await kube.list(f"{root}/gateways", read_gateway)
    rules = await kube.list(f"{root}/destinationrules", _read_subsets)
    entries = await kube.list(f"{root}/serviceentries", _read_hosts)
    used = {name for service in services for name in service.gateways}
    without_pods, gaps = await _without_pods([gateway for gateway in gateways.items if gateway.name in used], kube)
    return MeshRoutes(
        source=listing.source,
        taken_at=listing.taken_at,
        truncated=any(one.truncated for one in (listing, gateways, rules, entries)) or unwell.truncated,
        gaps=(*unwell.gaps, *gaps),
        services=services,
        gateways=gateways.items,
        without_pods=without_pods,
        subsets=_merged(rules.items),
        entries=frozenset(host for hosts in entries.items for host in hosts),
    )


async def _without_pods(used: list[MeshGateway], kube: KubeReader) -> tuple[tuple[str, ...], tuple[Unavailable, ...]]:
    wanted = list({gateway.labels: gateway for gateway in used if gateway.selector}.values())[:MOST_SELECTORS]

    async def labels_of_nobody(gateway: MeshGateway) -> str:
        chosen = await kube.list("/api/v1/pods", gateway.chooses, labels=gateway.labels, most=1)
        return "" if chosen.items else gateway.labels

    empty, gaps = await each(wanted, labels_of_nobody)
    return tuple(labels for labels in empty if labels), gaps


def whole_name(host: str, namespace: str) -> str:
    """As Istio reads it: a name without a dot is a service of the object's own namespace."""
    return host if "." in host else f"{host}.{namespace}{DOMAIN}"


def service_of(name: str) -> tuple[str, str] | None:
    """(namespace, service) of a whole name; None where it is no service of this cluster."""
    service, _, namespace = name.removesuffix(DOMAIN).partition(".")
    inside = name.endswith(DOMAIN) and service and namespace and "." not in namespace and "*" not in name
    return (namespace, service) if inside else None


def read_virtual_service(body: Mapping[str, Any]) -> VirtualService:
    """A virtual service from its wire body."""
    namespace = need_text(body, "metadata", "namespace")
    named = texts(body, "spec", "gateways")
    gateways = tuple(name if "/" in name or name == MESH else f"{namespace}/{name}" for name in named)
    return VirtualService(
        namespace=namespace,
        name=need_text(body, "metadata", "name"),
        hosts=texts(body, "spec", "hosts"),
        gateways=gateways or (MESH,),
        destinations=tuple(_destinations(body)),
    )


def read_gateway(body: Mapping[str, Any]) -> MeshGateway:
    """A gateway of Istio from its wire body."""
    name = f"{need_text(body, 'metadata', 'namespace')}/{need_text(body, 'metadata', 'name')}"
    return MeshGateway(name, dict(dig(body, "spec", "selector") or {}))


def _destinations(body: Mapping[str, Any]) -> Iterator[Destination]:
    for protocol in ("http", "tls", "tcp"):
        for rule in rows(body, "spec", protocol):
            path = next((_path(match) for match in rows(rule, "match")), "") or "/"
            routes = rows(rule, "route")
            for row in routes:
                target = dig(row, "destination")
                unused = len(routes) > 1 and not number(row, "weight")  # a release that is prepared
                if text(target, "host") and not unused:
                    port = number(target, "port", "number")
                    yield Destination(path, text(target, "host"), port, text(target, "subset"))


def _path(match: Mapping[str, Any]) -> str:
    return text(match, "uri", "prefix") or text(match, "uri", "exact") or text(match, "uri", "regex")


def _read_subsets(body: Mapping[str, Any]) -> tuple[str, frozenset[str]] | None:
    host = text(body, "spec", "host")
    names = frozenset(text(row, "name") for row in rows(body, "spec", "subsets"))
    return (whole_name(host, need_text(body, "metadata", "namespace")), names) if host else None


def _merged(rules: tuple[tuple[str, frozenset[str]], ...]) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for host, names in rules:
        found[host] = found.get(host, frozenset()) | names
    return found


def _read_hosts(body: Mapping[str, Any]) -> tuple[str, ...]:
    return texts(body, "spec", "hosts")
