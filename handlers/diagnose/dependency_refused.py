"""Does what a workload depends on refuse it?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from handlers.diagnose.workload_findings import WITHOUT_AZURE, harmed, named, workload_facts
from handlers.engine.declare import diagnostic
from handlers.evidence.workloads.log_families import OF_DEPENDENCY, Cause, Said, said
from handlers.evidence.workloads.logs import LogTails, Tail
from handlers.evidence.workloads.services import Services, WorkloadService
from handlers.evidence.workloads.symptoms import Symptoms
from handlers.evidence.workloads.wiring.addresses import named_service
from handlers.evidence.workloads.wiring.calls import Calls, called_by
from handlers.model import Finding, Judgement, Severity, Unavailable

CODE = "dependency-refused"
OF_ALL = frozenset({Cause.CONNECTIONS, Cause.READ_ONLY})
"""What the dependency has against everybody, and not against one caller."""
_MEANINGS = {
    Cause.CREDENTIALS: "refuses its user or password",
    Cause.READ_ONLY: "takes no writes (read-only)",
    Cause.CONNECTIONS: "has no connection left",
    Cause.DNS: "is not found by its name",
    Cause.PORT: "refuses the connection at its port",
    Cause.CERTIFICATE: "shows a certificate that is not trusted",
    Cause.TIMEOUT: "does not answer in time",
}


@dataclass(frozen=True, slots=True)
class Refused:
    """A container that says that something refuses it."""

    tail: Tail
    words: Said
    service: WorkloadService | None
    candidates: tuple[str, ...]

    @property
    def dependency(self) -> str:
        if self.service:
            return self.service.name
        return self.words.host or self.words.product


@diagnostic(
    codes=(CODE,),
    area="workloads",
    clear_without=WITHOUT_AZURE,
    clear_says="no failing workload logs that something it depends on refuses it",
)
def dependency_refused(
    tails: LogTails, services: Services | Unavailable, calls: Calls | Unavailable, symptoms: Symptoms
) -> Iterator[Judgement]:
    """A workload runs, but what it depends on refuses it."""
    grouped: dict[tuple[str, str, Cause], list[Refused]] = defaultdict(list)
    for refused in _refused(tails, services):
        everybody = refused.words.cause in OF_ALL
        who = "" if everybody else refused.tail.owner
        grouped[who, refused.dependency, refused.words.cause].append(refused)
    yield from named(_finding(rows, calls, symptoms) for rows in grouped.values())


def _refused(tails: LogTails, services: Services | Unavailable) -> Iterator[Refused]:
    """Of a container that is well, only what a server itself has answered counts: a lost connection passes."""
    for tail in tails.tails:
        words = said(tail.lines)
        if words and words.cause in OF_DEPENDENCY and (tail.unwell or words.cause in OF_ALL):
            service, candidates = _dependency(tail, words, services)
            yield Refused(tail, words, service, candidates)


def _dependency(
    tail: Tail, words: Said, services: Services | Unavailable
) -> tuple[WorkloadService | None, tuple[str, ...]]:
    """The service that the line names, else the only one of its kind that the pod names or the namespace has."""
    if isinstance(services, Unavailable):
        return None, ()
    namespace = tail.pod.namespace
    if words.host:
        return named_service(words.host, namespace, services), ()
    called = called_by(namespace, tail.pod.spec, services)
    there = called or tuple(service for service in services.services if service.namespace == namespace)
    fitting = [service for service in there if any(port.number == words.product_port for port in service.ports)]
    if len(fitting) == 1:
        return fitting[0], ()
    return None, tuple(service.name for service in fitting)


def _finding(rows: list[Refused], calls: Calls | Unavailable, symptoms: Symptoms) -> Finding:
    first = rows[0]
    cause, tail = first.words.cause, first.tail
    what = first.dependency or "what it depends on"
    workload = tail.owner.partition("/")[2]
    because = [f"{workload}: {what} {_MEANINGS[cause]}", f"its last lines: {first.words.line}"]
    if first.candidates:
        because.append(f"{first.words.product} in this namespace: {', '.join(first.candidates)}")
    if len(rows) > 1:
        because.append(f"{len(rows) - 1} more workloads say the same: {', '.join(_others(rows))}")
    broken = _broken(first.service, calls, symptoms)
    if broken:
        because.append(f"{broken.partition('/')[2]}, behind service {what}, is unwell itself: begin there")
    of_all = cause in OF_ALL and first.service is not None
    affects = tuple(dict.fromkeys(item for row in rows for item in harmed(row.tail.owner, (row.tail.pod,), calls)))
    return Finding(
        code=CODE,
        subject=first.service.subject if of_all and first.service else tail.owner,
        severity=Severity.WARNING if broken else Severity.ERROR,
        affects=affects,
        because=tuple(because),
        facts=workload_facts(tail.owner, (tail.pod,), tail.container)
        | {
            "cause": str(cause),
            "dependency": what,
            "service": first.service.name if first.service else "",
            "candidates": list(first.candidates),
            "product": first.words.product,
            "host": first.words.host,
            "port": first.words.port or first.words.product_port,
            "line": first.words.line,
        },
    )


def _broken(service: WorkloadService | None, calls: Calls | Unavailable, symptoms: Symptoms) -> str:
    """The workload behind the service, where that is what does not work."""
    if service is None or isinstance(calls, Unavailable):
        return ""
    unwell = dict.fromkeys(symptom.owner for symptom in symptoms.symptoms)
    return next((owner for owner in unwell if service.subject in calls.fronts.get(owner, ())), "")


def _others(rows: list[Refused]) -> list[str]:
    return [row.tail.owner.partition("/")[2] for row in rows[1:6]]
