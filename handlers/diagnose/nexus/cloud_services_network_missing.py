"""Has the cluster a cloud services network?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.nexus.harm import harmed
from handlers.engine.declare import diagnostic
from handlers.evidence.nexus.clusters import NexusCluster
from handlers.evidence.nexus.networks import CloudServicesNetworks
from handlers.model import Clear, Finding
from handlers.resource_id import last_name

CODE = "cloud-services-network-missing"


@diagnostic(codes=(CODE,), area="network")
def cloud_services_network_missing(cluster: NexusCluster, services: CloudServicesNetworks) -> Iterator[Finding | Clear]:
    """The cluster has no cloud services network, or the one that it names does not exist."""
    if cluster.services and (found := services.named(cluster.services)):
        yield Clear(f"{cluster.name} has {found.in_words}")
    elif not cluster.services or services.lacks(cluster.services):
        yield _finding(cluster, services)


def _finding(cluster: NexusCluster, services: CloudServicesNetworks) -> Finding:
    name = last_name(cluster.services) if cluster.services else ""
    there = ", ".join(network.name for network in services.all) or "none"
    return Finding(
        code=CODE,
        subject=cluster.services or cluster.id,
        affects=harmed(cluster),
        because=(
            f"{cluster.name} names cloud services network {name}, which does not exist"
            if name
            else f"{cluster.name} names no cloud services network",
            f"cloud services networks of this site: {there}",
            "it is the cluster's way out to Azure: without it the cluster can neither be made nor connected",
        ),
        facts={
            **cluster.facts(),
            "network": name or "<network>",
            "custom_location": cluster.custom_location,
            "there": [network.name for network in services.all],
        },
    )
