"""The Nexus cluster, the hardware of a site, and the custom locations that belong to it."""

from __future__ import annotations

from dataclasses import dataclass

from handlers.clients.arm.reader import ArmReader
from handlers.engine.declare import collector
from handlers.evidence.nexus.clusters import NETWORK_CLOUD_API, HybridCluster
from handlers.evidence.wire import dig, need_text, text
from handlers.model import Evidence, NotApplicable
from handlers.resource_id import same


@dataclass(frozen=True, kw_only=True)
class NexusSite(Evidence):
    """The Nexus cluster."""

    id: str
    name: str
    state: str
    status: str
    custom_location: str
    hybrid_location: str
    """Of AKS hybrid; deprecated, and mostly empty today."""
    fabric: str

    def has(self, custom_location: str) -> bool:
        """Whether a custom location is one of this site."""
        own = (self.custom_location, self.hybrid_location)
        return any(same(custom_location, location) for location in own if location)


@collector(reads=("Microsoft.NetworkCloud/clusters/read",))
async def nexus_site(cluster: HybridCluster, arm: ArmReader) -> NexusSite | NotApplicable:
    """the Nexus cluster of the site"""
    if not cluster.site:
        return NotApplicable(f"{cluster.name} does not name the Nexus cluster that it runs on")
    answer = await arm.get(cluster.site, NETWORK_CLOUD_API)
    properties = dig(answer.body, "properties")
    return NexusSite(
        source=answer.source,
        taken_at=answer.taken_at,
        id=need_text(answer.body, "id"),
        name=need_text(answer.body, "name"),
        state=need_text(properties, "provisioningState"),
        status=text(properties, "detailedStatus"),
        custom_location=need_text(properties, "clusterExtendedLocation", "name"),
        hybrid_location=text(properties, "hybridAksExtendedLocation", "name"),
        fabric=text(properties, "networkFabricId"),
    )
