"""Who calls whom: which services lead to a workload, and which workloads name them in their environment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from handlers.engine.declare import collector
from handlers.evidence.workloads.containers import Variable
from handlers.evidence.workloads.owners import Owner, Owners
from handlers.evidence.workloads.pods import PodSpec
from handlers.evidence.workloads.services import Services, WorkloadService
from handlers.evidence.workloads.wiring.addresses import named_service, read_address, service_name
from handlers.model import Evidence


@dataclass(frozen=True, kw_only=True)
class Calls(Evidence):
    """Who calls whom."""

    fronts: Mapping[str, tuple[str, ...]]
    """By workload: the services that lead to its pods."""
    callers: Mapping[str, tuple[str, ...]]
    """By service: the workloads whose environment names it."""

    def harmed_by(self, owner: str) -> tuple[str, ...]:
        """What suffers when this workload does not work: itself, its services, those who call them, and so on."""
        found: dict[str, None] = {}
        waiting = [owner]
        while waiting:
            item = waiting.pop(0)
            if item not in found:
                found[item] = None
                waiting += (*self.fronts.get(item, ()), *self.callers.get(item, ()))
        return tuple(found)


@collector(reads=())
async def calls(owners: Owners, services: Services) -> Calls:
    """who calls whom"""
    fronts: dict[str, list[str]] = defaultdict(list)
    callers: dict[str, list[str]] = defaultdict(list)
    for owner in owners.workloads:
        fronts[owner.subject] += [
            workload_service.subject for workload_service in services.services if leads_to(workload_service, owner)
        ]
        for service in called_by(owner.namespace, owner.spec, services):
            callers[service.subject].append(owner.subject)
    return Calls(
        source=services.source,
        taken_at=services.taken_at,
        truncated=services.truncated or owners.truncated,
        gaps=(*services.gaps, *owners.gaps),
        fronts={owner: tuple(found) for owner, found in fronts.items()},
        callers={service: tuple(dict.fromkeys(found)) for service, found in callers.items()},
    )


def leads_to(service: WorkloadService, owner: Owner) -> bool:
    """Whether a service selects the pods that a workload makes."""
    same = service.namespace == owner.namespace and bool(service.selector)
    return same and service.selector.items() <= owner.labels.items()


def called_by(namespace: str, spec: PodSpec, services: Services) -> tuple[WorkloadService, ...]:
    """The services that a pod's environment names."""
    found: dict[str, WorkloadService] = {}
    for container in spec.containers:
        for variable in container.addresses:
            address = read_address(variable.value)
            host = address.host if address else variable.value
            service = named_service(host, namespace, services)
            if service:
                found[service.subject] = service
    return tuple(found.values())


@dataclass(frozen=True, slots=True)
class WrongAddress:
    """A variable that names a service or a port that does not exist."""

    variable: Variable
    container: str
    host: str
    port: int
    service: WorkloadService | None
    """The service that exists, and has no such port."""


def wrong_addresses(namespace: str, spec: PodSpec, services: Services) -> Iterator[WrongAddress]:
    """Only of what is surely a service of a namespace that was looked into: other names may lead anywhere."""
    seen = {service.namespace for service in services.services}
    for container in spec.containers:
        for variable in container.addresses:
            address = read_address(variable.value)
            where = service_name(address.host, namespace) if address and address.port else None
            if not address or not where or where[0] not in seen:
                continue
            service = services.named(*where)
            if service is None:
                yield WrongAddress(variable, container.name, address.host, address.port, None)
            elif service.ports and service.address != "None" and not _has(service, address.port):
                yield WrongAddress(variable, container.name, address.host, address.port, service)


def _has(service: WorkloadService, port: int) -> bool:
    return any(service_port.number == port for service_port in service.ports)
