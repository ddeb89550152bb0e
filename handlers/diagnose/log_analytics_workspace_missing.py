"""Does the workspace exist that the cluster sends its logs to?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.deletions import deletion_of
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.complaints import Complaints, Failure
from handlers.evidence.compute import ScaleSets
from handlers.evidence.lookups import Missing, Workspaces
from handlers.evidence.monitor import ActivityLog, NodeActivityLog
from handlers.model import Clear, Finding, Judgement, Severity, Unavailable
from handlers.resource_id import same

CODE = "log-analytics-workspace-missing"


@diagnostic(
    codes=(CODE,),
    area="governance",
    clear_without=ClearWithout(
        (ActivityLog, NodeActivityLog, ScaleSets),
        "the workspace itself answers; errors only tell what a missing one has stopped",
    ),
)
def log_analytics_workspace_missing(
    cluster: ManagedCluster, workspaces: Workspaces, complaints: Complaints, log: ActivityLog | Unavailable
) -> Iterator[Judgement]:
    """The Log Analytics workspace that the cluster sends to does not exist."""
    for missing in workspaces.missing:
        yield _found(cluster, missing, complaints, log)
    yield from workspaces.gaps
    if workspaces.complete:
        yield Clear(f"Log Analytics workspace {', '.join(reference.name for reference in workspaces.present)} exists")


def _found(
    cluster: ManagedCluster, missing: Missing, complaints: Complaints, log: ActivityLog | Unavailable
) -> Finding:
    reference = missing.reference
    deleted = deletion_of(reference.id, log)

    def in_the_way(failure: Failure) -> bool:
        """Every write of the cluster reads the workspace first; a pool's own operations may not."""
        return same(failure.subject, cluster.id) and deleted is not None and failure.began_after(deleted.at)

    harmed = complaints.claimed(complaints.failed, (CODE,), in_the_way)
    told = complaints.standing(CODE)
    group = f"resource group {reference.group}, where workspace {reference.name} was," if missing.group_is_gone else ""
    gone = group or f"workspace {reference.name} in {reference.group}"
    return Finding(
        code=CODE,
        subject=reference.id,
        severity=Severity.ERROR if harmed or told else Severity.WARNING,
        affects=harmed,
        began=deleted.at if deleted else None,
        because=(
            f"{gone} does not exist: Azure answers 404 {missing.code}",
            f"{reference.what} of {cluster.name} sends to it",
            *([f"it was deleted at {deleted.at:%Y-%m-%d %H:%M} UTC"] if deleted else []),
            *(str(said) for said in told[:1]),
        ),
        facts={
            "feature": reference.what,
            "workspace": reference.name,
            "workspace_id": reference.id,
            "workspace_group": reference.group,
            "workspace_subscription": reference.id.split("/")[2],
            "group_is_gone": missing.group_is_gone,
            "location": cluster.location,
            "cluster": cluster.name,
            "group": cluster.group,
            "subscription": cluster.subscription,
        },
    )
