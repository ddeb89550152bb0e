"""May the subscription use what the cluster needs?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from handlers.engine.declare import diagnostic
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.complaints import Complaint, Complaints
from handlers.evidence.errors import ErrorDetail
from handlers.evidence.providers import ProviderRegistrations
from handlers.model import Clear, Finding, Severity

_NAMESPACE = re.compile(r"namespace '(?P<name>[\w.]+)'", re.IGNORECASE)


@diagnostic(codes=("subscription-not-registered",), area="governance")
def subscription_not_registered(
    cluster: ManagedCluster, pools: AgentPools, providers: ProviderRegistrations, complaints: Complaints
) -> Iterator[Finding | Clear]:
    """A resource provider that the cluster needs is not registered in its subscription."""
    for namespace, feature in cluster.namespaces:
        state = providers.state(namespace)
        if state and state.lower() != "registered":
            yield _missing(cluster, pools, namespace, feature, state, complaints)
    if providers.complete:
        yield Clear(f"{len(cluster.namespaces)} resource providers are needed, all are registered")


def _missing(
    cluster: ManagedCluster, pools: AgentPools, namespace: str, feature: str, state: str, complaints: Complaints
) -> Finding:
    def names_it(error: ErrorDetail) -> bool:
        return speaks_of_registration(error) and _named(error) in ("", namespace.lower())

    failed = [*(pool.id for pool in pools.failed), *([cluster.id] if cluster.failed else [])]
    harmed = [one for one in failed if complaints.claimable(one, names_it)]
    told = [one for one in complaints.speaking_of(names_it) if one.about in failed or _is_recent(one, complaints)]
    return Finding(
        code="subscription-not-registered",
        subject=f"/subscriptions/{cluster.subscription}/providers/{namespace}",
        severity=Severity.ERROR if harmed or told else Severity.WARNING,
        affects=tuple(harmed),
        because=(
            f"{namespace} is {state} in subscription {cluster.subscription}",
            f"{cluster.name} needs it for {feature}",
            *(str(one) for one in told[:1]),
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


def _is_recent(told: Complaint, complaints: Complaints) -> bool:
    return told in complaints.recent(speaks_of_registration)


def _named(error: ErrorDetail) -> str:
    found = _NAMESPACE.search(error.message)
    return found["name"].lower() if found else error.target.lower()


def speaks_of_registration(error: ErrorDetail) -> bool:
    """Azure's front end, and AKS about another provider."""
    words = f"{error.code} {error.message}".lower()
    return "missingsubscriptionregistration" in words or "not registered to use namespace" in words
