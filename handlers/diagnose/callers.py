"""Who calls a service and says in its last lines that it gets no answer: the symptom of a service that is not there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from handlers.evidence.workloads.log_families import OF_DEPENDENCY, said
from handlers.evidence.workloads.logs import LogTails
from handlers.evidence.workloads.services import WorkloadService
from handlers.evidence.workloads.symptoms import Symptoms
from handlers.evidence.workloads.wiring.calls import Calls
from handlers.model import Unavailable


@dataclass(frozen=True, slots=True)
class Complains:
    """One workload that misses a service."""

    owner: str
    line: str


def complaining(
    service: WorkloadService, calls: Calls | Unavailable, tails: LogTails | Unavailable, symptoms: Symptoms
) -> tuple[Complains, ...]:
    """The callers of a service whose last lines name it, or speak of a connection and name nobody; or that are
    unwell themselves."""
    known = calls.callers.get(service.subject, ()) if isinstance(calls, Calls) else ()
    found = dict(_by_lines(service, known, tails))
    for symptom in symptoms.symptoms:
        if symptom.owner in known:
            found.setdefault(symptom.owner, f"{symptom.owner.partition('/')[2]} is unwell: {symptom.reason}")
    return tuple(Complains(owner, line) for owner, line in found.items())


def _by_lines(
    service: WorkloadService, known: tuple[str, ...], tails: LogTails | Unavailable
) -> Iterator[tuple[str, str]]:
    for tail in tails.tails if isinstance(tails, LogTails) else ():
        if tail.pod.namespace != service.namespace and tail.owner not in known:
            continue
        named = next((line for line in reversed(tail.lines) if _names(line, service) and _is_trouble(line)), "")
        words = said(tail.lines) if tail.owner in known else None
        if named:
            yield tail.owner, named.strip()
        elif words and words.cause in OF_DEPENDENCY and words.host in ("", *service.names, service.address):
            yield tail.owner, words.line


def _names(line: str, service: WorkloadService) -> bool:
    """Its name as a word of its own: `cart` stands in `cart-worker`, too."""
    for name in (service.name, service.address):
        at = line.find(name) if name and name != "None" else -1
        while at >= 0:
            around = line[at - 1 : at] + line[at + len(name) : at + len(name) + 1]
            if not any(item.isalnum() or item in "-_" for item in around):
                return True
            at = line.find(name, at + 1)
    return False


_TROUBLE = ("error", "warn", "fail", "refused", "timeout", "timed out", "no servers", "unavailable", "unknown", "503")


def _is_trouble(line: str) -> bool:
    lower = line.lower()
    return any(word in lower for word in _TROUBLE)
