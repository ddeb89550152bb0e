"""Did the last operation on an AKS hybrid cluster fail?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.nexus.layers import Layer, layers
from handlers.diagnose.nexus.network_reason import Log
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.nexus.clusters import ConnectedCluster, HybridCluster
from handlers.evidence.nexus.fabric import IsolationDomains
from handlers.evidence.nexus.history import SiteActivityLog
from handlers.evidence.nexus.networks import CloudServicesNetworks, L3Networks
from handlers.model import Causes, Clear, Finding, NotApplicable, Unavailable

CODE = "hybrid-cluster-failed"


@diagnostic(
    codes=(CODE,),
    area="cluster",
    causes_of=(CODE,),
    clear_without=ClearWithout(
        (ConnectedCluster, IsolationDomains, L3Networks, CloudServicesNetworks, SiteActivityLog),
        "the cluster's own state says that it has not failed; its layers only tell why one did",
    ),
)
def hybrid_cluster_failed(
    cluster: HybridCluster,
    arc: ConnectedCluster | NotApplicable | Unavailable,
    domains: IsolationDomains | NotApplicable | Unavailable,
    l3: L3Networks | NotApplicable | Unavailable,
    services: CloudServicesNetworks | NotApplicable | Unavailable,
    log: SiteActivityLog | NotApplicable | Unavailable,
    causes: Causes,
) -> Iterator[Finding | Clear]:
    """An AKS hybrid cluster is Failed: its layers from the bottom up, and what each of them shows."""
    if not cluster.failed:
        yield Clear(f"{cluster.kind} {cluster.name} is {cluster.state}")
        return
    yield _finding(cluster, layers(cluster, arc, domains, l3, services, causes), _error(cluster, log))


def _error(cluster: HybridCluster, log: Log) -> str:
    event = log.last_failure(cluster.id) if isinstance(log, SiteActivityLog) else None
    return str(event.error) if event and event.error else ""


def _finding(cluster: HybridCluster, ledger: tuple[Layer, ...], error: str) -> Finding:
    says = error or cluster.says
    return Finding(
        code=CODE,
        subject=cluster.id,
        affects=(cluster.connected,) if cluster.connected else (),
        because=(
            f"{cluster.kind} {cluster.name} is {cluster.state}{f' ({cluster.status})' if cluster.status else ''}",
            f"Azure says: {says}" if says else "Azure gives no reason",
            *(layer.line for layer in ledger),
        ),
        facts={
            **cluster.facts(),
            "state": cluster.state,
            "says": says or "nothing",
            "ledger": [layer.row() for layer in ledger],
        },
    )
