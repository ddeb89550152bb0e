"""Does a virtual network of AKS hybrid name its Nexus network letter by letter as Azure does?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.nexus.harm import harmed
from handlers.engine.declare import diagnostic
from handlers.evidence.nexus.clusters import HybridCluster, HybridVnet, HybridVnets
from handlers.evidence.nexus.networks import CloudServicesNetworks, L3Networks, NexusNetwork, OtherNetworks
from handlers.model import Clear, Finding, NotApplicable
from handlers.resource_id import ResourceId

CODE = "hybrid-vnet-id-case-mismatch"


@diagnostic(codes=(CODE,), area="network")
def hybrid_vnet_id_case_mismatch(
    cluster: HybridCluster,
    vnets: HybridVnets,
    l3: L3Networks,
    services: CloudServicesNetworks,
    others: OtherNetworks | NotApplicable,
) -> Iterator[Finding | Clear]:
    """A hybrid virtual network and the network that it names differ in upper and lower case, and the cluster failed."""
    known = (l3, services, *([others] if isinstance(others, OtherNetworks) else []))
    if cluster.failed:
        for vnet in vnets.vnets:
            network = next((found for networks in known if (found := networks.named(vnet.network))), None)
            if network and _names(vnet.network) != _names(network.id):
                yield _finding(cluster, vnet, network)
    if vnets.complete and all(networks.complete for networks in known):
        yield Clear("; ".join(f"{vnet.name} names {vnet.network}" for vnet in vnets.vnets))


def _names(network: str) -> tuple[str, str]:
    """The names that people give. Azure itself writes the provider and `resourceGroups` in either case."""
    parsed = ResourceId.parse(network)
    return parsed.resource_group or "", parsed.name


def _finding(cluster: HybridCluster, vnet: HybridVnet, network: NexusNetwork) -> Finding:
    return Finding(
        code=CODE,
        subject=vnet.id,
        affects=(network.id, *harmed(cluster)),
        because=(
            f"virtual network {vnet.name} names {vnet.network}",
            f"Azure's own id of that {network.kind} is {network.id}",
            f"AKS hybrid tells upper and lower case apart, and {cluster.name} is {cluster.state}",
        ),
        facts={
            **cluster.facts(),
            **network.facts(),
            "group": ResourceId.parse(vnet.id).resource_group,
            "network_group": network.group,
            "vnet": vnet.name,
            "network_id": vnet.network,
            "real_id": network.id,
            "custom_location": cluster.custom_location,
        },
    )
