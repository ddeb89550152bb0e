"""What a full quota has kept from being made: whoever asked for it was told, and nothing in the cluster says so.

A service or a claim that somebody needs and nobody has, in a namespace whose quota has no room for one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain

from handlers.diagnose.workload_findings import harmed
from handlers.evidence.quantities import amount
from handlers.evidence.workloads.limits import Quota
from handlers.evidence.workloads.owners import Owner, Owners
from handlers.evidence.workloads.pods import WorkloadPods
from handlers.evidence.workloads.services import Services
from handlers.evidence.workloads.storage import Claims
from handlers.evidence.workloads.wiring.calls import Calls, leads_to, wrong_addresses
from handlers.model import Finding, Unavailable

NAME = "namespace-quota-exceeded"
NEARLY_FULL = Decimal("0.9")
"""Of storage, whose claims differ in size: what is left is less than a tenth."""
_STORAGE = ("requests.storage", "persistentvolumeclaims")


@dataclass(frozen=True, slots=True)
class Lack:
    """Something that is needed and was never made."""

    quota: Quota
    resource: str
    what: str
    needed_by: tuple[str, ...]
    affects: tuple[str, ...]


def never_made(
    quotas: Sequence[Quota],
    owners: Owners,
    services: Services | Unavailable,
    pods: WorkloadPods,
    claims: Claims | Unavailable,
    calls: Calls | Unavailable,
) -> Iterator[Finding]:
    """A finding for each quota that stands in the way of something that is needed."""
    for quota in quotas:
        lack = next(chain(_services(quota, owners, services, calls), _claims(quota, pods, claims, calls)), None)
        if lack:
            yield _finding(lack)


def _services(
    quota: Quota, owners: Owners, services: Services | Unavailable, calls: Calls | Unavailable
) -> Iterator[Lack]:
    """A workload of the very name that others call, and no service leads to it."""
    if isinstance(services, Unavailable) or not services.complete or not _is_full(quota, "services"):
        return
    there = [workload for workload in owners.workloads if workload.namespace == quota.namespace]
    bare = {owner.name: owner for owner in there if not any(leads_to(service, owner) for service in services.services)}
    for name, callers in _called(there, services).items():
        if name in bare:
            suffering = (item for caller in callers for item in harmed(caller, (), calls))
            yield Lack(quota, "services", f"service {name}", callers, tuple(dict.fromkeys(suffering)))


def _called(owners: Sequence[Owner], services: Services) -> dict[str, tuple[str, ...]]:
    """By name of a service that does not exist: the workloads that call it."""
    found: dict[str, tuple[str, ...]] = {}
    for owner in owners:
        for wrong in wrong_addresses(owner.namespace, owner.spec, services):
            if wrong.service is None:
                found[wrong.host] = (*found.get(wrong.host, ()), owner.subject)
    return found


def _claims(
    quota: Quota, pods: WorkloadPods, claims: Claims | Unavailable, calls: Calls | Unavailable
) -> Iterator[Lack]:
    if isinstance(claims, Unavailable) or not claims.complete:
        return
    resource = next((item for item in _STORAGE if item in quota.hard and _used(quota, item) >= NEARLY_FULL), "")
    for pod in pods.pods:
        if not resource or pod.namespace != quota.namespace or not pod.unscheduled:
            continue
        missing = next((claim for claim in pod.spec.claims if not claims.named(pod.namespace, claim)), "")
        if missing:
            affects = (f"{pod.namespace}/PersistentVolumeClaim/{missing}", *harmed(pod.owned_by, (pod,), calls))
            yield Lack(quota, resource, f"claim {missing}", (pod.owned_by,), affects)


def _is_full(quota: Quota, resource: str) -> bool:
    return resource in quota.hard and _used(quota, resource) >= 1


def _used(quota: Quota, resource: str) -> Decimal:
    """Which part of it is used. One that allows nothing is full."""
    hard = amount(quota.hard[resource])
    return amount(quota.used.get(resource, "0")) / hard if hard else Decimal(1)


def _finding(lack: Lack) -> Finding:
    quota, resource = lack.quota, lack.resource
    used, hard = quota.used.get(resource, "0"), quota.hard[resource]
    workload = lack.needed_by[0].partition("/")[2]
    return Finding(
        code=NAME,
        subject=quota.subject,
        affects=lack.affects,
        because=(
            f"quota {quota.name} of namespace {quota.namespace}: {resource} {used} of {hard} used",
            f"{lack.what}, which {workload} needs, does not exist there: there is no room to make it",
        ),
        facts={
            "namespace": quota.namespace,
            "quota": quota.name,
            "resource": resource,
            "rows": [{"resource": resource, "requested": lack.what, "used": used, "limited": hard}],
            "unsaid": "",
            "workload": workload,
            "workloads": [item.partition("/")[2] for item in lack.needed_by],
        },
    )
