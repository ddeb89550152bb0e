"""Services of the namespaces that are looked into, and the endpoints behind them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.wire import dig, moment, need_text, number, rows, text, texts
from handlers.evidence.workloads.lists import in_namespaces
from handlers.evidence.workloads.unwell import UnwellNamespaces
from handlers.model import Evidence

SERVICE_NAME = "kubernetes.io/service-name"


@dataclass(frozen=True, slots=True)
class ServicePort:
    """A port of a service, and where it leads."""

    name: str
    number: int
    protocol: str
    target: str
    """A number, or the name of a container's port."""
    app_protocol: str = ""


@dataclass(frozen=True, slots=True)
class WorkloadService:
    """One service."""

    namespace: str
    name: str
    kind: str
    """ClusterIP, NodePort, LoadBalancer or ExternalName."""
    address: str
    """`None` where it is headless."""
    external_name: str
    selector: Mapping[str, str]
    ports: tuple[ServicePort, ...]
    publishes_unready: bool
    created: datetime | None

    @property
    def subject(self) -> str:
        return f"{self.namespace}/Service/{self.name}"

    @property
    def names(self) -> tuple[str, ...]:
        """How callers may write it."""
        short = f"{self.name}.{self.namespace}"
        return self.name, short, f"{short}.svc", f"{short}.svc.cluster.local"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address behind a service."""

    addresses: tuple[str, ...]
    ready: bool
    pod: str
    node: str


@dataclass(frozen=True, slots=True)
class EndpointSlice:
    """Some of the endpoints of a service."""

    namespace: str
    service: str
    endpoints: tuple[Endpoint, ...]
    ports: tuple[ServicePort, ...]


@dataclass(frozen=True, kw_only=True)
class Services(Evidence):
    """The services of the namespaces that are looked into."""

    services: tuple[WorkloadService, ...]

    def named(self, namespace: str, name: str) -> WorkloadService | None:
        return next(
            (service for service in self.services if (service.namespace, service.name) == (namespace, name)), None
        )


@dataclass(frozen=True, kw_only=True)
class EndpointSlices(Evidence):
    """What stands behind the services of the namespaces that are looked into."""

    slices: tuple[EndpointSlice, ...]

    def of(self, service: WorkloadService) -> tuple[Endpoint, ...]:
        wanted = service.namespace, service.name
        return tuple(
            end for slice_ in self.slices if (slice_.namespace, slice_.service) == wanted for end in slice_.endpoints
        )

    def serves(self, service: WorkloadService) -> bool:
        """Whether an endpoint is Ready at a port: of a port that no container has, a slice holds only the addresses."""
        wanted = service.namespace, service.name
        of_it = (slice_ for slice_ in self.slices if (slice_.namespace, slice_.service) == wanted and slice_.ports)
        return any(end.ready for slice_ in of_it for end in slice_.endpoints)

    def ready(self, service: WorkloadService) -> tuple[Endpoint, ...]:
        return tuple(endpoint for endpoint in self.of(service) if endpoint.ready)


@collector(reads=(), sees=("list services",), deadline_s=15)
async def services(unwell: UnwellNamespaces, kube: KubeReader) -> Services:
    """the services of the namespaces in which something is unwell"""
    listed = await in_namespaces(kube, unwell, "/api/v1/namespaces/{}/services", read_workload_service, services.title)
    return Services(
        source=listed.source,
        taken_at=listed.taken_at,
        truncated=listed.truncated,
        gaps=listed.gaps,
        services=listed.items,
    )


@collector(reads=(), sees=("list endpointslices.discovery.k8s.io",), deadline_s=15)
async def endpoint_slices(unwell: UnwellNamespaces, kube: KubeReader) -> EndpointSlices:
    """the endpoint slices of the namespaces in which something is unwell"""
    path = "/apis/discovery.k8s.io/v1/namespaces/{}/endpointslices"
    listed = await in_namespaces(kube, unwell, path, read_endpoint_slice, endpoint_slices.title)
    return EndpointSlices(
        source=listed.source,
        taken_at=listed.taken_at,
        truncated=listed.truncated,
        gaps=listed.gaps,
        slices=listed.items,
    )


def read_workload_service(body: Mapping[str, Any]) -> WorkloadService:
    """A service from its wire body."""
    metadata, spec = dig(body, "metadata"), dig(body, "spec")
    return WorkloadService(
        namespace=need_text(metadata, "namespace"),
        name=need_text(metadata, "name"),
        kind=text(spec, "type") or "ClusterIP",
        address=text(spec, "clusterIP"),
        external_name=text(spec, "externalName"),
        selector=dict(dig(spec, "selector") or {}),
        ports=tuple(_port(row) for row in rows(spec, "ports")),
        publishes_unready=dig(spec, "publishNotReadyAddresses") is True,
        created=moment(text(metadata, "creationTimestamp")),
    )


def read_endpoint_slice(body: Mapping[str, Any]) -> EndpointSlice:
    """An endpoint slice from its wire body. An endpoint that says nothing about itself is ready."""
    metadata = dig(body, "metadata")
    return EndpointSlice(
        namespace=need_text(metadata, "namespace"),
        service=text(metadata, "labels", SERVICE_NAME),
        endpoints=tuple(_endpoint(row) for row in rows(body, "endpoints")),
        ports=tuple(_slice_port(row) for row in rows(body, "ports")),
    )


def _port(row: Mapping[str, Any]) -> ServicePort:
    target = dig(row, "targetPort")
    return ServicePort(
        name=text(row, "name"),
        number=number(row, "port"),
        protocol=text(row, "protocol") or "TCP",
        target=str(number(row, "port") if target is None else target),
        app_protocol=text(row, "appProtocol"),
    )


def _slice_port(row: Mapping[str, Any]) -> ServicePort:
    port = number(row, "port")
    return ServicePort(text(row, "name"), port, text(row, "protocol") or "TCP", str(port), text(row, "appProtocol"))


def _endpoint(row: Mapping[str, Any]) -> Endpoint:
    return Endpoint(
        addresses=texts(row, "addresses"),
        ready=dig(row, "conditions", "ready") is not False,
        pod=text(row, "targetRef", "name"),
        node=text(row, "nodeName"),
    )
