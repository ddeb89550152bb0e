"""Network policies as the cluster's engine reads them: to Cilium an ipBlock never means a pod or a node."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from handlers.diagnose.network_policies.rules import Policy, compiled
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.wire import text
from handlers.evidence.workloads.wiring.routes import NetworkPolicy

CILIUM = "cilium"


@dataclass(frozen=True, slots=True)
class Rules:
    """Two readings of the same policies; they differ only where the engine is not known."""

    strict: tuple[Policy, ...]
    loose: tuple[Policy, ...]


def rules_of(cluster: ManagedCluster, policies: Iterable[NetworkPolicy]) -> Rules:
    """With a network plugin of one's own, the engine may be Cilium or another."""
    known = [*policies]
    if CILIUM in (_said(cluster, "networkPolicy"), _said(cluster, "networkDataplane")):
        strict = compiled(known, blocks_mean_pods=False)
        return Rules(strict, strict)
    loose = compiled(known)
    return Rules(compiled(known, blocks_mean_pods=False) if _said(cluster, "networkPlugin") == "none" else loose, loose)


def _said(cluster: ManagedCluster, key: str) -> str:
    return text(cluster.network, key).lower()
