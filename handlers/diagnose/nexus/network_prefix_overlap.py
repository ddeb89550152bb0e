"""Does another network of the site have the prefix that a network of the cluster asks for?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.nexus.harm import harmed
from handlers.diagnose.nexus.network_reason import Log, error_of
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.nexus.clusters import HybridCluster
from handlers.evidence.nexus.history import SiteActivityLog
from handlers.evidence.nexus.networks import CloudServicesNetworks, L3Networks, NexusNetwork
from handlers.model import Clear, Finding, NotApplicable, Unavailable
from handlers.resource_id import same
from runbooks.linear import compile_linear

CODE = "network-prefix-overlap"
_SAID = compile_linear(
    r"Prefix (?P<prefix>[\d.]+/\d+) overlaps with existing prefix (?P<other>[\d.]+/\d+) from (?P<network>[\w-]+)",
    ignore_case=True,
)


@diagnostic(
    codes=(CODE,),
    area="network",
    clear_without=ClearWithout((CloudServicesNetworks,), "a cloud services network has no IPv4 prefix"),
)
def network_prefix_overlap(
    cluster: HybridCluster, l3: L3Networks, log: SiteActivityLog | NotApplicable | Unavailable
) -> Iterator[Finding | Clear | Unavailable]:
    """A network of the cluster did not come up, and its IPv4 prefix is taken by another network of the site."""
    mine = l3.of(cluster)
    for network in mine:
        if not (network.failed or network.busy):
            continue  # it has its prefix: what overlaps it was refused, or is kept apart by its isolation domain
        if found := _named(cluster, network, log) or _seen(cluster, network, l3):
            yield found
        elif isinstance(log, Unavailable):
            yield log
    if l3.complete:
        own = "; ".join(f"{network.in_words} has {network.prefix} for itself" for network in mine)
        yield Clear(f"{own}, {l3.where}" if own else "no prefix")


def _named(cluster: HybridCluster, network: NexusNetwork, log: Log) -> Finding | None:
    """What Azure's own message names, also where the other network is of a kind that today's API cannot list."""
    error = error_of(network, log)
    said = _SAID.search(error.message) if error else None
    if error is None or said is None:
        return None
    return _finding(cluster, network, said["network"], said["other"], network.group, f"Azure says: {error.message}")


def _seen(cluster: HybridCluster, network: NexusNetwork, l3: L3Networks) -> Finding | None:
    own = network.range
    for other in l3.all:
        taken = other.range
        if same(other.id, network.id) or other.failed or own is None or taken is None or not own.overlaps(taken):
            continue
        proof = f"{other.in_words} is {other.state} with it"
        return _finding(cluster, network, other.name, other.prefix, other.group, proof)
    return None


def _finding(
    cluster: HybridCluster, network: NexusNetwork, other: str, prefix: str, other_group: str, proof: str
) -> Finding:
    return Finding(
        code=CODE,
        subject=network.id,
        affects=(network.id, *harmed(cluster)),
        because=(
            f"{network.in_words} asks for {network.prefix}, which overlaps {prefix} of network {other}",
            proof,
            f"{network.name} is {network.state}, and {cluster.name} uses it",
        ),
        facts={
            **cluster.facts(),
            **network.facts(),
            "group": other_group,
            "prefix": network.prefix,
            "other_network": other,
            "other_prefix": prefix,
        },
    )
