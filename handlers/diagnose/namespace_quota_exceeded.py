"""Does a namespace's quota refuse pods, services or claims?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from handlers.diagnose.quota_never_made import NAME, never_made
from handlers.diagnose.workload_findings import WITHOUT_AZURE, harmed, named
from handlers.engine.declare import diagnostic
from handlers.evidence.quantities import amount
from handlers.evidence.workloads.limits import Quota, ResourceQuotas
from handlers.evidence.workloads.owners import Owners
from handlers.evidence.workloads.pods import WorkloadPods
from handlers.evidence.workloads.services import Services
from handlers.evidence.workloads.storage import Claims
from handlers.evidence.workloads.symptoms import Sign, Symptom, Symptoms
from handlers.evidence.workloads.wiring.calls import Calls
from handlers.model import Finding, Judgement, Unavailable
from runbooks.linear import compile_linear

CODE = NAME
_EXCEEDED = compile_linear(
    r"exceeded quota: (?P<quota>[^,]+), requested: (?P<requested>.+), used: (?P<used>.+), limited: (?P<limited>.+)"
)
_UNSAID = compile_linear(r"failed quota: (?P<quota>[^:]+): must specify (?P<what>[^;]+)")


@dataclass(frozen=True, slots=True)
class Refusal:
    """What Kubernetes says when a quota refuses a creation."""

    quota: str
    rows: tuple[tuple[str, str, str, str], ...]
    """(resource, requested, used, limited) of what is too much."""
    unsaid: str = ""

    @property
    def resource(self) -> str:
        return ", ".join(row[0] for row in self.rows) or self.unsaid


@diagnostic(
    codes=(CODE,),
    area="workloads",
    clear_without=WITHOUT_AZURE,
    clear_says="no ResourceQuota keeps a workload from creating what it needs",
)
def namespace_quota_exceeded(
    symptoms: Symptoms,
    quotas: ResourceQuotas | Unavailable,
    owners: Owners,
    services: Services | Unavailable,
    pods: WorkloadPods,
    claims: Claims | Unavailable,
    calls: Calls | Unavailable,
) -> Iterator[Judgement]:
    """A ResourceQuota refuses pods, services or claims that a workload needs."""
    by_quota: dict[tuple[str, str], list[tuple[Symptom, Refusal]]] = defaultdict(list)
    for symptom in symptoms.of(Sign.REFUSED):
        refusal = refusal_in(symptom.message)
        if refusal and not _has_room(symptom.namespace, refusal, quotas):
            by_quota[symptom.namespace, refusal.quota].append((symptom, refusal))
    yield from named(_exceeded(*key, rows, calls) for key, rows in by_quota.items())
    if isinstance(quotas, ResourceQuotas):
        full = [quota for quota in quotas.quotas if (quota.namespace, quota.name) not in by_quota]
        yield from never_made(full, owners, services, pods, claims, calls)
    else:
        yield quotas


def refusal_in(message: str) -> Refusal | None:
    """The quota that a message names, and its arithmetic."""
    found = _EXCEEDED.search(message)
    if found:
        parts = [_amounts(found[name]) for name in ("requested", "used", "limited")]
        rows = tuple(
            (name, wanted, parts[1].get(name, "0"), parts[2].get(name, "")) for name, wanted in parts[0].items()
        )
        return Refusal(found["quota"].strip(), rows)
    found = _UNSAID.search(message)
    return Refusal(found["quota"].strip(), (), found["what"].strip()) if found else None


def _has_room(namespace: str, refusal: Refusal, quotas: ResourceQuotas | Unavailable) -> bool:
    """Somebody has raised it meanwhile, and the controller has not tried again yet."""
    if isinstance(quotas, Unavailable) or not refusal.rows:
        return False
    quota = next(
        (quota for quota in quotas.quotas if (quota.namespace, quota.name) == (namespace, refusal.quota)), None
    )
    if quota is None:
        return quotas.complete
    return all(_fits(quota, resource, wanted) for resource, wanted, _, _ in refusal.rows)


def _fits(quota: Quota, resource: str, wanted: str) -> bool:
    hard = quota.hard.get(resource)
    return hard is None or amount(quota.used.get(resource, "0")) + amount(wanted) <= amount(hard)


def _exceeded(namespace: str, quota: str, rows: list[tuple[Symptom, Refusal]], calls: Calls | Unavailable) -> Finding:
    symptom, refusal = rows[-1]
    owners = [row.owner for row, _ in rows]
    return Finding(
        code=CODE,
        subject=f"{namespace}/ResourceQuota/{quota}",
        affects=tuple(dict.fromkeys(item for owner in owners for item in harmed(owner, (), calls))),
        because=tuple(_because(namespace, quota, rows)),
        facts={
            "namespace": namespace,
            "quota": quota,
            "resource": refusal.resource,
            "rows": [dict(zip(("resource", "requested", "used", "limited"), row, strict=True)) for row in refusal.rows],
            "unsaid": refusal.unsaid,
            "workload": symptom.owner.partition("/")[2],
            "workloads": [owner.partition("/")[2] for owner in owners],
        },
        began=symptom.since,
    )


def _because(namespace: str, quota: str, rows: list[tuple[Symptom, Refusal]]) -> Iterator[str]:
    refusal = rows[-1][1]
    for resource, wanted, used, limited in refusal.rows:
        yield f"quota {quota} of namespace {namespace}: {resource} {used} used + {wanted} requested > {limited} allowed"
    if refusal.unsaid:
        yield f"quota {quota} of namespace {namespace} refuses pods that do not say {refusal.unsaid}"
    for symptom, _ in rows[:3]:
        yield f"{symptom.owner.partition('/')[2]} cannot create its pods: {symptom.message}"
    if len(rows) > 3:
        yield f"{len(rows) - 3} more workloads are refused"


def _amounts(text: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in text.split(","))
    return {name.strip(): value.strip() for name, _, value in pairs}
