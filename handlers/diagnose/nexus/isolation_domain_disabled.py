"""Are the isolation domains of the cluster's networks enabled?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.nexus.harm import harmed
from handlers.engine.declare import diagnostic
from handlers.evidence.nexus.clusters import HybridCluster
from handlers.evidence.nexus.fabric import IsolationDomain, IsolationDomains, networks_of
from handlers.evidence.nexus.networks import L3Networks, NexusNetwork, OtherNetworks
from handlers.model import Clear, Finding, NotApplicable, Unavailable, Why
from handlers.resource_id import same

CODE = "isolation-domain-disabled"


@diagnostic(codes=(CODE,), area="network")
def isolation_domain_disabled(
    cluster: HybridCluster,
    domains: IsolationDomains,
    l3: L3Networks,
    others: OtherNetworks | NotApplicable | Unavailable,
) -> Iterator[Finding | Clear | Unavailable]:
    """An isolation domain of the cluster's networks is not enabled, or its last change failed."""
    networks = networks_of(cluster, l3, others)
    for domain in domains.domains:
        if domain.busy and not domain.enabled:
            detail = f"a change of it is in progress: it is {domain.administrative} and {domain.state}"
            yield Unavailable(f"whether {domain.in_words} gets enabled", Why.ABSENT, detail)
        elif not domain.enabled or domain.failed:
            on_it = [network for network in networks if any(same(name, domain.id) for name in network.domains)]
            yield _finding(cluster, domain, on_it)
    if domains.complete:
        yield Clear("; ".join(f"{domain.in_words} is {domain.administrative}" for domain in domains.domains) or "none")


def _finding(cluster: HybridCluster, domain: IsolationDomain, on_it: list[NexusNetwork]) -> Finding:
    names = ", ".join(network.in_words for network in on_it)
    return Finding(
        code=CODE,
        subject=domain.id,
        affects=harmed(cluster, on_it),
        because=(
            f"{domain.in_words} has administrativeState {domain.administrative} and provisioningState {domain.state}",
            f"{names} of {cluster.name} stands on it, and carries no traffic until it is Enabled and Succeeded",
        ),
        facts={
            **cluster.facts(),
            "isolation_domain": domain.name,
            "isolation_domain_id": domain.id,
            "fabric_group": domain.group,
            "fabric_subscription": domain.id.split("/")[2],
            "layer": domain.layer,
            "admin_state": domain.administrative,
            "state": domain.state,
        },
    )
