"""Containers: what a pod's spec asks for, and how each fares. Of the environment only addresses and references."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from handlers.evidence.quantities import amount
from handlers.evidence.wire import dig, moment, number, rows, text, texts
from runbooks.linear import compile_linear

LIVENESS, READINESS, STARTUP = "liveness", "readiness", "startup"
_PROBES = {"livenessProbe": LIVENESS, "readinessProbe": READINESS, "startupProbe": STARTUP}
_HOWS = {"httpGet": "http", "tcpSocket": "tcp", "grpc": "grpc", "exec": "exec"}
_ADDRESS_NAME = compile_linear(
    r"(?i)(?:^|_)(?:ADDR|ADDRESS|HOST|HOSTNAME|PORT|URL|URI|ENDPOINT|SERVER|SERVERS|BROKERS)$"
)
_ADDRESS = compile_linear(r"^(?:[a-z][a-z0-9+.-]*://)?[A-Za-z0-9._-]+(?::[0-9]{1,5})(?:/[^\s@]*)?$")
LONGEST_ADDRESS = 200


@dataclass(frozen=True, slots=True)
class Port:
    """A port that a container says it listens on."""

    name: str
    number: int
    protocol: str
    host_port: int = 0


@dataclass(frozen=True, slots=True)
class Probe:
    """How the kubelet asks a container whether it is well."""

    what: str
    """liveness, readiness or startup."""
    how: str
    """http, tcp, grpc or exec."""
    port: str
    """A number, or the name of one of the container's ports."""
    path: str
    scheme: str
    command: tuple[str, ...]
    initial_delay_s: int
    period_s: int
    timeout_s: int
    failures: int

    @property
    def fails_after_s(self) -> int:
        """How long after its start a container that never answers has failed."""
        return self.initial_delay_s + self.period_s * (self.failures - 1)


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the environment whose value is an address."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Reference:
    """A config map or a secret that a pod names."""

    kind: str
    """ConfigMap or Secret."""
    name: str
    key: str = ""
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Mount:
    """Where a container finds a volume of its pod."""

    volume: str
    path: str
    sub_path: str = ""
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class End:
    """How a container ended."""

    reason: str
    exit_code: int
    signal: int
    message: str
    began: datetime | None
    at: datetime | None

    @property
    def lasted_s(self) -> float | None:
        return (self.at - self.began).total_seconds() if self.at and self.began else None


@dataclass(frozen=True, slots=True)
class State:
    """How a container fares now, and how it ended before."""

    ready: bool = False
    started: bool | None = None
    restarts: int = 0
    waiting: str = ""
    """Why it waits, in the kubelet's word: CrashLoopBackOff, ImagePullBackOff."""
    message: str = ""
    running_since: datetime | None = None
    ended: End | None = None
    before: End | None = None
    """The end before this start."""
    image_id: str = ""

    @property
    def last_end(self) -> End | None:
        return self.ended or self.before


@dataclass(frozen=True, slots=True)
class Container:
    """One container of a pod, or of a pod's template (then without a state)."""

    name: str
    image: str
    init: bool
    sidecar: bool
    """An init container that keeps running (restartPolicy Always)."""
    ports: tuple[Port, ...]
    probes: tuple[Probe, ...]
    requests: Mapping[str, Decimal]
    limits: Mapping[str, Decimal]
    addresses: tuple[Variable, ...]
    references: tuple[Reference, ...]
    mounts: tuple[Mount, ...]
    state: State | None = None
    command: tuple[str, ...] = field(default_factory=tuple)
    """Command and arguments, as the spec has them."""

    def probe(self, what: str) -> Probe | None:
        return next((probe for probe in self.probes if probe.what == what), None)

    def port_of(self, wanted: str) -> Port | None:
        """The port with this number or name."""
        return next((port for port in self.ports if wanted in (port.name, str(port.number))), None)


def read_containers(spec: Any, status: Any = None) -> tuple[Container, ...]:
    """A pod's containers in the order in which they start, from its spec and its status."""
    states = {
        text(row, "name"): read_state(row)
        for kind in ("initContainerStatuses", "containerStatuses")
        for row in rows(status, kind)
    }
    init = [_container(row, states, init=True) for row in rows(spec, "initContainers")]
    return *init, *(_container(row, states, init=False) for row in rows(spec, "containers"))


def read_state(row: Mapping[str, Any]) -> State:
    waiting, ended = dig(row, "state", "waiting"), dig(row, "state", "terminated")
    started = dig(row, "started")
    return State(
        ready=dig(row, "ready") is True,
        started=started if isinstance(started, bool) else None,
        restarts=number(row, "restartCount"),
        waiting=text(waiting, "reason"),
        message=text(waiting, "message"),
        running_since=moment(text(row, "state", "running", "startedAt")),
        ended=_end(ended),
        before=_end(dig(row, "lastState", "terminated")),
        image_id=text(row, "imageID"),
    )


def _container(row: Mapping[str, Any], states: Mapping[str, State], *, init: bool) -> Container:
    return Container(
        name=text(row, "name"),
        image=text(row, "image"),
        init=init,
        sidecar=init and text(row, "restartPolicy") == "Always",
        ports=tuple(_port(port) for port in rows(row, "ports")),
        probes=tuple(_probe(what, dig(row, key)) for key, what in _PROBES.items() if dig(row, key)),
        requests=resources(dig(row, "resources", "requests")),
        limits=resources(dig(row, "resources", "limits")),
        addresses=tuple(_addresses(rows(row, "env"))),
        references=tuple(_references(row)),
        mounts=tuple(_mount(mount) for mount in rows(row, "volumeMounts")),
        state=states.get(text(row, "name")),
        command=(*texts(row, "command"), *texts(row, "args")),
    )


def resources(body: Any) -> dict[str, Decimal]:
    return {name: amount(value) for name, value in body.items()} if isinstance(body, Mapping) else {}


def _port(row: Mapping[str, Any]) -> Port:
    protocol = text(row, "protocol") or "TCP"
    return Port(text(row, "name"), number(row, "containerPort"), protocol, number(row, "hostPort"))


def _probe(what: str, body: Mapping[str, Any]) -> Probe:
    how = next((how for how in _HOWS if how in body), "")
    port = dig(body, how, "port")
    return Probe(
        what=what,
        how=_HOWS.get(how, ""),
        port="" if port is None else str(port),
        path=text(body, how, "path"),
        scheme=text(body, how, "scheme"),
        command=texts(body, how, "command"),
        initial_delay_s=number(body, "initialDelaySeconds"),
        period_s=number(body, "periodSeconds") or 10,
        timeout_s=number(body, "timeoutSeconds") or 1,
        failures=number(body, "failureThreshold") or 3,
    )


def _addresses(env: list[Mapping[str, Any]]) -> Iterator[Variable]:
    """Variables that lead somewhere. The others may hold anything, and none of them is kept."""
    for row in env:
        name, value = text(row, "name"), text(row, "value")
        if not value or len(value) > LONGEST_ADDRESS or "@" in value:
            continue
        if _ADDRESS_NAME.search(name) or _ADDRESS.match(value):
            yield Variable(name, value)


def _references(row: Mapping[str, Any]) -> Iterator[Reference]:
    for source in rows(row, "envFrom"):
        for key, kind in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
            if text(source, key, "name"):
                yield Reference(kind, text(source, key, "name"), "", dig(source, key, "optional") is True)
    for variable in rows(row, "env"):
        for key, kind in (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")):
            found = dig(variable, "valueFrom", key)
            if text(found, "name"):
                yield Reference(kind, text(found, "name"), text(found, "key"), dig(found, "optional") is True)


def _mount(row: Mapping[str, Any]) -> Mount:
    return Mount(text(row, "name"), text(row, "mountPath"), text(row, "subPath"), dig(row, "readOnly") is True)


def _end(row: Any) -> End | None:
    if not isinstance(row, Mapping):
        return None
    return End(
        reason=text(row, "reason"),
        exit_code=number(row, "exitCode"),
        signal=number(row, "signal"),
        message=text(row, "message"),
        began=moment(text(row, "startedAt")),
        at=moment(text(row, "finishedAt")),
    )
