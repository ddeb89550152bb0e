"""Are pods refused because their service account does not exist?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.workload_findings import WITHOUT_AZURE, harmed, named, workload_facts
from handlers.engine.declare import diagnostic
from handlers.evidence.workloads.limits import ServiceAccounts
from handlers.evidence.workloads.symptoms import Sign, Symptom, Symptoms
from handlers.evidence.workloads.wiring.calls import Calls
from handlers.model import Finding, Judgement, Unavailable
from runbooks.linear import compile_linear

CODE = "service-account-missing"
_MISSING = compile_linear(
    r'error looking up service account [^/ ]+/(?P<name>[^: ]+): serviceaccounts? "[^"]+" not found'
)


@diagnostic(
    codes=(CODE,),
    area="workloads",
    clear_without=WITHOUT_AZURE,
    clear_says="no workload lacks the service account of its pods",
)
def service_account_missing(
    symptoms: Symptoms, accounts: ServiceAccounts | Unavailable, calls: Calls | Unavailable
) -> Iterator[Judgement]:
    """A workload names a service account that does not exist, so its pods cannot be created."""
    yield from named(_missing(symptoms, accounts, calls))


def _missing(
    symptoms: Symptoms, accounts: ServiceAccounts | Unavailable, calls: Calls | Unavailable
) -> Iterator[Finding]:
    for symptom in symptoms.of(Sign.REFUSED):
        found = _MISSING.search(symptom.message)
        if found and not _exists(symptom.namespace, found["name"], accounts):
            yield _finding(symptom, found["name"], _there(symptom.namespace, accounts), calls)


def _there(namespace: str, accounts: ServiceAccounts | Unavailable) -> list[str]:
    if isinstance(accounts, Unavailable):
        return []
    return [account.name for account in accounts.accounts if account.namespace == namespace]


def _exists(namespace: str, name: str, accounts: ServiceAccounts | Unavailable) -> bool:
    """It is made in the same breath as its workload, and the first try is refused: that passes within a second."""
    return name in _there(namespace, accounts)


def _finding(symptom: Symptom, name: str, there: list[str], calls: Calls | Unavailable) -> Finding:
    workload = symptom.owner.partition("/")[2]
    because = [
        f"{workload} names service account {name}, which does not exist in namespace {symptom.namespace}",
        f"{workload} cannot create its pods: {symptom.message}",
    ]
    if there:
        because.append(f"service accounts there: {', '.join(sorted(there)[:10])}")
    return Finding(
        code=CODE,
        subject=symptom.owner,
        affects=harmed(symptom.owner, (), calls),
        because=tuple(because),
        facts=workload_facts(symptom.owner) | {"account": name, "accounts": sorted(there)},
        began=symptom.since,
    )
