"""Do the isolation domains of the cluster's networks exist, each with an internal network?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.nexus.harm import harmed
from handlers.engine.declare import diagnostic
from handlers.evidence.nexus.clusters import HybridCluster
from handlers.evidence.nexus.fabric import IsolationDomains, networks_of
from handlers.evidence.nexus.networks import L3Networks, NexusNetwork, OtherNetworks
from handlers.model import Clear, Finding, NotApplicable, Unavailable
from handlers.resource_id import last_name, same

CODE = "isolation-domain-missing"


@diagnostic(codes=(CODE,), area="network")
def isolation_domain_missing(
    cluster: HybridCluster,
    domains: IsolationDomains,
    l3: L3Networks,
    others: OtherNetworks | NotApplicable | Unavailable,
) -> Iterator[Finding | Clear]:
    """An isolation domain that a network of the cluster names does not exist, or has no internal network."""
    networks = networks_of(cluster, l3, others)
    for missing in domains.missing:
        yield _finding(cluster, missing, "does not exist", networks)
    for domain in domains.domains:
        if domain.internal == ():
            yield _finding(cluster, domain.id, "has no internal network", networks)
    if domains.complete:
        yield Clear("; ".join(f"{domain.in_words} exists" for domain in domains.domains) or "none is named")


def _finding(cluster: HybridCluster, domain: str, what: str, networks: tuple[NexusNetwork, ...]) -> Finding:
    on_it = [network for network in networks if any(same(name, domain) for name in network.domains)]
    network = on_it[0]
    return Finding(
        code=CODE,
        subject=domain,
        affects=harmed(cluster, on_it),
        because=(
            f"isolation domain {last_name(domain)} {what}",
            f"{network.in_words} of {cluster.name} names it, for VLAN {network.vlan} and prefix {network.prefix}",
        ),
        facts={
            **cluster.facts(),
            "isolation_domain": last_name(domain),
            "isolation_domain_id": domain,
            "fabric_group": domain.split("/")[4],
            "fabric_subscription": domain.split("/")[2],
            "domain_exists": what != "does not exist",
            "network": network.name,
            "vlan": network.vlan,
            "prefix": network.prefix,
            "peer_asn": "<peer-asn>",
        },
    )
