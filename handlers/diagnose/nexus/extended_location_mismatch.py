"""Do the cluster and its networks stand in one custom location?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.nexus.harm import harmed
from handlers.engine.declare import diagnostic
from handlers.evidence.nexus.clusters import NexusCluster
from handlers.evidence.nexus.networks import CloudServicesNetworks, L3Networks, NexusNetwork, OtherNetworks
from handlers.evidence.nexus.sites import NexusSite
from handlers.model import Clear, Finding, NotApplicable, Severity
from handlers.resource_id import last_name, same

CODE = "extended-location-mismatch"


@diagnostic(codes=(CODE,), area="network")
def extended_location_mismatch(
    cluster: NexusCluster,
    site: NexusSite,
    l3: L3Networks,
    services: CloudServicesNetworks,
    others: OtherNetworks | NotApplicable,
) -> Iterator[Finding | Clear]:
    """The cluster or one of its networks names another custom location than that of its site."""
    known = (l3, services, *([others] if isinstance(others, OtherNetworks) else []))
    networks = [network for networks in known for network in networks.of(cluster)]
    if not site.has(cluster.custom_location):
        yield _finding(cluster, site, cluster.id, cluster.custom_location, None)
    for network in networks:
        if not site.has(network.custom_location):
            yield _finding(cluster, site, network.id, network.custom_location, network)
    if all(networks.complete for networks in known):
        yield Clear(f"the cluster and {len(networks)} networks stand in {last_name(site.custom_location)}")


def _finding(
    cluster: NexusCluster, site: NexusSite, subject: str, location: str, network: NexusNetwork | None
) -> Finding:
    named = network.in_words if network else f"cluster {cluster.name}"
    stuck = cluster.failed or bool(network and (network.failed or network.busy))
    return Finding(
        code=CODE,
        subject=subject,
        severity=Severity.ERROR if stuck else Severity.WARNING,
        affects=harmed(cluster, [network] if network else []),
        because=(
            f"{named} names custom location {last_name(location) if location else '(none)'}",
            f"that of Nexus cluster {site.name} is {last_name(site.custom_location)}",
        ),
        facts={
            **cluster.facts(),
            "resource": last_name(subject),
            "resource_id": subject,
            "is_cluster": same(subject, cluster.id),
            "custom_location": location,
            "right_location": site.custom_location,
            "site": site.name,
            "site_group": site.id.split("/")[4],
        },
    )
