"""The findings on Istio's routes: a virtual service or a gateway that leads nowhere."""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.callers import Complains, complaining
from handlers.diagnose.workload_findings import workload_facts
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.workloads.logs import LogTails
from handlers.evidence.workloads.services import Services
from handlers.evidence.workloads.symptoms import Symptoms
from handlers.evidence.workloads.wiring.calls import Calls
from handlers.evidence.workloads.wiring.mesh import MESH, MeshRoutes
from handlers.evidence.workloads.wiring.mesh_dead_ends import DeadEnd, called, dead_ends
from handlers.model import Finding, NotApplicable, Severity, Unavailable

CODE = "gateway-misroute"


def mesh_findings(
    cluster: ManagedCluster,
    mesh: MeshRoutes,
    services: Services,
    calls: Calls | Unavailable,
    tails: LogTails | Unavailable | NotApplicable,
    symptoms: Symptoms | Unavailable,
) -> Iterator[Finding]:
    """A route that only sidecars follow counts where one of its callers complains. Who comes in through a gateway is
    not seen from here: there it is a warning, as with an Ingress."""
    for end in dead_ends(mesh, services):
        told = _complaints(end, services, calls, tails, symptoms)
        if told or any(name != MESH for name in end.service.gateways):
            yield _finding(cluster, end, services, told)


def _complaints(
    end: DeadEnd,
    services: Services,
    calls: Calls | Unavailable,
    tails: LogTails | Unavailable | NotApplicable,
    symptoms: Symptoms | Unavailable,
) -> tuple[Complains, ...]:
    if isinstance(symptoms, Unavailable) or not end.service.is_of_mesh:
        return ()
    lines = tails if isinstance(tails, LogTails) else _no_lines(symptoms)
    found = {
        one.owner: one
        for service in called(end.service, services)
        for one in complaining(service, calls, lines, symptoms)
    }
    return tuple(found.values())


def _no_lines(symptoms: Symptoms) -> LogTails:
    return LogTails(source=symptoms.source, taken_at=symptoms.taken_at, tails=())


def _finding(cluster: ManagedCluster, end: DeadEnd, services: Services, told: tuple[Complains, ...]) -> Finding:
    virtual = end.service
    hosts = ", ".join(virtual.hosts) or "any host"
    affects = [*(one.subject for one in called(virtual, services)), *(one.owner for one in told)]
    said = [f"{one.owner.partition('/')[2]} calls it: {one.line}" for one in told[:2]]
    return Finding(
        code=CODE,
        subject=virtual.subject,
        severity=Severity.ERROR if told else Severity.WARNING,
        affects=tuple(dict.fromkeys(affects)) if told else (),
        because=(f"VirtualService {virtual.name} sends {hosts}{end.path} to {end.to}", end.why, *said),
        facts=workload_facts(virtual.subject)
        | {
            "route": f"{hosts}{end.path}",
            "service": end.to,
            "meant": "",
            "config_map": "",
            "kind": "VirtualService",
            "why": end.why,
            "cause": end.cause,
            "cluster": cluster.name,
            "group": cluster.group,
            "subscription": cluster.subscription,
        },
    )
