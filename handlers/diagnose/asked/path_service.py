"""The service at the end of a path: is it there, has it the port, and are there ready pods that have it, too?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from handlers.diagnose.asked.unknown import nearest, no_namespace
from handlers.diagnose.network_policies.finding import OF_THE_REPLICA
from handlers.diagnose.network_policies.paths import Target, to_service
from handlers.diagnose.network_policies.rules import End
from handlers.diagnose.workload_findings import workload_facts
from handlers.evidence.asked.path import PathPeers, PathPods, PathServices, PathSlices
from handlers.evidence.workloads.containers import Port
from handlers.evidence.workloads.pods import WorkloadPod
from handlers.evidence.workloads.services import ServicePort, WorkloadService
from handlers.model import Finding, Judgement, NotApplicable, Severity, Unavailable, Why
from handlers.question import Question

ADDRESS, NO_ENDPOINTS = "service-address-wrong", "service-no-endpoints"
PORT, PROTOCOL = "service-port-mismatch", "service-protocol-mismatch"
CODES = (ADDRESS, NO_ENDPOINTS, PORT, PROTOCOL)
_MOST_PODS = 5


@dataclass(frozen=True)
class There:
    """The end that is called. `passed` collects what was looked at and is right."""

    asked: Question
    source: WorkloadPod
    services: PathServices | Unavailable
    slices: PathSlices | Unavailable
    pods: PathPods
    peers: PathPeers | Unavailable | NotApplicable
    passed: list[str] = field(default_factory=list)

    @cached_property
    def service(self) -> WorkloadService | None:
        namespace, name, _ = self.asked.service
        return self.services.named(namespace, name) if isinstance(self.services, PathServices) else None

    @cached_property
    def port(self) -> ServicePort | None:
        wanted = self.asked.service[2]
        ports = self.service.ports if self.service else ()
        return next((port for port in ports if wanted in (str(port.number), port.name)), None)

    @cached_property
    def behind(self) -> tuple[WorkloadPod, ...]:
        """The pods that the selector takes, those of the past left out."""
        if self.service is None:
            return ()
        chosen = self.pods.selected(self.service.namespace, self.service.selector)
        return tuple(pod for pod in chosen if not pod.done)

    @property
    def host(self) -> str:
        return f"{self.asked.service[1]}.{self.asked.service[0]}"

    @property
    def headless(self) -> bool:
        return self.service is not None and self.service.address == "None"

    @property
    def nodes(self) -> tuple[str, ...]:
        """Of the pods that answer."""
        return tuple(dict.fromkeys(pod.node for pod in self.behind if pod.address in self._addresses and pod.node))

    @property
    def target(self) -> Target | None:
        """What network policies are asked about: every ready address, with the port that the pod has."""
        if self.service is None or self.port is None or not isinstance(self.slices, PathSlices):
            return None
        peers = self.peers if isinstance(self.peers, PathPeers) else None
        if peers is None:
            return None
        made = to_service(self.service, self.port, self.pods, peers)
        ends = [(end, number) for end, number in made.ends if end.address in self._addresses]
        if not self.service.selector and self.port.target.isdigit():  # endpoints that somebody wrote
            ends = [(End(address), int(self.port.target)) for address in self._addresses]
        return Target(made.name, made.said_as, tuple(ends), made.protocol, made.subject)

    def is_there(self) -> Iterator[Judgement]:
        """Does the service exist, with this port?"""
        if isinstance(self.services, Unavailable):
            yield self.services
            return
        namespace, _, port = self.asked.service
        if self.service is None:
            spaces = self.peers.namespaces if isinstance(self.peers, PathPeers) else {}
            if spaces and namespace not in spaces:
                yield no_namespace(namespace, spaces)
            elif self.services.truncated:
                yield Unavailable(f"service {self.host}", Why.FAILED, "only a part of the services was read")
            else:
                yield self._wrong(f"there is no service {namespace}/{self.asked.service[1]}", [])
        elif self.service.kind == "ExternalName":
            why = f"it is an ExternalName: it leads to {self.service.external_name}, which is not followed"
            yield Unavailable(f"what is behind {self.host}", Why.ABSENT, why)
        elif self.port is None:
            ports = [str(one.number) for one in self.service.ports]
            yield self._wrong(f"service {self.host} has no port {port}; it has {', '.join(ports) or 'none'}", ports)
        else:
            self.passed.append(f"service {self.host} has port {self.port.number}/{self.port.protocol}")

    def has_endpoints(self) -> Iterator[Judgement]:
        """Is a ready pod behind it, at this port?"""
        service, port = self.service, self.port
        if service is None or port is None or service.kind == "ExternalName":
            return
        if isinstance(self.slices, Unavailable):
            yield self.slices
        elif not self._addresses and self.slices.truncated:
            yield Unavailable(f"the endpoints of {self.host}", Why.FAILED, "only a part of them was read")
        elif not self._addresses and not any(pod.ready for pod in self.behind):
            yield from self._nobody(service)
        elif self._named_wrongly(port):
            yield self._mismatch(service, port)
        elif not self._addresses:
            why = "its pods are Ready, and no endpoint slice has their addresses"
            yield Unavailable(f"the endpoints of {self.host}", Why.ABSENT, why)
        else:
            self.passed.append(f"{len(self._addresses)} ready endpoint{'s' if len(self._addresses) > 1 else ''}")

    def declares(self) -> Iterator[Judgement]:
        """Last, as it is no more than possible: does a container declare this port, in this protocol?"""
        service, port = self.service, self.port
        declared = self._declared
        if service is None or port is None or not declared or not self._addresses:
            return
        same = [each for each in declared if port.target in (each.name, str(each.number))]
        if not same:
            yield self._mismatch(service, port)
        elif all(each.protocol != port.protocol for each in same):
            yield self._other_protocol(service, port, same[0])

    def unseen_pods(self) -> Iterator[Unavailable]:
        """Endpoints are there, and the pods behind them were not seen: nobody can say what policies make of them."""
        if self._addresses:
            why = "no pod has the addresses of its endpoints"
            yield next(iter(self.pods.gaps), Unavailable(f"the pods behind {self.host}", Why.ABSENT, why))

    @cached_property
    def _addresses(self) -> tuple[str, ...]:
        """Every ready address behind the service."""
        if self.service is None or not isinstance(self.slices, PathSlices):
            return ()
        ends = self.slices.of(self.service) if self.service.publishes_unready else self.slices.ready(self.service)
        return tuple(dict.fromkeys(address for end in ends for address in end.addresses))

    @cached_property
    def _declared(self) -> tuple[Port, ...]:
        ready = [pod for pod in self.behind if pod.address in self._addresses] or self.behind
        return tuple({port: None for pod in ready for box in pod.containers for port in box.ports})

    def _named_wrongly(self, port: ServicePort) -> bool:
        """A name that no container's port has: the endpoint slice then holds addresses and no port."""
        fits = any((each.name, each.protocol) == (port.target, port.protocol) for each in self._declared)
        return not port.target.isdigit() and bool(self.behind) and not fits

    def _nobody(self, service: WorkloadService) -> Iterator[Judgement]:
        gap = next(iter(self.pods.gaps), None)
        if not self.behind and (gap or self.pods.truncated):
            yield gap or Unavailable(f"the pods behind {self.host}", Why.FAILED, "only a part of the pods was read")
            return
        if not service.selector:
            yield self._empty(service, "no-selector", "it has no selector, and nobody wrote endpoints for it")
            return
        selector = _spoken(service)
        if self.behind:
            number = f"{len(self.behind)} pod{'s' if len(self.behind) > 1 else ''}"
            yield self._empty(service, "not-ready", f"its selector ({selector}) matches {number}, and none is Ready")
        else:
            yield self._empty(service, "selector", f"its selector ({selector}) matches no pod")

    def _empty(self, service: WorkloadService, cause: str, why: str) -> Finding:
        near = self._near(service) if cause == "selector" else None
        differences = _differences(service, near) if near else []
        pods = [pod.name for pod in self.behind][:_MOST_PODS]
        return Finding(
            code=NO_ENDPOINTS,
            subject=service.subject,
            affects=(self.source.owned_by, self.source.subject),
            because=(f"Service {service.namespace}/{service.name} has no ready endpoint: {why}", *differences),
            facts={
                "service": service.name,
                "namespace": service.namespace,
                "selector": _spoken(service),
                "nearest": near.workload if near else "no workload",
                "differences": differences,
                "patch": _patch(service, near) if near else "",
                "pods": pods,
                "owner": self.behind[0].workload if self.behind else "",
                "callers": [self.source.owned_by],
                **({"cause": cause} if cause != "no-selector" else {}),
            },
        )

    def _near(self, service: WorkloadService) -> WorkloadPod | None:
        """A pod whose labels have half of the selector at least, and of those the one that has most."""
        mine = [pod for pod in self.pods.pods if pod.namespace == service.namespace and not pod.done]
        scored = [(len(service.selector.items() & pod.labels.items()), _is_its(pod, service), pod) for pod in mine]
        best = max(scored, key=lambda item: (item[1], item[0], item[2].name), default=None)
        if best is None:
            return None
        return best[2] if best[1] or best[0] * 2 >= len(service.selector) else None

    def _mismatch(self, service: WorkloadService, port: ServicePort) -> Finding:
        declared = ", ".join(_of_port(each) for each in self._declared) or "no port with a name"
        named = not port.target.isdigit()
        right = _right(port, self._declared)
        value: object = (right.name or right.number) if named and right else right.number if right else 0
        pods, index = self.behind, service.ports.index(port)
        sends = f"Service {service.namespace}/{service.name} sends port {port.number} to"
        says = (
            f"{sends} a port named {port.target} ({port.protocol}), and no container has that name"
            if named
            else f"{sends} {port.target}, which no container declares"
        )
        patch = [{"op": "replace", "path": f"/spec/ports/{index}/targetPort", "value": value}]
        return Finding(
            code=PORT,
            subject=service.subject,
            severity=Severity.ERROR if named else Severity.WARNING,
            affects=(self.source.owned_by, self.source.subject) if named else (),
            because=(says, f"the pods of {pods[0].workload if pods else self.host} have {declared}"),
            facts={
                "service": service.name,
                "namespace": service.namespace,
                "target_port": port.target,
                "container_port": str(value) if right else "",
                "service_port": port.number,
                "declared": declared,
                "named": named,
                "owner": pods[0].workload if pods else "",
                "pod": pods[0].name if pods else "",
                "selector_text": ",".join(f"{key}={said}" for key, said in sorted(service.selector.items())),
                "patch": json.dumps(patch) if right else "",
                "callers": [self.source.owned_by],
            },
        )

    def _other_protocol(self, service: WorkloadService, port: ServicePort, declared: Port) -> Finding:
        pod = self.behind[0]
        return Finding(
            code=PROTOCOL,
            subject=service.subject,
            severity=Severity.WARNING,
            because=(
                f"service {service.name} forwards port {port.number} as {port.protocol}",
                f"its pods declare {declared.number} as {declared.protocol}: {pod.workload}",
            ),
            facts=workload_facts(pod.owned_by, (pod,))
            | {
                "service": service.name,
                "port": port.number,
                "protocol": port.protocol,
                "container_port": declared.number,
                "container_protocol": declared.protocol,
                "index": service.ports.index(port),
            },
        )

    def _wrong(self, why: str, ports: list[str]) -> Finding:
        namespace, name, port = self.asked.service
        names = [one.name for one in self.services.services] if isinstance(self.services, PathServices) else []
        near = nearest(name, names) if self.service is None else []
        return Finding(
            code=ADDRESS,
            subject=f"{namespace}/Service/{name}",
            affects=(self.source.owned_by, self.source.subject),
            because=(why, *([f"nearest are {', '.join(near)}"] if near else [])),
            facts=workload_facts(self.source.owned_by, (self.source,))
            | {
                "variable": "",
                "value": f"{self.host}:{port}",
                "host": self.host,
                "port": port,
                "service": self.service.name if self.service else "",
                "ports": ports,
                "nearest": near[0] if near else "",
            },
        )


def _spoken(service: WorkloadService) -> str:
    return ", ".join(f"{key}={value}" for key, value in sorted(service.selector.items())) or "none"


def _is_its(pod: WorkloadPod, service: WorkloadService) -> bool:
    return pod.workload.partition("/")[2] == service.name


def _differences(service: WorkloadService, pod: WorkloadPod) -> list[str]:
    labels = pod.labels
    return [
        f"the selector wants {key}={value}; the pods of {pod.workload} have "
        + (f"{key}={labels[key]}" if key in labels else "no such label")
        for key, value in sorted(service.selector.items())
        if labels.get(key) != value
    ]


def _patch(service: WorkloadService, pod: WorkloadPod) -> str:
    """What to merge into the selector: a label that the pods lack is taken out, and one that tells them goes in."""
    wrong = {key: pod.labels.get(key) for key, value in service.selector.items() if pod.labels.get(key) != value}
    kept = service.selector.keys() - wrong.keys() or any(wrong.values())
    stable = {key: value for key, value in pod.labels.items() if key not in OF_THE_REPLICA}
    return json.dumps({"spec": {"selector": wrong if kept else wrong | stable}})


def _of_port(port: Port) -> str:
    return f"{port.name} = {port.number}/{port.protocol}" if port.name else f"{port.number}/{port.protocol}"


def _right(port: ServicePort, declared: tuple[Port, ...]) -> Port | None:
    """The port that was meant: the only one, or the one with the service's own number."""
    fits = [each for each in declared if each.protocol == port.protocol]
    same = [each for each in fits if each.number == port.number]
    return fits[0] if len(fits) == 1 else same[0] if same else None
