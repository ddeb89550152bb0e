"""Does something call a service whose only workload has no replicas?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from handlers.diagnose.callers import Complains, complaining
from handlers.diagnose.workload_findings import WITHOUT_AZURE, harmed, named, workload_facts
from handlers.engine.declare import diagnostic
from handlers.evidence.workloads.logs import LogTails
from handlers.evidence.workloads.owners import DEPLOYMENT, STATEFUL_SET, Owner, Owners
from handlers.evidence.workloads.services import EndpointSlices, Services, WorkloadService
from handlers.evidence.workloads.symptoms import Symptoms
from handlers.evidence.workloads.unwell import LATELY
from handlers.evidence.workloads.warnings import WarningEvents
from handlers.evidence.workloads.wiring.calls import Calls, leads_to
from handlers.model import Finding, Judgement, Severity, Unavailable

CODE = "scaled-to-zero"
AT_ONCE = timedelta(seconds=10)
"""Conditions of a deployment that was made with 0 replicas are as old as itself: it never had a pod."""


@diagnostic(
    codes=(CODE,),
    area="workloads",
    clear_without=WITHOUT_AZURE,
    clear_says="no failing workload calls a service whose workload has 0 replicas",
)
def scaled_to_zero(
    owners: Owners,
    services: Services,
    slices: EndpointSlices,
    calls: Calls,
    symptoms: Symptoms,
    warnings: WarningEvents | Unavailable,
    tails: LogTails | Unavailable,
) -> Iterator[Judgement]:
    """Something calls a service whose only workload is scaled to 0."""
    yield from named(_asleep(owners, services, slices, calls, symptoms, warnings, tails))


def _asleep(
    owners: Owners,
    services: Services,
    slices: EndpointSlices,
    calls: Calls,
    symptoms: Symptoms,
    warnings: WarningEvents | Unavailable,
    tails: LogTails | Unavailable,
) -> Iterator[Finding]:
    seen: set[str] = set()
    for service in services.services:
        behind = [owner for owner in owners.of_kind(DEPLOYMENT, STATEFUL_SET) if leads_to(service, owner)]
        if len(behind) != 1 or behind[0].wanted or behind[0].subject in seen or slices.ready(service):
            continue
        owner = behind[0]
        missing = complaining(service, calls, tails, symptoms)
        since = _ran_lately(owner, warnings, owners.taken_at)
        if missing or (since and not _all_sleep(owner, owners)):
            seen.add(owner.subject)
            yield _finding(owner, service, missing, since, calls)


def _ran_lately(owner: Owner, warnings: WarningEvents | Unavailable, at: datetime) -> datetime | None:
    """When it last had a pod, if within the hour: somebody has just taken it away, and it is no old state."""
    began = owner.created + AT_ONCE if owner.created else None
    told = [row.since for row in owner.conditions if row.since and (began is None or row.since > began)]
    if isinstance(warnings, WarningEvents):
        stem = f"{owner.name}-"
        pods = (event for event in warnings.events if event.kind == "Pod" and event.namespace == owner.namespace)
        told += [pod.last for pod in pods if pod.name.startswith(stem) and pod.name.count("-") == stem.count("-") + 1]
    last = max(told, default=None)
    return last if last and last >= at - LATELY else None


def _all_sleep(owner: Owner, owners: Owners) -> bool:
    """A whole namespace at 0 has been put to sleep for the night."""
    return all(
        not each_owner.wanted for each_owner in owners.of_kind(DEPLOYMENT) if each_owner.namespace == owner.namespace
    )


def _finding(
    owner: Owner, service: WorkloadService, missing: tuple[Complains, ...], since: datetime | None, calls: Calls
) -> Finding:
    workload = owner.subject.partition("/")[2]
    because = [f"{workload} is scaled to 0, and service {service.name} leads to nothing else"]
    because += [f"{complains.owner.partition('/')[2]} calls it: {complains.line}" for complains in missing[:2]]
    if since:
        because.append(f"it still had pods at {since:%H:%M} UTC")
    affects = (*harmed(owner.subject, (), calls), service.subject, *(complains.owner for complains in missing))
    return Finding(
        code=CODE,
        subject=owner.subject,
        severity=Severity.ERROR if missing else Severity.WARNING,
        affects=tuple(dict.fromkeys(affects)),
        because=tuple(because),
        facts=workload_facts(owner.subject)
        | {"service": service.name, "callers": [complains.owner for complains in missing]},
    )
