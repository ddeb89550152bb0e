"""The last lines of containers that are unwell, and of those who call what is not there. Few, short, redacted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.gather import each
from handlers.evidence.workloads.containers import Container
from handlers.evidence.workloads.log_families import said
from handlers.evidence.workloads.pods import WorkloadPod, WorkloadPods
from handlers.evidence.workloads.services import EndpointSlices, Services
from handlers.evidence.workloads.symptoms import PROXIES, Sign, Symptoms
from handlers.evidence.workloads.unwell import LATELY
from handlers.evidence.workloads.wiring.calls import called_by, wrong_addresses
from handlers.model import CannotSee, Evidence, Unavailable

MOST_TAILS = 8
"""Of containers: each is a call to a kubelet."""
MOST_OF_STARTED = 40
"""Where nothing is unwell and a whole application was started lately: only what its parts say shows, then, that a
database refuses every write. Each says it for itself, and not everybody writes."""
MOST_LINES = 50
LONGEST_LINE = 600
LONGEST_TAIL = 40_000


@dataclass(frozen=True, slots=True)
class Tail:
    """The last lines of one container."""

    pod: WorkloadPod
    container: str
    previous: bool
    """Of the container before the last restart."""
    lines: tuple[str, ...]
    unwell: bool
    """Whether the container itself is; else it was read because of what it calls."""

    @property
    def owner(self) -> str:
        return self.pod.owned_by


@dataclass(frozen=True, slots=True)
class _Wanted:
    pod: WorkloadPod
    container: str
    previous: bool
    unwell: bool
    restarted: bool = False


@dataclass(frozen=True, kw_only=True)
class LogTails(Evidence):
    """The last lines of containers that are unwell, or that call what is not there."""

    tails: tuple[Tail, ...]
    left_out: int = 0

    def of(self, owner: str) -> tuple[Tail, ...]:
        return tuple(tail for tail in self.tails if tail.owner == owner)


@collector(reads=(), sees=("get pods/log",), deadline_s=10)
async def log_tails(
    symptoms: Symptoms,
    pods: WorkloadPods,
    services: Services | Unavailable,
    slices: EndpointSlices | Unavailable,
    kube: KubeReader,
) -> LogTails:
    """the last lines of containers"""
    wanted = list(_wanted(symptoms, pods, services, slices))

    async def read(wanted: _Wanted) -> Tail:
        return await _most_telling(kube, wanted)

    most = MOST_TAILS if any(one.unwell for one in wanted) else MOST_OF_STARTED
    tails, gaps = await each(wanted[:most], read)
    return LogTails(
        source="; ".join(dict.fromkeys(f"kubectl logs of {tail.owner}" for tail in tails)),
        taken_at=symptoms.taken_at,
        gaps=gaps,
        tails=tuple(tails),
        left_out=max(0, len(wanted) - most),
    )


async def _most_telling(kube: KubeReader, wanted: _Wanted) -> Tail:
    """Of a container that was started again, the log of the one before where the new one has not said why yet. The
    kubelet may have dropped one of the two."""
    refused: CannotSee | None = None
    first: Tail | None = None
    for previous in (wanted.previous, not wanted.previous) if wanted.restarted else (wanted.previous,):
        try:
            tail = await _tail(kube, wanted, previous=previous)
        except CannotSee as error:
            refused = refused or error
            continue
        if said(tail.lines):
            return tail
        first = first or tail
    if first is None:
        raise refused or AssertionError("nothing was asked")
    return first


async def last_lines(kube: KubeReader, pod: WorkloadPod) -> Tail | None:
    """Of the main container of a pod that is well: for who calls what is not there by other evidence than this."""
    container = _main(pod)
    return await _tail(kube, _Wanted(pod, container.name, False, False), previous=False) if container else None


async def _tail(kube: KubeReader, wanted: _Wanted, *, previous: bool) -> Tail:
    pod = wanted.pod
    params = {"container": wanted.container, "tailLines": str(MOST_LINES)}
    if previous:
        params["previous"] = "true"
    told = await kube.text(f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}/log", params, most=LONGEST_TAIL)
    lines = tuple(line[:LONGEST_LINE] for line in told.splitlines() if line.strip())
    return Tail(pod, wanted.container, previous, lines, wanted.unwell)


def _wanted(
    symptoms: Symptoms,
    pods: WorkloadPods,
    services: Services | Unavailable,
    slices: EndpointSlices | Unavailable,
) -> Iterator[_Wanted]:
    """One container of each workload that is unwell; then one of each that calls a service without endpoints; then
    what was started last."""
    seen: set[str] = set()
    for symptom in symptoms.of(Sign.CRASHING, Sign.NOT_READY):
        if symptom.pod and symptom.container and symptom.owner not in seen:
            seen.add(symptom.owner)
            previous = (
                symptom.sign is Sign.CRASHING
                and symptom.state.running_since is not None
                and symptom.state.before is not None
            )
            yield _Wanted(symptom.pod, symptom.container.name, previous, True, restarted=symptom.state.restarts > 0)
    ready = [pod for pod in pods.pods if pod.ready and pod.owned_by not in seen and not pod.deleting]
    ready.sort(key=lambda pod: pod.created.timestamp() if pod.created else 0, reverse=True)
    callers = [pod for pod in ready if _calls_what_is_not_there(pod, services, slices)]
    lately = [pod for pod in ready if pod.created and pod.created >= symptoms.taken_at - LATELY]
    for pod in (*callers, *lately):
        container = _main(pod)
        if container and pod.owned_by not in seen:
            seen.add(pod.owned_by)
            yield _Wanted(pod, container.name, False, False)


def _calls_what_is_not_there(
    pod: WorkloadPod, services: Services | Unavailable, slices: EndpointSlices | Unavailable
) -> bool:
    """It names a service without endpoints, one that does not exist, or a port that its service does not have."""
    if isinstance(services, Unavailable) or isinstance(slices, Unavailable):
        return False
    called = called_by(pod.namespace, pod.spec, services)
    if any(service.selector and not slices.serves(service) for service in called):
        return True
    return any(True for _ in wrong_addresses(pod.namespace, pod.spec, services))


def _main(pod: WorkloadPod) -> Container | None:
    return next(
        (container for container in pod.containers if not container.init and container.name not in PROXIES), None
    )
