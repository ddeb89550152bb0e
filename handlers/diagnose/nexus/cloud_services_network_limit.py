"""Does the site carry as many cloud services networks as it can?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.nexus.harm import harmed
from handlers.engine.declare import diagnostic
from handlers.evidence.nexus.clusters import NexusCluster
from handlers.evidence.nexus.networks import CloudServicesNetworks, NexusNetwork
from handlers.model import Clear, Finding
from handlers.resource_id import last_name, same

CODE = "cloud-services-network-limit"
LIMIT = 200
"""What one Nexus cluster supports, by Azure's page on AKS hybrid provisioning failures."""


@diagnostic(codes=(CODE,), area="network")
def cloud_services_network_limit(cluster: NexusCluster, services: CloudServicesNetworks) -> Iterator[Finding | Clear]:
    """The Nexus cluster has all the cloud services networks that it supports, and the one that is needed is not up."""
    there = [network for network in services.all if same(network.site, cluster.site) and not network.failed]
    own = services.named(cluster.services) if cluster.services else None
    # Where the cluster's own network is up, a full site stops nothing now.
    absent = not cluster.services or services.lacks(cluster.services)
    if len(there) >= LIMIT and (absent if own is None else own.failed or own.busy):
        yield _finding(cluster, own, len(there))
    elif services.complete:
        used = f"{len(there)} of {LIMIT} cloud services networks"
        yield Clear(f"{used} on {last_name(cluster.site)}, {services.where}")


def _finding(cluster: NexusCluster, own: NexusNetwork | None, used: int) -> Finding:
    wanted = own.id if own else cluster.services
    state = f"is {own.state}" if own else "does not exist"
    return Finding(
        code=CODE,
        subject=cluster.site,
        affects=(*([wanted] if wanted else []), *harmed(cluster)),
        because=(
            f"{last_name(cluster.site)} has {used} cloud services networks, and supports {LIMIT}",
            f"{last_name(wanted) if wanted else 'a network'} of {cluster.name} {state}: no other one fits",
        ),
        facts={**cluster.facts(), "site": last_name(cluster.site), "used": used, "limit": LIMIT},
    )
