"""Whether anybody uses a service now: who names it, what they say of it, and what leads to it from outside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from handlers.evidence.workloads.logs import LogTails
from handlers.evidence.workloads.services import WorkloadService
from handlers.evidence.workloads.wiring.calls import Calls
from handlers.evidence.workloads.wiring.routes import Ingresses
from handlers.model import Evidence, Unavailable
from runbooks.linear import compile_linear

FROM_OUTSIDE = ("LoadBalancer", "NodePort")
LONGEST_LINE = 200
_COMPLAINT = compile_linear(
    r"(?i)refused|time[d]?[ -]?out|unavailable|unreachable|no route to host|deadline exceeded|not possible to connect"
    r"|(failed|unable|cannot|could not) to connect|broken pipe|connection reset"
    r"|no (ready |healthy )?(endpoint|upstream)"
)


@dataclass(frozen=True, slots=True)
class Use:
    """Who uses a service. Without anybody it is no problem that nothing answers."""

    callers: tuple[str, ...] = ()
    """Workloads whose environment names it."""
    routes: tuple[str, ...] = ()
    """What leads to it from outside."""
    lines: tuple[tuple[str, str], ...] = ()
    """(workload, what it says of the service in its last lines)."""

    @property
    def any(self) -> bool:
        return bool(self.callers or self.routes or self.lines)

    @property
    def refused(self) -> bool:
        return any("refused" in line.lower() for _, line in self.lines)

    def told(self) -> Iterator[str]:
        """The proof, as lines of a finding."""
        if self.callers:
            yield f"{', '.join(self.callers[:4])} {'calls' if len(self.callers) == 1 else 'call'} it"
        yield from (f"{route} leads to it" for route in self.routes[:2])
        yield from (f"{who} says: {line}" for who, line in self.lines[:2])


def use_of(
    service: WorkloadService,
    calls: Calls | Unavailable,
    tails: LogTails | Unavailable,
    ingresses: Ingresses | Unavailable,
) -> Use:
    """Everything that shows that a service is used."""
    named = calls.callers.get(service.subject, ()) if isinstance(calls, Calls) else ()
    return Use(
        tuple(item for item in named if item != service.subject),
        tuple(_routes(service, ingresses)),
        tuple(_complaints(service, tails)) if isinstance(tails, LogTails) else (),
    )


def unseen(*looked: Evidence | Unavailable) -> Unavailable | None:
    """What could not be seen of who uses a service: where something leads nowhere, whether that matters stays open."""
    missing = [item for item in looked if isinstance(item, Unavailable)]
    gaps = [gap for item in looked if isinstance(item, Evidence) for gap in item.gaps]
    return next(iter((*missing, *gaps)), None)


def _routes(service: WorkloadService, ingresses: Ingresses | Unavailable) -> Iterator[str]:
    if service.kind in FROM_OUTSIDE:
        yield f"its type {service.kind}"
    for ingress in ingresses.ingresses if isinstance(ingresses, Ingresses) else ():
        if ingress.namespace == service.namespace and any(to.service == service.name for to in ingress.backends):
            yield ingress.subject


def _complaints(service: WorkloadService, tails: LogTails) -> Iterator[tuple[str, str]]:
    """The last line of each caller that complains of the service, by its name or its address."""
    wanted = [f"{service.name}:{port.number}" for port in service.ports] + [f"{service.name}.{service.namespace}"]
    if service.address and service.address != "None":
        wanted += [f"{service.address}:{port.number}" for port in service.ports]
    for tail in tails.tails:
        said = [line for line in tail.lines if any(action in line for action in wanted) and _COMPLAINT.search(line)]
        if said:
            yield tail.owner, _around(said[-1])


def _around(line: str) -> str:
    """The part of a long line that complains."""
    found = _COMPLAINT.search(line)
    start = max(0, (found.start() if found else 0) - LONGEST_LINE * 2 // 3)
    cut = line[start : start + LONGEST_LINE].strip()
    return f"{'…' if start else ''}{cut}{'…' if start + LONGEST_LINE < len(line) else ''}"
