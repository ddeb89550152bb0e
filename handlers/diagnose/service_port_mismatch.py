"""Do the services that are called send to a port that their pods have?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from handlers.counted import counted
from handlers.diagnose.service_use import Use, unseen, use_of
from handlers.diagnose.workload_findings import WITHOUT_AZURE
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.workloads.containers import Port
from handlers.evidence.workloads.logs import LogTails
from handlers.evidence.workloads.owners import Owners
from handlers.evidence.workloads.pods import WorkloadPod, WorkloadPods
from handlers.evidence.workloads.services import EndpointSlices, ServicePort, Services, WorkloadService
from handlers.evidence.workloads.wiring.calls import Calls
from handlers.evidence.workloads.wiring.routes import Ingresses
from handlers.model import Clear, Finding, Judgement, Severity, Unavailable

CODE = "service-port-mismatch"

ALSO = ClearWithout(
    (*WITHOUT_AZURE.kinds, Owners, EndpointSlices, Ingresses, LogTails),
    "where every service sends to a port that is there, callers do not matter",
)


@dataclass(frozen=True, slots=True)
class _Wrong:
    """A port of a service that its pods do not have."""

    position: int
    port: ServicePort
    declared: tuple[Port, ...]
    named: bool
    """It is a name, which must be there. A number that no container declares may be right all the same."""


@diagnostic(codes=(CODE,), area="workloads", clear_without=ALSO)
def service_port_mismatch(
    cluster: ManagedCluster,
    services: Services,
    pods: WorkloadPods,
    calls: Calls | Unavailable,
    tails: LogTails | Unavailable,
    ingresses: Ingresses | Unavailable,
) -> Iterator[Judgement]:
    """A service that is called sends to a port that its pods do not have."""
    looked = 0
    for service in services.services:
        if service.namespace in cluster.all_system_namespaces or service.kind == "ExternalName":
            continue
        behind = [pod for pod in pods.selected(service.namespace, service.selector) if pod.ready]
        looked += bool(behind)
        found = list(_wrong(service, behind))
        use = use_of(service, calls, tails, ingresses)
        harmful = [wrong for wrong in found if _matters(wrong, use, every=len(found) == len(service.ports))]
        if harmful:
            yield _finding(cluster, service, harmful[0], behind, use, calls)
        elif found and (missing := unseen(calls, tails, ingresses)):
            yield missing
    if services.complete and pods.complete:
        checked = counted(looked, "service")
        yield Clear(f"no service in use forwards to a port that its Ready pods do not have ({checked} checked)")


def _wrong(service: WorkloadService, behind: Sequence[WorkloadPod]) -> Iterator[_Wrong]:
    for position, port in enumerate(service.ports):
        declared = tuple({port: None for pod in behind for box in pod.containers for port in box.ports})
        named = not port.target.isdigit()
        if not behind or any(_meets(port, each_port) for each_port in declared):
            continue
        if named or declared:
            yield _Wrong(position, port, declared, named)


def _meets(port: ServicePort, declared: Port) -> bool:
    """A name must be there for the same protocol. Of a number, the protocol is another question."""
    if port.target.isdigit():
        return declared.number == int(port.target)
    return (declared.name, declared.protocol) == (port.target, port.protocol)


def _matters(wrong: _Wrong, use: Use, *, every: bool) -> bool:
    """A name that leads nowhere harms whoever uses the service, where no other port of it is left; else it must be
    complained of. An undeclared number is no more than possible: only what callers say shows it."""
    return _complained(wrong.port, use) or (wrong.named and every and use.any)


def _complained(port: ServicePort, use: Use) -> bool:
    return any(f":{port.number}" in line for _, line in use.lines)


def _finding(
    cluster: ManagedCluster,
    service: WorkloadService,
    wrong: _Wrong,
    behind: Sequence[WorkloadPod],
    use: Use,
    calls: Calls | Unavailable,
) -> Finding:
    proven = wrong.named or use.refused
    harmed = calls.harmed_by(service.subject)[1:] if isinstance(calls, Calls) else use.callers
    right = _right(wrong)
    path = f"/spec/ports/{wrong.position}/targetPort"
    value: object = (right.name or right.number) if wrong.named and right else right.number if right else 0
    return Finding(
        code=CODE,
        subject=service.subject,
        severity=Severity.ERROR if proven else Severity.WARNING,
        affects=tuple(harmed) if proven else (),
        because=(_headline(service, wrong), f"the pods of {behind[0].workload} have {_declared(wrong)}", *use.told()),
        facts={
            "service": service.name,
            "namespace": service.namespace,
            "target_port": wrong.port.target,
            "container_port": str(value) if right else "",
            "service_port": wrong.port.number,
            "declared": _declared(wrong),
            "named": wrong.named,
            "owner": behind[0].workload,
            "pod": behind[0].name,
            "selector_text": ",".join(f"{key}={said}" for key, said in sorted(service.selector.items())),
            "patch": json.dumps([{"op": "replace", "path": path, "value": value}]) if right else "",
            "callers": list(use.callers),
            "cluster": cluster.name,
            "group": cluster.group,
            "subscription": cluster.subscription,
        },
    )


def _headline(service: WorkloadService, wrong: _Wrong) -> str:
    where = f"Service {service.namespace}/{service.name} sends port {wrong.port.number} to"
    if wrong.named:
        return f"{where} a port named {wrong.port.target} ({wrong.port.protocol}), and no container has that name"
    return f"{where} {wrong.port.target}, which no container declares"


def _declared(wrong: _Wrong) -> str:
    return ", ".join(_spoken(port) for port in wrong.declared) or "no port with a name"


def _spoken(port: Port) -> str:
    return f"{port.name} = {port.number}/{port.protocol}" if port.name else f"{port.number}/{port.protocol}"


def _right(wrong: _Wrong) -> Port | None:
    """The port that was meant: the only one, or the one with the service's own number."""
    fits = [port for port in wrong.declared if port.protocol == wrong.port.protocol]
    same = [fit for fit in fits if fit.number == wrong.port.number]
    return fits[0] if len(fits) == 1 else same[0] if same else None
