"""Did the cluster fail for a reason of Azure's own?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.complaints import Complaints, Failure, always
from handlers.evidence.compute import ScaleSets
from handlers.evidence.monitor import ActivityLog, NodeActivityLog
from handlers.evidence.service_health import ServiceIssues, announced
from handlers.model import Causes, Clear, Finding, Judgement, Outcome, Unavailable, Verdict, Why

CODE = "cluster-failed-infra"
MOST_NAMED = 5
"""A phone shows about that many codes; the JSON holds all of them."""


@diagnostic(
    codes=(CODE,),
    area="cluster",
    causes_of=("cluster-failed", "nodepool-failed"),
    clear_without=ClearWithout(
        (ActivityLog, NodeActivityLog, ScaleSets, ServiceIssues),
        "the cluster's own state says that it has not failed; the rest only tells whether something else is the cause",
    ),
)
def cluster_failed_infra(
    cluster: ManagedCluster,
    pools: AgentPools,
    complaints: Complaints,
    causes: Causes,
    service: ServiceIssues | Unavailable,
) -> Iterator[Judgement]:
    """The cluster failed with an internal error of Azure's, and nothing of its owners' stands in the way."""
    blamed = _internal(cluster, pools, complaints)
    if not isinstance(blamed, Failure):
        yield blamed
    elif causes.found:
        yield Clear(f"another cause was found: {causes.found[0].code}, {causes.found[0].why}")
    elif causes.open:
        yield _open(causes.open)
    else:
        yield _found(cluster, pools, complaints, blamed, causes, service)


def _internal(cluster: ManagedCluster, pools: AgentPools, complaints: Complaints) -> Failure | Clear | Unavailable:
    """The failure that Azure blames on itself, when it named nothing else for the cluster or for its pools."""
    if not cluster.failed:
        return Clear(f"{cluster.name} is {cluster.state}")
    known = [complaints.failure(subject) for subject in (cluster.id, *(pool.id for pool in pools.failed))]
    failures = [failure for failure in known if failure]
    named = next((failure for failure in failures if failure.named), None)
    if named:
        return Clear(f"Azure named another cause: {named.error}")
    internal = next((failure for failure in failures if failure.internal), None)
    if internal:
        return internal
    return complaints.gaps[0] if complaints.gaps else Clear("Azure reports no internal error of its own")


def _open(verdicts: tuple[Verdict, ...]) -> Unavailable:
    """A cause that nobody looked for, or could not, leaves it open."""
    denied = next((verdict for verdict in verdicts if verdict.outcome), None)
    names = [verdict.code for verdict in verdicts]
    rest = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    because = f"{denied.code} stayed open ({denied.why})" if denied else "no check asks about them yet"
    what = f"Azure blames itself, but not ruled out are {', '.join(names[:MOST_NAMED])}{rest}: {because}"
    return Unavailable("the other causes of the failure", Why.ABSENT, what)


def _found(
    cluster: ManagedCluster,
    pools: AgentPools,
    complaints: Complaints,
    blamed: Failure,
    causes: Causes,
    service: ServiceIssues | Unavailable,
) -> Finding:
    failed = pools.failed
    asked = [verdict for verdict in causes.verdicts if verdict.outcome is not Outcome.NOT_APPLICABLE]
    checked = [f"{verdict.code}: {verdict.why}" for verdict in asked]
    own = complaints.failure(cluster.id)
    issues = announced(service, own.at if own else None)
    return Finding(
        code=CODE,
        subject=cluster.id,
        affects=complaints.claimed((cluster.id, *(pool.id for pool in failed)), (CODE,), always),
        because=(
            *issues,
            str(blamed.complaint),
            *(f"pool {pool.name} is {pool.state}" for pool in failed),
            *(f"not the cause, {item}" for item in checked),
        ),
        facts={
            "state": cluster.state,
            "error_code": blamed.error.code if blamed.error else "",
            "message": blamed.error.message if blamed.error else "",
            "when": f"{own.at:%Y-%m-%d %H:%M} UTC" if own and own.at else "",
            "correlation": own.correlation if own else "",
            "pools": [pool.name for pool in failed],
            "pool_ids": [pool.id for pool in failed],
            "checked": checked,
            "service_issues": [*issues],
            "cluster": cluster.name,
            "group": cluster.group,
            "cluster_id": cluster.id,
            "subscription": cluster.subscription,
        },
        began=own.at if own else None,
    )
