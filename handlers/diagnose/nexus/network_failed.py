"""Did the networks of the cluster come up?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from handlers.ages import ago
from handlers.diagnose.nexus.harm import harmed
from handlers.diagnose.nexus.network_reason import Log, reason_of
from handlers.engine.declare import diagnostic
from handlers.evidence.nexus.clusters import HybridCluster
from handlers.evidence.nexus.history import SiteActivityLog
from handlers.evidence.nexus.networks import CloudServicesNetworks, L3Networks, NexusNetwork, OtherNetworks
from handlers.model import Clear, Finding, NotApplicable, Unavailable, Why

CODE = "network-failed"
PATIENCE = timedelta(minutes=15)
"""A network of Nexus comes up within minutes; one that has not after a quarter of an hour never does."""


@diagnostic(codes=(CODE,), area="network")
def network_failed(
    cluster: HybridCluster,
    l3: L3Networks,
    services: CloudServicesNetworks,
    others: OtherNetworks | NotApplicable,
    log: SiteActivityLog | NotApplicable | Unavailable,
) -> Iterator[Finding | Clear | Unavailable]:
    """A network of the cluster is Failed, or has been in Accepted or Provisioning for too long."""
    known = (l3, services, *([others] if isinstance(others, OtherNetworks) else []))
    networks = [network for networks in known for network in networks.of(cluster)]
    for network in networks:
        waited = l3.taken_at - network.changed if network.changed else None
        if network.failed or (network.busy and waited is not None and waited > PATIENCE):
            yield _finding(cluster, network, log, l3)
        elif network.busy and waited is None:
            yield Unavailable(f"since when {network.name} is {network.state}", Why.ABSENT, "Azure gives no time")
    if all(networks.complete for networks in known):
        yield Clear("; ".join(f"{network.in_words} is {network.state}" for network in networks))


def _finding(cluster: HybridCluster, network: NexusNetwork, log: Log, l3: L3Networks) -> Finding:
    reason = reason_of(network, log)
    since = f" since {ago(network.changed, l3.taken_at)}" if network.busy and network.changed else ""
    return Finding(
        code=CODE,
        subject=network.id,
        affects=harmed(cluster),
        because=(
            f"{network.in_words} is {network.state}{since}",
            f"Azure says: {reason}" if reason else "neither the network nor the activity log gives a reason",
            f"{cluster.name} uses it",
        ),
        facts={
            **cluster.facts(),
            **network.facts(),
            "state": network.state,
            "says": reason or "nothing",
            "operation_url": "<operation-url>",
        },
    )
