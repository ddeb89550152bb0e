"""Do VLAN and prefix of the cluster's L3 networks agree with the internal networks of their isolation domain?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.nexus.harm import harmed
from handlers.engine.declare import diagnostic
from handlers.evidence.nexus.clusters import HybridCluster
from handlers.evidence.nexus.fabric import InternalNetwork, IsolationDomain, IsolationDomains
from handlers.evidence.nexus.networks import L3Networks, NexusNetwork
from handlers.model import Clear, Finding, Severity

CODE = "network-vlan-mismatch"


@diagnostic(codes=(CODE,), area="network")
def network_vlan_mismatch(
    cluster: HybridCluster, l3: L3Networks, domains: IsolationDomains
) -> Iterator[Finding | Clear]:
    """No internal network of the isolation domain has the VLAN and the prefix of the cluster's L3 network."""
    agreed = []
    for network in l3.of(cluster):
        domain = domains.named(network.domains[0]) if network.domains else None
        if domain is None or not domain.internal:
            continue  # missing, empty, or not seen: not this question's
        match = [internal for internal in domain.internal if _fits(network, internal)]
        if not match:
            yield _finding(cluster, network, domain, _nearest(network, domain.internal))
        agreed += [f"{network.in_words} agrees with {internal}" for internal in match]
    if domains.complete:
        yield Clear("; ".join(agreed) or "no internal network to compare with")


def _fits(network: NexusNetwork, internal: InternalNetwork) -> bool:
    return network.vlan == internal.vlan and (not network.prefix or network.prefix in internal.prefixes)


def _nearest(network: NexusNetwork, internal: tuple[InternalNetwork, ...]) -> InternalNetwork:
    """The one that agrees in one of the two, else the first."""
    alike = [one for one in internal if network.vlan == one.vlan or network.prefix in one.prefixes]
    return (alike or internal)[0]


def _finding(
    cluster: HybridCluster, network: NexusNetwork, domain: IsolationDomain, nearest: InternalNetwork
) -> Finding:
    stuck = network.failed or network.busy
    return Finding(
        code=CODE,
        subject=network.id,
        severity=Severity.ERROR if stuck else Severity.WARNING,
        affects=(network.id, *harmed(cluster)) if stuck else (),
        because=(
            f"{network.in_words} has VLAN {network.vlan} and prefix {network.prefix}",
            f"no internal network of {domain.in_words} has both; the nearest is {nearest}",
        ),
        facts={
            **cluster.facts(),
            **network.facts(),
            "isolation_domain": domain.name,
            "fabric_group": domain.group,
            "fabric_subscription": domain.id.split("/")[2],
            "vlan": network.vlan,
            "prefix": network.prefix,
            "internal_network": nearest.name,
            "wanted_vlan": nearest.vlan,
            "wanted_prefix": ", ".join(nearest.prefixes),
        },
    )
