"""The three layers below an AKS hybrid cluster, bottom up: fabric, Network Cloud, AKS hybrid.

A layer is right only where every check of it is clear; a layer that could not be looked at says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from handlers.evidence.nexus.clusters import ConnectedCluster, HybridCluster, ProvisionedCluster
from handlers.evidence.nexus.fabric import IsolationDomains
from handlers.evidence.nexus.networks import CloudServicesNetworks, L3Networks, NexusNetworks
from handlers.model import Causes, NotApplicable, Outcome, Unavailable

FABRIC, NETWORK_CLOUD, HYBRID = "network fabric", "Network Cloud", "AKS hybrid"
CODES: Mapping[str, tuple[str, ...]] = {
    FABRIC: ("isolation-domain-missing", "isolation-domain-disabled"),
    NETWORK_CLOUD: (
        "network-failed",
        "network-prefix-overlap",
        "network-vlan-mismatch",
        "cloud-services-network-missing",
        "cloud-services-network-limit",
        "extended-location-mismatch",
    ),
    HYBRID: ("hybrid-concurrent-creation",),
}
"""The checks behind each layer. What today's API cannot be asked about is named beside them, and ticks nothing."""
RETIRED: Mapping[str, tuple[str, ...]] = {
    NETWORK_CLOUD: ("default-cni-network-missing",),
    HYBRID: ("hybrid-network-not-wrapped", "hybrid-vnet-id-case-mismatch"),
}
"""What only an older API knew. Where a site still answers it, the cluster's virtual networks name its networks."""
CANNOT_ASK = "cannot be asked on today's API"


class Seen(StrEnum):
    """How a layer looks. `state`: the failure itself."""

    OK = "ok"
    BAD = "bad"
    UNSEEN = "unseen"
    STATE = "state"


MARKS = {Seen.OK: "✓", Seen.BAD: "✗", Seen.UNSEEN: "?", Seen.STATE: "•"}
Absent = Unavailable | NotApplicable


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer, and what was seen there."""

    number: int
    name: str
    seen: Seen
    says: str

    @property
    def line(self) -> str:
        return f"{MARKS[self.seen]} {self.number} {self.name}: {self.says}"

    def row(self) -> dict[str, str | int]:
        return {"step": self.number, "place": self.name, "seen": str(self.seen), "says": self.says}


def layers(
    cluster: HybridCluster,
    arc: ConnectedCluster | Absent,
    domains: IsolationDomains | Absent,
    l3: L3Networks | Absent,
    services: CloudServicesNetworks | Absent,
    causes: Causes,
) -> tuple[Layer, ...]:
    """The ledger of one cluster."""
    connected = f"Arc: {arc.status or 'no status'}" if isinstance(arc, ConnectedCluster) else f"Arc: not seen, {arc}"
    retired = {} if isinstance(cluster, ProvisionedCluster) and cluster.networks else RETIRED
    own = f"{cluster.kind} {cluster.name} is {cluster.state}; {connected}"
    return (
        _layer(1, FABRIC, _fabric(domains), causes),
        _layer(2, NETWORK_CLOUD, _network_cloud(cluster, l3, services), causes, *_retired(retired, NETWORK_CLOUD)),
        Layer(3, HYBRID, Seen.STATE, "; ".join([own, *_retired(retired, HYBRID)])),
    )


def _layer(number: int, name: str, said: str | Absent, causes: Causes, *retired: str) -> Layer:
    verdicts = [causes.of(code) for code in CODES[name]]
    found = [verdict for verdict in verdicts if verdict.findings]
    if found:
        return Layer(number, name, Seen.BAD, "; ".join(f"{verdict.code}: {verdict.why}" for verdict in found))
    if not isinstance(said, str):
        why = said.because if isinstance(said, NotApplicable) else str(said)
        return Layer(number, name, Seen.UNSEEN, "; ".join([f"not looked at: {why}", *retired]))
    unsure = [verdict.code for verdict in verdicts if verdict.open]
    unasked = [verdict.code for verdict in verdicts if verdict.outcome is Outcome.NOT_APPLICABLE]
    still = [f"still open: {', '.join(unsure)}"] if unsure else []
    still += [f"not asked of this kind of cluster: {', '.join(unasked)}"] if unasked else []
    return Layer(number, name, Seen.UNSEEN if unsure or unasked else Seen.OK, "; ".join([said, *still, *retired]))


def _fabric(domains: IsolationDomains | Absent) -> str | Absent:
    if not isinstance(domains, IsolationDomains):
        return domains
    said = [
        f"{domain.in_words} is {domain.administrative}, {len(domain.internal or ())} internal networks"
        for domain in domains.domains
    ]
    return ", ".join(said) or "no isolation domain"


def _network_cloud(
    cluster: HybridCluster, l3: L3Networks | Absent, services: CloudServicesNetworks | Absent
) -> str | Absent:
    said = []
    for known in (l3, services):
        if not isinstance(known, NexusNetworks):
            return known
        said += [f"{network.in_words} is {network.state}" for network in known.of(cluster)]
    return ", ".join(said) or "no network"


def _retired(retired: Mapping[str, tuple[str, ...]], layer: str) -> Iterator[str]:
    if codes := retired.get(layer):
        yield f"{', '.join(codes)} {CANNOT_ASK}"
