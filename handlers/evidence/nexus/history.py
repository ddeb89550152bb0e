"""Why networks and clusters of a site failed: what the activity log says of their groups."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from handlers.clients.answers import Listing
from handlers.clients.arm.reader import ArmReader
from handlers.engine.declare import collector
from handlers.evidence.gather import each
from handlers.evidence.monitor import MOST_EVENTS, ActivityLog, read_event
from handlers.evidence.nexus.clusters import HybridCluster
from handlers.evidence.nexus.networks import CloudServicesNetworks, L3Networks, NexusNetworks, OtherNetworks
from handlers.evidence.wire import whole
from handlers.model import NotApplicable, Target, Unavailable

WINDOW = timedelta(days=14)
MOST_GROUPS = 4
"""A cluster's networks stand in one or two resource groups."""


@dataclass(frozen=True, kw_only=True)
class SiteActivityLog(ActivityLog):
    """What happened in the groups of what has failed on this site, newest first."""


@collector(reads=("Microsoft.Insights/eventtypes/values/read",), deadline_s=12)
async def site_activity_log(
    target: Target,
    cluster: HybridCluster,
    l3: L3Networks | NotApplicable | Unavailable,
    services: CloudServicesNetworks | NotApplicable | Unavailable,
    others: OtherNetworks | NotApplicable | Unavailable,
    arm: ArmReader,
) -> SiteActivityLog | NotApplicable:
    """the activity log of the site's groups"""
    networks = [
        network for known in (l3, services, others) if isinstance(known, NexusNetworks) for network in known.of(cluster)
    ]
    unwell = [network.id for network in networks if network.failed or network.busy]
    unwell += [cluster.id] if cluster.failed else []
    if not unwell:
        return NotApplicable(f"nothing of {cluster.name} has failed")
    hour = target.asked_at.replace(minute=0, second=0, microsecond=0)
    since, until = hour - WINDOW, hour + timedelta(hours=1)
    groups = dict.fromkeys((name.split("/")[2].lower(), name.split("/")[4].lower()) for name in unwell)

    async def of_group(where: tuple[str, str]) -> Listing:
        return await arm.activity(where[0], group=where[1], since=since, until=until, most=MOST_EVENTS)

    listings, gaps = await each([*groups][:MOST_GROUPS], of_group)
    events = [read_event(item) for listing in listings for item in whole(listing.items)]
    return SiteActivityLog(
        source=", ".join(listing.source for listing in listings),
        taken_at=min(listing.taken_at for listing in listings),
        truncated=any(listing.truncated for listing in listings) or len(groups) > MOST_GROUPS,
        gaps=gaps,
        events=tuple(sorted(events, key=lambda event: event.at, reverse=True)),
        since=since,
    )
