"""Do ingresses, gateways and Istio's routes lead to services that exist, and to the right ones?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from handlers.diagnose.mesh_findings import CODE, mesh_findings
from handlers.diagnose.workload_findings import WITHOUT_AZURE, named, workload_facts
from handlers.engine.declare import diagnostic
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.workloads.logs import LogTails
from handlers.evidence.workloads.services import Services, WorkloadService
from handlers.evidence.workloads.symptoms import Symptoms
from handlers.evidence.workloads.wiring.calls import Calls
from handlers.evidence.workloads.wiring.gateway_routes import GatewayRoute, GatewayRoutes
from handlers.evidence.workloads.wiring.http_routes import HttpRoutes
from handlers.evidence.workloads.wiring.mesh import MeshRoutes
from handlers.evidence.workloads.wiring.mesh_dead_ends import MeshCallers
from handlers.evidence.workloads.wiring.routes import Backend, Ingress, Ingresses
from handlers.model import Finding, Judgement, NotApplicable, Severity, Unavailable

_PLAIN = frozenset({"api", "rest", "v1", "v2", "v3", "public", "internal", "service", "services"})
"""Parts of a path that name no service."""
SHORTEST = 4
_REFUSALS = (" 404 ", " 405 ", " 502 ", " 503 ", "404 NOT_FOUND")


@diagnostic(
    codes=(CODE,),
    area="workloads",
    clear_without=WITHOUT_AZURE,
    clear_says="no Ingress, Gateway route or virtual service points to a service or port that does not exist",
)
def gateway_misroute(
    cluster: ManagedCluster,
    ingresses: Ingresses | Unavailable,
    http: HttpRoutes | Unavailable | NotApplicable,
    routes: GatewayRoutes | Unavailable,
    services: Services,
    tails: LogTails | Unavailable,
    mesh: MeshRoutes | Unavailable | NotApplicable,
    mesh_tails: MeshCallers | Unavailable | NotApplicable,
    calls: Calls | Unavailable,
    symptoms: Symptoms | Unavailable,
) -> Iterator[Judgement]:
    """An Ingress or a gateway's route leads to a service or port that does not exist, or to another service."""
    if isinstance(ingresses, Ingresses) and services.complete:
        yield from named(_dangling(ingresses.ingresses, services))
    if isinstance(http, HttpRoutes) and services.complete:
        yield from named(_dangling(http.routes, services))
    if isinstance(routes, GatewayRoutes) and services.complete:
        yield from named(_crossed(routes.routes, services, tails))
    if isinstance(mesh, MeshRoutes) and services.complete:
        yield from named(mesh_findings(cluster, mesh, services, calls, mesh_tails, symptoms))
    yield from (item for item in (ingresses, http, routes, mesh, mesh_tails) if isinstance(item, Unavailable))


def _dangling(ingresses: Sequence[Ingress], services: Services) -> Iterator[Finding]:
    for ingress in ingresses:
        for backend in ingress.backends:
            why = _nowhere(ingress, backend, services)
            if why:
                yield _ingress_finding(ingress, backend, why)
                break


def _nowhere(ingress: Ingress, backend: Backend, services: Services) -> str:
    service = services.named(ingress.namespace, backend.service)
    if service is None:
        return f"no service is called {backend.service} in namespace {ingress.namespace}"
    ports = [name for port in service.ports for name in (str(port.number), port.name) if name]
    if service.kind != "ExternalName" and backend.port and backend.port not in ports:
        return f"service {service.name} has no port {backend.port}; it has {', '.join(ports)}"
    return ""


def _crossed(routes: Sequence[GatewayRoute], services: Services, tails: LogTails | Unavailable) -> Iterator[Finding]:
    """A path that bears the name of one service and leads to another, while no route leads to the first."""
    reached = {route.host for route in routes}
    for route in routes:
        namespace = route.owner.partition("/")[0]
        there = [service for service in services.services if service.namespace == namespace]
        meant = _meant(route, there)
        is_other = services.named(namespace, route.host) is not None and meant is not None and meant.name != route.host
        if meant and is_other and meant.name not in reached:
            yield _route_finding(route, meant, _told(route, tails))


def _meant(route: GatewayRoute, services: Sequence[WorkloadService]) -> WorkloadService | None:
    """The one service whose name ends like a part of the route's paths."""
    parts = {_plain(part) for path in route.paths for part in path.split("/") if part.lower() not in _PLAIN}
    words = [part for part in parts if len(part) >= SHORTEST]
    fitting = [service for service in services if any(_plain(service.name).endswith(word) for word in words)]
    if len(fitting) > 1:  # `order` also ends `preorder`: the shortest name adds least
        shortest = min(len(service.name) for service in fitting)
        fitting = [service for service in fitting if len(service.name) == shortest]
    return fitting[0] if len(fitting) == 1 else None


def _plain(name: str) -> str:
    return "".join(item for item in name.lower() if item.isalnum())


def _told(route: GatewayRoute, tails: LogTails | Unavailable) -> str:
    """A refused request for one of the route's paths."""
    stems = [path.rstrip("*").rstrip("/") for path in route.paths]
    for tail in tails.tails if isinstance(tails, LogTails) else ():
        for line in reversed(tail.lines):
            if any(stem in line for stem in stems) and any(word in line for word in _REFUSALS):
                return line.strip()
    return ""


def _ingress_finding(ingress: Ingress, backend: Backend, why: str) -> Finding:
    where = f"{backend.host or 'any host'}{backend.path}"
    return Finding(
        code=CODE,
        subject=ingress.subject,
        severity=Severity.WARNING,
        because=(
            f"{ingress.kind} {ingress.name} sends {where} to {backend.service}:{backend.port}",
            why,
            *([f"its gateway says {ingress.told}"] if ingress.told else []),
        ),
        facts=workload_facts(ingress.subject)
        | {"route": where, "service": backend.service, "meant": "", "config_map": "", "kind": ingress.kind, "why": why},
    )


def _route_finding(route: GatewayRoute, meant: WorkloadService, told: str) -> Finding:
    paths = ", ".join(route.paths)
    why = f"{meant.name} bears the name of that path, and no route leads to it"
    said = (f"a request for it was refused: {told}",) if told else ()
    return Finding(
        code=CODE,
        subject=route.owner,
        severity=Severity.ERROR if told else Severity.WARNING,
        affects=(meant.subject,),
        because=(f"config map {route.config_map}: route {route.id} sends {paths} to {route.host}", why, *said),
        facts=workload_facts(route.owner)
        | {
            "route": paths,
            "service": route.host,
            "meant": meant.name,
            "config_map": route.config_map,
            "kind": "route",
            "why": why,
        },
    )
