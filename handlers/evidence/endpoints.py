"""The service `kubernetes` in namespace `default`: the way on which pods reach their API server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.wire import dig, number, rows, text, texts
from handlers.model import Evidence, NotApplicable

SERVICES = "/api/v1/namespaces/default/services"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
OF_THE_API_SERVER = "kubernetes.io/service-name=kubernetes"


@dataclass(frozen=True, slots=True)
class Service:
    """A service, as far as it matters here."""

    address: str
    ports: tuple[tuple[str, int], ...]
    selector: Mapping[str, str]
    """The API server keeps the endpoints of its service itself, and gives it none."""


@dataclass(frozen=True, slots=True)
class Slice:
    """One EndpointSlice."""

    ready: tuple[str, ...]
    not_ready: tuple[str, ...]
    ports: tuple[tuple[str, int], ...]


@dataclass(frozen=True, kw_only=True)
class KubernetesService(Evidence):
    """The service `default/kubernetes`, and the addresses that it leads to."""

    service: Service | None
    slices: tuple[Slice, ...]

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(address for slice_ in self.slices for address in slice_.ready))


@dataclass(frozen=True, kw_only=True)
class ProbeImage(Evidence):
    """What a probe pod is made from, as the settings say."""

    name: str


@collector(reads=())
async def probe_image(cluster: ManagedCluster, kube: KubeReader) -> ProbeImage:
    """the image of the probe pod"""
    return ProbeImage(source="AKSBOT_PROBE_IMAGE", taken_at=cluster.taken_at, name=kube.access.probe_image)


@collector(reads=(), sees=("list services", "list endpointslices.discovery.k8s.io"), deadline_s=15)
async def kubernetes_service(cluster: ManagedCluster, kube: KubeReader) -> KubernetesService | NotApplicable:
    """the service default/kubernetes"""
    if cluster.stopped:
        return NotApplicable(f"{cluster.name} is stopped: its API server does not run")
    services = await kube.list(SERVICES, read_service, fields="metadata.name=kubernetes")
    slices = await kube.list(SLICES, read_slice, labels=OF_THE_API_SERVER)
    return KubernetesService(
        source=f"{services.source}; {slices.source}",
        taken_at=services.taken_at,
        truncated=services.truncated or slices.truncated,
        service=next(iter(services.items), None),
        slices=slices.items,
    )


def read_service(body: Mapping[str, Any]) -> Service:
    """A service from its wire body."""
    return Service(
        address=text(body, "spec", "clusterIP"),
        ports=tuple((text(row, "name"), number(row, "port")) for row in rows(body, "spec", "ports")),
        selector=dict(dig(body, "spec", "selector") or {}),
    )


def read_slice(body: Mapping[str, Any]) -> Slice:
    """An EndpointSlice from its wire body. An endpoint that says nothing about itself is ready."""
    endpoints = [(texts(row, "addresses"), dig(row, "conditions", "ready")) for row in rows(body, "endpoints")]
    return Slice(
        ready=tuple(address for addresses, ready in endpoints if ready is not False for address in addresses),
        not_ready=tuple(address for addresses, ready in endpoints if ready is False for address in addresses),
        ports=tuple((text(row, "name"), number(row, "port")) for row in rows(body, "ports")),
    )
