"""Is the cluster private, and are we outside?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.cluster import ApiServer, Nodes
from handlers.evidence.monitor import ResourceHealth
from handlers.model import Clear, Finding, Judgement, NotApplicable, Severity, Unavailable, Why


@diagnostic(
    codes=("private-cluster-unreachable",),
    area="network",
    clear_without=ClearWithout((Nodes, ResourceHealth), "it was reached; the rest only tells why it was not"),
)
def private_cluster_unreachable(
    cluster: ManagedCluster,
    api: ApiServer,
    nodes: Nodes | Unavailable | NotApplicable,
    health: ResourceHealth | Unavailable,
) -> Iterator[Judgement]:
    """A private cluster is asked from outside of its network."""
    if not cluster.private:
        yield NotApplicable(f"{cluster.name} is not private")
        return
    if api.reached:
        yield Clear(f"the private API server was reached {api.reached}")
        return
    if isinstance(nodes, Nodes):
        yield Clear(f"cannot be reached from here ({api.detail}); run-command reached it")
        return
    if isinstance(nodes, Unavailable) and (nodes.grant or "").startswith("list nodes"):
        yield Clear(f"cannot be reached from here ({api.detail}); run-command reached it, and it refuses")
        return
    if api.trouble == "refused":
        yield Clear(f"the private API server can be reached, and refuses: {api.detail}")
        return
    if isinstance(health, ResourceHealth) and health.suffers:
        # Whoever is inside gets no answer now either: only once it answers can one tell where the bot stands.
        yield Unavailable("the way to the private API server", Why.FAILED, f"Azure says that it is {health.state}")
        return
    zone = cluster.private_zone or "system"
    yield Finding(
        code="private-cluster-unreachable",
        subject=cluster.id,
        severity=Severity.WARNING,
        because=(
            f"{cluster.name} is private: only {cluster.private_fqdn or 'a private address'} leads to its API server",
            f"from here: {api.detail}",
            f"private DNS zone: {zone}",
        ),
        facts=_facts(cluster, api, zone),
    )


def _facts(cluster: ManagedCluster, api: ApiServer, zone: str) -> dict[str, object]:
    return {
        "private_fqdn": cluster.private_fqdn,
        "fqdn": cluster.fqdn,
        "zone": zone,
        "zone_name": _zone_name(cluster, zone),
        "zone_group": zone.split("/")[4] if zone.startswith("/") else cluster.node_group if zone == "system" else "",
        "resolves": api.trouble != "dns",
        "detail": api.detail,
        "cluster": cluster.name,
        "group": cluster.group,
        "subscription": cluster.subscription,
        "node_group": cluster.node_group,
        "cluster_id": cluster.id,
    }


def _zone_name(cluster: ManagedCluster, zone: str) -> str:
    """The zone that holds the private name: Azure's own in the node group, or the one that was brought."""
    if zone.startswith("/"):
        return zone.rsplit("/", 1)[-1]
    return cluster.private_fqdn.partition(".")[2] if zone == "system" else ""
