"""Does everything exist that the cluster refers to?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.counted import counted
from handlers.diagnose.deletions import deletion_of
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.complaints import Claim, Complaints, Failure
from handlers.evidence.compute import ScaleSets
from handlers.evidence.lookups import INVALID_REFERENCE, Missing, NamedResources, RareResources, named_in, type_of
from handlers.evidence.monitor import ActivityLog, NodeActivityLog
from handlers.evidence.named_resources import WAY_OUT
from handlers.model import Clear, Finding, Judgement, NotApplicable, Severity, Unavailable, Why
from handlers.resource_id import last_name, within

CODE = INVALID_REFERENCE


@diagnostic(
    codes=(CODE,),
    area="network",
    clear_without=ClearWithout(
        (ActivityLog, NodeActivityLog, ScaleSets, RareResources),
        "what the cluster and its pools name exists; few name more, and errors only tell what a missing one stopped",
    ),
)
def invalid_resource_reference(
    cluster: ManagedCluster,
    pools: AgentPools,
    named: NamedResources,
    rare: RareResources | NotApplicable | Unavailable,
    complaints: Complaints,
    log: ActivityLog | Unavailable,
    node_log: NodeActivityLog | Unavailable,
) -> Iterator[Judgement]:
    """A resource that the cluster, or a part of it, refers to does not exist."""
    looked_up = [named, *([rare] if isinstance(rare, RareResources) else [])]
    for missing in (missing for each in looked_up for missing in each.missing):
        yield _found(cluster, pools, missing, complaints, log, node_log)
    yield from (gap for each in looked_up for gap in each.gaps)
    yield from [rare] if isinstance(rare, Unavailable) else []
    yield from named.strange
    yield from _without_a_name(complaints)
    if complaints.failures and complaints.gaps:
        yield complaints.gaps[0]  # an error that was not seen may name another resource
    elif all(each.complete for each in looked_up):
        count = sum(len(each.present) for each in looked_up)
        yield Clear(f"everything that the cluster refers to exists ({counted(count, 'resource')})")


def _without_a_name(complaints: Complaints) -> Iterator[Unavailable]:
    """Errors of this kind that do not say what is missing: that everything known exists does not answer them."""
    for said in complaints.standing(CODE):
        if not any(True for _ in named_in(said)):
            yield Unavailable("what Azure calls missing", Why.ABSENT, f"the error names no resource: {said.error}")


def _found(
    cluster: ManagedCluster,
    pools: AgentPools,
    missing: Missing,
    complaints: Complaints,
    log: ActivityLog | Unavailable,
    node_log: NodeActivityLog | Unavailable,
) -> Finding:
    reference = missing.reference
    told = [said for said in complaints.standing(CODE) if reference.id.lower() in said.error.message.lower()]
    deleted = deletion_of(reference.id, log, node_log)

    def stopped_by_it(failure: Failure) -> bool:
        return deleted is not None and failure.began_after(deleted.at)

    errors = [said.error for said in told]
    by_name = [failure.subject for failure in complaints.failures if failure.error in errors]
    everybody = [pool.id for pool in pools.pools] if reference.what in WAY_OUT else []
    needing = [cluster.id, reference.referrer, *everybody]
    silent = [name for name in needing if name and complaints.claim(name, (), stopped_by_it) is Claim.OBSERVED]
    harmed = tuple(dict.fromkeys((*complaints.claimed(by_name, (CODE,)), *silent)))
    pool = next((pool for pool in pools.pools if reference.referrer == pool.id or pool.id in harmed), None)
    referrer = (
        f"pool {pool.name}" if pool and reference.referrer == pool.id else last_name(reference.referrer or cluster.id)
    )
    return Finding(
        code=CODE,
        subject=reference.id,
        severity=Severity.ERROR if harmed or told or reference.what in WAY_OUT else Severity.WARNING,
        affects=harmed,
        began=deleted.at if deleted else None,
        because=(
            (
                f'{reference.what} "{reference.name}" in {reference.group} does not exist: '
                f"Azure answers 404 {missing.code}"
            ),
            f"{referrer} refers to it",
            *([f"it was deleted at {deleted.at:%Y-%m-%d %H:%M} UTC"] if deleted else []),
            *(["without it the nodes have no way out"] if reference.what in WAY_OUT else []),
            *(str(said) for said in told[:1]),
        ),
        facts={
            "missing": reference.name,
            "missing_id": reference.id,
            "kind": type_of(reference.id).rpartition("/")[2],
            "what": reference.what,
            "by_aks": within(cluster.node_group_id, reference.id),
            "referrer": reference.referrer or cluster.id,
            "pool": pool.name if pool else "",
            "location": cluster.location,
            "cluster": cluster.name,
            "group": cluster.group,
            "subscription": cluster.subscription,
            "node_group": cluster.node_group,
        },
    )
