"""Routes of Istio that lead nowhere, and what those who call through them say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.gather import each
from handlers.evidence.workloads.logs import LogTails, Tail, last_lines
from handlers.evidence.workloads.pods import WorkloadPod, WorkloadPods
from handlers.evidence.workloads.services import Services, WorkloadService
from handlers.evidence.workloads.wiring.calls import Calls
from handlers.evidence.workloads.wiring.mesh import (
    MESH,
    Destination,
    MeshRoutes,
    VirtualService,
    service_of,
    whole_name,
)
from handlers.model import NotApplicable

MOST_CALLERS = 4
"""Each is a call to a kubelet."""


@dataclass(frozen=True, slots=True)
class DeadEnd:
    """A virtual service that leads nowhere."""

    service: VirtualService
    path: str
    to: str
    why: str
    cause: str
    """service, port, subset, gateway or gateway-pods."""


@dataclass(frozen=True, kw_only=True)
class MeshCallers(LogTails):
    """The last lines of those who call a service whose route leads nowhere: their sidecars answer 503 for it."""


@collector(reads=(), sees=("get pods/log",), deadline_s=10)
async def mesh_callers(
    mesh: MeshRoutes | NotApplicable, services: Services, calls: Calls, pods: WorkloadPods, kube: KubeReader
) -> MeshCallers | NotApplicable:
    """the last lines of those who call through Istio's routes"""
    ends = tuple(dead_ends(mesh, services)) if isinstance(mesh, MeshRoutes) else ()
    wanted = tuple(_callers(ends, services, calls, pods))
    if not wanted:
        return NotApplicable("no route of Istio that is called leads nowhere")

    async def read(pod: WorkloadPod) -> Tail | None:
        return await last_lines(kube, pod)

    found, gaps = await each(wanted[:MOST_CALLERS], read)
    return MeshCallers(
        source="; ".join(f"kubectl logs of {pod.owned_by}" for pod in wanted[:MOST_CALLERS]),
        taken_at=pods.taken_at,
        gaps=tuple(dict.fromkeys(replace(gap, wanted=mesh_callers.title) for gap in gaps)),
        tails=tuple(tail for tail in found if tail),
        left_out=max(0, len(wanted) - MOST_CALLERS),
    )


def dead_ends(mesh: MeshRoutes, services: Services) -> Iterator[DeadEnd]:
    """The first of each virtual service. Only services of namespaces that were looked into can be missed."""
    seen = {service.namespace for service in services.services}
    seen |= {virtual.namespace for virtual in mesh.services}
    for virtual in mesh.services:
        found = next(_of_gateway(virtual, mesh), None) or next(_of_destinations(virtual, mesh, services, seen), None)
        if found:
            yield found


def called(virtual: VirtualService, services: Services) -> Iterator[WorkloadService]:
    """The services whose callers follow a virtual service."""
    for host in virtual.hosts:
        where = service_of(whole_name(host, virtual.namespace))
        service = services.named(*where) if where else None
        if service:
            yield service


def _callers(ends: tuple[DeadEnd, ...], services: Services, calls: Calls, pods: WorkloadPods) -> Iterator[WorkloadPod]:
    hosts = [service for end in ends if end.service.is_of_mesh for service in called(end.service, services)]
    owners = dict.fromkeys(owner for service in hosts for owner in calls.callers.get(service.subject, ()))
    for owner in owners:
        ready = [pod for pod in pods.of(owner) if pod.ready and not pod.deleting]
        yield from ready[:1]


def _of_gateway(virtual: VirtualService, mesh: MeshRoutes) -> Iterator[DeadEnd]:
    known = {gateway.name: gateway for gateway in mesh.gateways}
    paths = virtual.destinations[0].path if virtual.destinations else "/"
    for name in virtual.gateways:
        gateway = known.get(name)
        if name != MESH and gateway is None:
            yield DeadEnd(virtual, paths, name, f"there is no Gateway {name}", "gateway")
        elif gateway and gateway.labels in mesh.without_pods:
            why = f"Gateway {name} selects pods with {gateway.labels}, and there is none"
            yield DeadEnd(virtual, paths, name, why, "gateway-pods")


def _of_destinations(
    virtual: VirtualService, mesh: MeshRoutes, services: Services, seen: set[str]
) -> Iterator[DeadEnd]:
    for to in virtual.destinations:
        name = whole_name(to.host, virtual.namespace)
        where = service_of(name)
        if where is None or where[0] not in seen or name in mesh.entries or to.host in mesh.entries:
            continue
        cause, why = _why(to, name, services.named(*where), where, mesh)
        if why:
            yield DeadEnd(virtual, to.path, str(to), why, cause)


def _why(
    to: Destination, name: str, service: WorkloadService | None, where: tuple[str, str], mesh: MeshRoutes
) -> tuple[str, str]:
    if service is None:
        return "service", f"no service is called {where[1]} in namespace {where[0]}"
    numbers = [port.number for port in service.ports]
    if to.port and numbers and to.port not in numbers:
        return "port", f"service {service.name} has no port {to.port}; it has {', '.join(map(str, numbers))}"
    subsets = mesh.subsets.get(name, frozenset())
    if to.subset and to.subset not in subsets:
        has = f"there are {', '.join(sorted(subsets))}" if subsets else "none defines any"
        return "subset", f"no destination rule for {service.name} defines subset {to.subset}; {has}"
    return "", ""
