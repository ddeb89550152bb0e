"""Was another cluster created in the same Nexus instance at the same time?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from handlers.engine.declare import diagnostic
from handlers.evidence.nexus.clusters import HybridCluster
from handlers.evidence.nexus.neighbours import Neighbours
from handlers.model import Clear, Finding, NotApplicable, Unavailable, Why
from handlers.resource_id import last_name

CODE = "hybrid-concurrent-creation"
CREATION = timedelta(minutes=30)
"""How long the creation of one cluster takes at the least: two that were begun closer together overlapped."""


@diagnostic(codes=(CODE,), area="cluster")
def hybrid_concurrent_creation(
    cluster: HybridCluster, neighbours: Neighbours | NotApplicable
) -> Iterator[Finding | Clear | Unavailable]:
    """The cluster failed, and another one was created in the same custom location at the same time."""
    if isinstance(neighbours, NotApplicable):
        detail = "Azure offers no list of provisioned clusters: compare the times of creation by hand"
        unseen = Unavailable(f"the clusters beside {cluster.name}", Why.ABSENT, detail)
        yield unseen if cluster.failed else Clear(f"{cluster.name} is {cluster.state}")
        return
    if cluster.made is None:
        yield Unavailable(f"when {cluster.name} was created", Why.ABSENT, "Azure gives no time")
        return
    if _settled_before(cluster):
        yield Clear(f"{cluster.name} had been changed long after it was created")
        return
    at_once = [
        (other, other.made)
        for other in neighbours.clusters
        if other.made is not None and abs(other.made - cluster.made) < CREATION
    ]
    if at_once:
        others = [f"{other.name} at {made:%H:%M} UTC ({other.state})" for other, made in at_once]
        names = [other.name for other, _ in at_once if other.failed or other.busy]
        yield _finding(cluster, f"{cluster.made:%Y-%m-%d %H:%M}", others, names)
    elif neighbours.complete:
        seen = f"{len(neighbours.clusters)} other clusters that may be read in subscription {neighbours.asked}"
        yield Clear(f"none of {seen} was created within {CREATION}")


def _settled_before(cluster: HybridCluster) -> bool:
    """A cluster that somebody changed a day after it was created did not fail to be created."""
    return bool(cluster.made and cluster.changed and cluster.changed - cluster.made > timedelta(days=1))


def _finding(cluster: HybridCluster, made: str, others: list[str], half_made: list[str]) -> Finding:
    return Finding(
        code=CODE,
        subject=cluster.custom_location,
        affects=(cluster.id,),
        because=(
            f"{cluster.name} was created at {made} UTC and is {cluster.state}",
            f"created at the same time in {last_name(cluster.custom_location)}: {', '.join(others)}",
            "the Arc appliance of a Nexus instance makes one cluster at a time",
        ),
        facts={
            **cluster.facts(),
            "custom_location": cluster.custom_location,
            "others": others,
            "delete": [cluster.name, *half_made],
        },
    )
