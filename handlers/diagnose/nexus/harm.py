"""Whom a problem of the site harms: what is not as it should be now, and nothing that works."""

from __future__ import annotations

from collections.abc import Iterable

from handlers.evidence.nexus.clusters import HybridCluster
from handlers.evidence.nexus.networks import NexusNetwork


def harmed(cluster: HybridCluster, networks: Iterable[NexusNetwork] = ()) -> tuple[str, ...]:
    """The ids of the networks that have not come up, and of the cluster if it has failed."""
    stuck = [network.id for network in networks if network.failed or network.busy]
    return (*stuck, *([cluster.id] if cluster.failed else []))
