"""Whether pods listen where their service sends: asked through the API server, where the settings allow it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.gather import each
from handlers.evidence.workloads.log_families import Cause, said
from handlers.evidence.workloads.logs import LogTails, Tail
from handlers.evidence.workloads.pods import WorkloadPod, WorkloadPods
from handlers.evidence.workloads.services import EndpointSlices, ServicePort, Services, WorkloadService
from handlers.evidence.workloads.wiring.addresses import named_service
from handlers.model import Evidence, NotApplicable

MOST_ASKED = 4
"""Pods, each a GET on what it serves."""
OF_ONE_SERVICE = 2
"""Whether one of them refuses, or all do."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A pod that is Ready behind a service, and whose caller is unwell because its connections are refused."""

    service: WorkloadService
    port: ServicePort
    pod: WorkloadPod
    number: int
    """The port of the pod that the service sends to."""
    caller: str
    line: str

    @property
    def path(self) -> str:
        return f"/api/v1/namespaces/{self.pod.namespace}/pods/{self.pod.name}:{self.number}/proxy/"


@dataclass(frozen=True, slots=True)
class Asked:
    """What the API server found at a pod's port."""

    suspect: Suspect
    refused_at: str
    """The address that refused; empty where something answered."""
    told: str

    @property
    def refuses(self) -> bool:
        """Whether it was this very port of the pod: what refuses on the way to it proves nothing of it."""
        return self.refused_at == f"{self.suspect.pod.address}:{self.suspect.number}"


@dataclass(frozen=True, kw_only=True)
class PodPorts(Evidence):
    """The pods that were asked whether they listen, and those that the settings do not let anybody ask."""

    asked: tuple[Asked, ...]
    not_asked: tuple[Suspect, ...]


@collector(reads=(), opt_in=("get pods/proxy",), deadline_s=10)
async def pod_ports(
    tails: LogTails, services: Services, slices: EndpointSlices, pods: WorkloadPods, kube: KubeReader
) -> PodPorts | NotApplicable:
    """whether pods listen"""
    suspects = list(_suspects(tails, services, slices, pods))
    if not suspects:
        return NotApplicable("nothing that is unwell is refused by a service whose pods are Ready")
    may = {suspect.pod.namespace: _may_ask(kube, suspect.pod.namespace) for suspect in suspects}

    async def ask(suspect: Suspect) -> Asked:
        answer = await kube.pod_port(suspect.pod.namespace, suspect.pod.name, suspect.number)
        return Asked(suspect, answer.refused_at, answer.told)

    wanted = [suspect for suspect in suspects if may[suspect.pod.namespace]][:MOST_ASKED]
    asked, gaps = await each(wanted, ask) if wanted else ([], ())
    return PodPorts(
        source="; ".join(f"kubectl get --raw '{suspect.path}'" for suspect in wanted) or tails.source,
        taken_at=tails.taken_at,
        gaps=tuple(replace(gap, wanted=pod_ports.title) for gap in gaps),
        asked=tuple(asked),
        not_asked=tuple(suspect for suspect in suspects if not may[suspect.pod.namespace]),
    )


def _may_ask(kube: KubeReader, namespace: str) -> bool:
    return kube.access.may_ask_pods(kube.target.name, namespace)


def _suspects(tails: LogTails, services: Services, slices: EndpointSlices, pods: WorkloadPods) -> Iterator[Suspect]:
    seen: set[str] = set()
    for tail in tails.tails:
        words = said(tail.lines) if tail.unwell else None
        if words is None or words.cause is not Cause.PORT or not words.host:
            continue
        service = named_service(words.host, tail.pod.namespace, services)
        port = _port(service, words.port) if service else None
        if service is None or port is None or service.subject in seen:
            continue
        seen.add(service.subject)
        yield from _behind(service, port, tail, words.line, slices, pods)


def _behind(
    service: WorkloadService,
    port: ServicePort,
    tail: Tail,
    line: str,
    slices: EndpointSlices,
    pods: WorkloadPods,
) -> Iterator[Suspect]:
    ready = {end.pod for end in slices.ready(service)}
    behind = [pod for pod in pods.selected(service.namespace, service.selector) if pod.name in ready and pod.ready]
    numbers = [(pod, _number(pod, port)) for pod in behind]
    for pod, number in [(pod, number) for pod, number in numbers if number][:OF_ONE_SERVICE]:
        yield Suspect(service, port, pod, number, tail.owner, line)


def _port(service: WorkloadService, number: int) -> ServicePort | None:
    """The port that was asked; where the line names none, the only one."""
    fitting = [port for port in service.ports if port.protocol == "TCP" and number in (0, port.number)]
    return fitting[0] if len(fitting) == 1 else None


def _number(pod: WorkloadPod, port: ServicePort) -> int:
    """The pod's own port; 0 where the service sends to one that its containers do not have: another question."""
    declared = [box for container in pod.containers for box in container.ports]
    if not port.target.isdigit():
        return next((box.number for box in declared if box.name == port.target), 0)
    number = int(port.target)
    return number if not declared or any(box.number == number for box in declared) else 0
