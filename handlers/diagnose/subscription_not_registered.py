"""May the subscription use what the cluster needs?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.counted import counted
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.complaints import Complaint, Complaints
from handlers.evidence.compute import ScaleSets
from handlers.evidence.errors import ErrorDetail
from handlers.evidence.monitor import ActivityLog, NodeActivityLog
from handlers.evidence.providers import ProviderRegistrations
from handlers.model import Clear, Finding, Severity, Unavailable
from runbooks.linear import compile_linear

REGISTERING = "registering"
_WAIT = "it is being registered: wait some minutes, then run what failed again"
CODE = "subscription-not-registered"
_NAMESPACE = compile_linear(r"namespace '(?P<name>[\w.]+)'", ignore_case=True)


@diagnostic(
    codes=(CODE,),
    area="governance",
    clear_without=ClearWithout(
        (ActivityLog, NodeActivityLog, ScaleSets),
        "every provider's own state says that it is registered; errors only tell whom a missing one has hit",
    ),
)
def subscription_not_registered(
    cluster: ManagedCluster, providers: ProviderRegistrations, complaints: Complaints
) -> Iterator[Finding | Clear | Unavailable]:
    """A resource provider that the cluster needs is not registered in its subscription."""
    waiting = []
    for namespace, feature in cluster.namespaces:
        state = providers.state(namespace)
        if state.lower() == REGISTERING and not _refusals(namespace, complaints):
            waiting.append(namespace)
        elif state and state.lower() != "registered":
            yield _missing(cluster, namespace, feature, state, complaints)
    if waiting:
        yield from complaints.gaps[:1]  # whether it has stopped anything is told there, and nowhere else
    if providers.complete:
        how = f"{', '.join(waiting)} is being registered, which takes minutes" if waiting else "all are registered"
        yield Clear(f"the cluster needs {counted(len(cluster.namespaces), 'resource provider')}; {how}")


def _missing(cluster: ManagedCluster, namespace: str, feature: str, state: str, complaints: Complaints) -> Finding:
    told = _refusals(namespace, complaints)
    named = [subject for subject in complaints.failed if any(complaint.about == subject for complaint in told)]
    harmed = complaints.claimed(named, (CODE,))
    return Finding(
        code=CODE,
        subject=f"/subscriptions/{cluster.subscription}/providers/{namespace}",
        severity=Severity.ERROR if harmed or told else Severity.WARNING,
        affects=harmed,
        because=(
            f"{namespace} is {state} in subscription {cluster.subscription}",
            f"{cluster.name} needs it for {feature}",
            *([_WAIT] if state.lower() == REGISTERING else []),
            *(str(complaint) for complaint in told[:1]),
        ),
        facts={
            "namespace": namespace,
            "state": state,
            "needed_for": feature,
            "cluster": cluster.name,
            "group": cluster.group,
            "subscription": cluster.subscription,
            "cluster_id": cluster.id,
        },
    )


def _refusals(namespace: str, complaints: Complaints) -> list[Complaint]:
    """Refusals that still matter and name it, or no provider at all."""
    return [complaint for complaint in complaints.standing(CODE) if _named(complaint.error) in ("", namespace.lower())]


def _named(error: ErrorDetail) -> str:
    found = _NAMESPACE.search(error.message)
    return found["name"].lower() if found else error.target.lower()
