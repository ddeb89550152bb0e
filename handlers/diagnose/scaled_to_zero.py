"""Does something call a service whose only workload has no replicas?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from handlers.diagnose.callers import Complains, complaining
from handlers.diagnose.workload_findings import WITHOUT_AZURE, harmed, named, workload_facts
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.workloads.logs import LogTails
from handlers.evidence.workloads.owners import DEPLOYMENT, STATEFUL_SET, Owner, Owners
from handlers.evidence.workloads.scaled_objects import ScaledObject, ScaledObjects, seen_of
from handlers.evidence.workloads.served import ServedGroups
from handlers.evidence.workloads.services import EndpointSlices, Services, WorkloadService
from handlers.evidence.workloads.symptoms import Symptoms
from handlers.evidence.workloads.unwell import LATELY
from handlers.evidence.workloads.warnings import WarningEvents
from handlers.evidence.workloads.wiring.calls import Calls, leads_to
from handlers.model import Finding, Judgement, NotApplicable, Severity, Unavailable

CODE = "scaled-to-zero"
AT_ONCE = timedelta(seconds=10)
"""Conditions of a deployment that was made with 0 replicas are as old as itself: it never had a pod."""


@diagnostic(
    codes=(CODE,),
    area="workloads",
    clear_without=ClearWithout(
        (*WITHOUT_AZURE.kinds, ServedGroups, ScaledObjects),
        "what is scaled to 0 is read from the cluster; KEDA is asked who did it, and where that decides, it is said",
    ),
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
    keda: ScaledObjects | NotApplicable | Unavailable,
) -> Iterator[Judgement]:
    """Something calls a service whose only workload is scaled to 0."""
    judged = list(_asleep(owners, services, slices, calls, symptoms, warnings, tails, keda))
    yield from named(item for item in judged if isinstance(item, Finding))
    yield from dict.fromkeys(item for item in judged if isinstance(item, Unavailable))


def _asleep(
    owners: Owners,
    services: Services,
    slices: EndpointSlices,
    calls: Calls,
    symptoms: Symptoms,
    warnings: WarningEvents | Unavailable,
    tails: LogTails | Unavailable,
    keda: ScaledObjects | NotApplicable | Unavailable,
) -> Iterator[Finding | Unavailable]:
    seen: set[str] = set()
    for service in services.services:
        behind = [owner for owner in owners.of_kind(DEPLOYMENT, STATEFUL_SET) if leads_to(service, owner)]
        if len(behind) != 1 or behind[0].wanted or behind[0].subject in seen or slices.ready(service):
            continue
        owner = behind[0]
        missing = complaining(service, calls, tails, symptoms)
        since = _ran_lately(owner, warnings, owners.taken_at)
        scaled = seen_of(owner, keda)
        taken_away = since is not None and not _all_sleep(owner, owners)
        if missing or (taken_away and _is_a_persons(scaled)):
            seen.add(owner.subject)
            yield _finding(owner, service, missing, since, calls, scaled)
        elif taken_away and isinstance(scaled, Unavailable):
            yield scaled


def _is_a_persons(scaled: ScaledObject | Unavailable | None) -> bool:
    """Whether a person took its pods away. KEDA does so whenever nothing happens, and brings them back."""
    return scaled is None or (isinstance(scaled, ScaledObject) and not scaled.sleeps)


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
    owner: Owner,
    service: WorkloadService,
    missing: tuple[Complains, ...],
    since: datetime | None,
    calls: Calls,
    scaled: ScaledObject | Unavailable | None,
) -> Finding:
    workload = owner.subject.partition("/")[2]
    because = [f"{workload} is scaled to 0, and service {service.name} leads to nothing else"]
    because += [f"{complains.owner.partition('/')[2]} calls it: {complains.line}" for complains in missing[:2]]
    if since:
        because.append(f"it still had pods at {since:%H:%M} UTC")
    if isinstance(scaled, ScaledObject):
        because.append(_by_keda(scaled))
    affects = (*harmed(owner.subject, (), calls), service.subject, *(complains.owner for complains in missing))
    return Finding(
        code=CODE,
        subject=owner.subject,
        severity=Severity.ERROR if missing else Severity.WARNING,
        affects=tuple(dict.fromkeys(affects)),
        because=tuple(because),
        facts=workload_facts(owner.subject)
        | {
            "service": service.name,
            "callers": [complains.owner for complains in missing],
            "scaled_object": scaled.name if isinstance(scaled, ScaledObject) else "",
            "paused": isinstance(scaled, ScaledObject) and bool(scaled.paused_at),
        },
    )


def _by_keda(scaled: ScaledObject) -> str:
    if scaled.paused_at:
        return f"ScaledObject {scaled.name} is paused at {scaled.paused_at} replicas"
    return f"ScaledObject {scaled.name} of KEDA scales it, down to {scaled.least} (minReplicaCount)"
