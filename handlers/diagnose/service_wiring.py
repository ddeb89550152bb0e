"""Do services and those who call them agree about names, ports and protocols?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.callers import complaining
from handlers.diagnose.workload_findings import WITHOUT_AZURE, harmed, named, workload_facts
from handlers.engine.declare import diagnostic
from handlers.evidence.workloads.log_families import OF_DEPENDENCY, said
from handlers.evidence.workloads.logs import LogTails
from handlers.evidence.workloads.pods import WorkloadPod, WorkloadPods
from handlers.evidence.workloads.services import ServicePort, Services, WorkloadService
from handlers.evidence.workloads.symptoms import Symptoms
from handlers.evidence.workloads.wiring.calls import Calls, WrongAddress, wrong_addresses
from handlers.model import Finding, Judgement, Severity, Unavailable

PROTOCOL, ADDRESS = "service-protocol-mismatch", "service-address-wrong"


@diagnostic(
    codes=(PROTOCOL,),
    area="workloads",
    clear_without=WITHOUT_AZURE,
    clear_says="no service that fails says UDP where its pods say TCP, or TCP where they say UDP",
)
def service_protocol_mismatch(
    services: Services, pods: WorkloadPods, calls: Calls, symptoms: Symptoms, tails: LogTails | Unavailable
) -> Iterator[Judgement]:
    """A service says UDP where its pods' containers say TCP, or the other way round."""
    found = (
        _mismatch(service, port, pod, calls, symptoms, tails)
        for service in services.services
        for port in service.ports
        if (pod := _other_protocol(service, port, pods))
    )
    yield from named(found)


@diagnostic(
    codes=(ADDRESS,),
    area="workloads",
    clear_without=WITHOUT_AZURE,
    clear_says="no failing workload names a service or port that does not exist",
)
def service_address_wrong(
    services: Services,
    pods: WorkloadPods,
    calls: Calls | Unavailable,
    symptoms: Symptoms,
    tails: LogTails | Unavailable,
) -> Iterator[Judgement]:
    """An address in a workload's environment names a service or a port that does not exist, and it fails for that."""
    if not services.complete:
        return
    seen: dict[tuple[str, str], Finding] = {}
    for pod in pods.pods:
        if pod.done or pod.deleting:
            continue
        for wrong in wrong_addresses(pod.namespace, pod.spec, services):
            told = _failing(pod, wrong, symptoms, tails)
            if told:
                seen.setdefault((pod.owned_by, wrong.variable.name), _wrong(pod, wrong, told, services, calls))
    yield from named(seen.values())


def _other_protocol(service: WorkloadService, port: ServicePort, pods: WorkloadPods) -> WorkloadPod | None:
    """A pod behind the service that has this port in another protocol, and not in the service's."""
    for pod in pods.selected(service.namespace, service.selector):
        same = [
            each_port
            for box in pod.containers
            for each_port in box.ports
            if port.target in (each_port.name, str(each_port.number))
        ]
        if same and all(each_port.protocol != port.protocol for each_port in same):
            return pod
    return None


def _mismatch(
    service: WorkloadService,
    port: ServicePort,
    pod: WorkloadPod,
    calls: Calls,
    symptoms: Symptoms,
    tails: LogTails | Unavailable,
) -> Finding:
    container = next(
        each_port
        for box in pod.containers
        for each_port in box.ports
        if port.target in (each_port.name, str(each_port.number))
    )
    missing = complaining(service, calls, tails, symptoms)
    told = [f"{complains.owner.partition('/')[2]} calls it: {complains.line}" for complains in missing[:2]]
    callers = calls.callers.get(service.subject, ())
    return Finding(
        code=PROTOCOL,
        subject=service.subject,
        severity=Severity.ERROR if missing else Severity.WARNING,
        affects=tuple(dict.fromkeys(item for owner in callers for item in harmed(owner, (), calls))),
        because=(
            f"service {service.name} forwards port {port.number} as {port.protocol}",
            f"its pods listen on {container.number} as {container.protocol}: {pod.workload}",
            *told,
        ),
        facts=workload_facts(pod.owned_by, (pod,))
        | {
            "service": service.name,
            "port": port.number,
            "protocol": port.protocol,
            "container_port": container.number,
            "container_protocol": container.protocol,
            "index": service.ports.index(port),
        },
    )


def _failing(pod: WorkloadPod, wrong: WrongAddress, symptoms: Symptoms, tails: LogTails | Unavailable) -> str:
    """What shows that it fails for this address: a line that names it. Most environments name something that nobody
    needs, and that is no problem."""
    lines = [line for tail in tails.of(pod.owned_by) for line in tail.lines] if isinstance(tails, LogTails) else []
    naming = next((line for line in reversed(lines) if wrong.host in line or _leads(line, wrong)), "")
    words = said([naming]) if naming else None
    if words and words.cause in OF_DEPENDENCY:
        return words.line
    unwell = any(symptom.owner == pod.owned_by for symptom in symptoms.symptoms)
    return naming.strip() if naming and unwell else ""


def _leads(line: str, wrong: WrongAddress) -> bool:
    return wrong.service is not None and f"{wrong.service.address}:{wrong.port}" in line


def _wrong(pod: WorkloadPod, wrong: WrongAddress, told: str, services: Services, calls: Calls | Unavailable) -> Finding:
    workload, name = pod.workload, wrong.variable.name
    near = nearest(wrong.host, [service.name for service in services.services if service.namespace == pod.namespace])
    if wrong.service:
        ports = [str(port.number) for port in wrong.service.ports]
        why = f"{workload}: {name}={wrong.variable.value}, but service {wrong.service.name} has port {', '.join(ports)}"
    else:
        ports = []
        why = f"{workload}: {name}={wrong.variable.value}, but no service is called {wrong.host}"
    return Finding(
        code=ADDRESS,
        subject=pod.owned_by,
        affects=harmed(pod.owned_by, (pod,), calls),
        because=(why, f"its last lines: {told}"),
        facts=workload_facts(pod.owned_by, (pod,), wrong.container)
        | {
            "variable": name,
            "value": wrong.variable.value,
            "host": wrong.host,
            "port": wrong.port,
            "service": wrong.service.name if wrong.service else "",
            "ports": ports,
            "nearest": near,
        },
    )


def nearest(host: str, names: list[str]) -> str:
    """The service that a wrong name probably means: the one that it begins with, or that begins with it."""
    short = host.partition(".")[0]
    fitting = [name for name in names if short.startswith(name) or name.startswith(short)]
    return max(fitting, key=len, default="")
