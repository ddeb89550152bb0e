"""Does Azure hear from an AKS hybrid cluster that was made without an error?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from handlers.ages import ago
from handlers.engine.declare import diagnostic
from handlers.evidence.nexus.clusters import ConnectedCluster, HybridCluster
from handlers.model import Clear, Finding, Unavailable, Why

CODE = "hybrid-cluster-offline"
PATIENCE = timedelta(minutes=15)
"""A cluster that has just been connected is Connecting for some minutes."""
CONNECTED, LOST = "connected", frozenset({"offline", "expired"})


@diagnostic(codes=(CODE,), area="cluster")
def hybrid_cluster_offline(cluster: HybridCluster, arc: ConnectedCluster) -> Iterator[Finding | Clear | Unavailable]:
    """The cluster is Succeeded, and its Arc agents do not report: Offline, never connected, or no certificate."""
    status = arc.status.lower()
    if cluster.failed or cluster.busy:
        yield Clear(f"{cluster.name} is {cluster.state}: whether it connects comes after that")
    elif wrong := [*_what_is_wrong(cluster, arc)]:
        yield _finding(cluster, arc, wrong)
    elif status == CONNECTED:
        yield Clear(f"{arc.name} is Connected, last heard of {_when(arc.last_seen, arc.taken_at)}")
    elif arc.made is None:
        yield Unavailable(
            f"since when {arc.name} is {arc.status or 'not connected'}", Why.ABSENT, "Azure gives no time"
        )
    else:
        yield Clear(f"{arc.name} was connected {ago(arc.made, arc.taken_at)}, and is {arc.status}: it may still come")


def _what_is_wrong(cluster: HybridCluster, arc: ConnectedCluster) -> Iterator[str]:
    status, now = arc.status.lower(), arc.taken_at
    fresh = arc.made is None or now - arc.made < PATIENCE
    if status in LOST:
        yield f"{arc.name} is {arc.status}"
    elif status != CONNECTED and not fresh:
        yield f"{arc.name} is {arc.status or 'without a connectivityStatus'}, and was made {ago(arc.made or now, now)}"
    if arc.last_seen is None and not fresh:
        yield "lastConnectivityTime is null: its agents never came through"
    if arc.certificate_until is None and not fresh:
        yield "managedIdentityCertificateExpirationTime is null: it never got a certificate"
    elif arc.certificate_until and arc.certificate_until < now:
        yield f"its managed identity certificate ended {ago(arc.certificate_until, now)}"
    if cluster.error:
        yield f"errorMessage: {cluster.error}"


def _finding(cluster: HybridCluster, arc: ConnectedCluster, wrong: list[str]) -> Finding:
    return Finding(
        code=CODE,
        subject=cluster.id,
        affects=(arc.id,),
        because=(
            f"{cluster.name} is {cluster.state}, but {wrong[0]}",
            *wrong[1:],
            f"last heard of: {_when(arc.last_seen, arc.taken_at)}",
        ),
        facts={
            **cluster.facts(),
            "arc_group": arc.id.split("/")[4],
            "arc_name": arc.name,
            "status": arc.status,
            "last_seen": _exact(arc.last_seen),
            "certificate_expires": _exact(arc.certificate_until),
        },
        began=arc.last_seen,
    )


def _when(then: datetime | None, now: datetime) -> str:
    return ago(then, now) if then else "never"


def _exact(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else "null"
