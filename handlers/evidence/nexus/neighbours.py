"""The other clusters of the same Nexus instance: they share its custom location, which makes one cluster at a time."""

from __future__ import annotations

from dataclasses import dataclass

from handlers.clients.arm.reader import ArmReader
from handlers.engine.declare import collector
from handlers.evidence.nexus.clusters import NETWORK_CLOUD_API, HybridCluster, NexusCluster, read_nexus
from handlers.evidence.wire import text, whole
from handlers.fleet.kinds import NEXUS
from handlers.model import Evidence, NotApplicable
from handlers.resource_id import same


@dataclass(frozen=True, kw_only=True)
class Neighbours(Evidence):
    """The other clusters in the custom location of this one."""

    clusters: tuple[HybridCluster, ...]
    asked: str
    """The subscription that was listed. It shows only what the reader may read, and a site may have more of them."""


@collector(reads=("Microsoft.NetworkCloud/kubernetesClusters/read",))
async def neighbours(cluster: NexusCluster, arm: ArmReader) -> Neighbours | NotApplicable:
    """the other clusters of the Nexus instance"""
    if not cluster.failed:
        return NotApplicable(f"{cluster.name} is {cluster.state}: nothing is to be explained")
    listing = await arm.list(f"/subscriptions/{cluster.subscription}/providers/{NEXUS}", NETWORK_CLOUD_API)
    found = [
        read_nexus(body, listing.source, listing.taken_at)
        for body in whole(listing.items)
        if same(text(body, "extendedLocation", "name"), cluster.custom_location)
    ]
    return Neighbours(
        source=listing.source,
        taken_at=listing.taken_at,
        truncated=listing.truncated,
        clusters=tuple(other for other in found if not same(other.id, cluster.id)),
        asked=cluster.subscription,
    )
