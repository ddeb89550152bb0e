"""Does the control plane answer?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.cluster import ApiServer, Nodes
from handlers.evidence.monitor import ResourceHealth
from handlers.evidence.service_health import ServiceIssues, announced
from handlers.model import Clear, Finding, Judgement, NotApplicable, Severity, Unavailable, Why


@diagnostic(
    codes=("api-server-unavailable",),
    area="cluster",
    clear_without=ClearWithout(
        (Nodes, ResourceHealth, ServiceIssues),
        "`/readyz` itself says that it is ready; nodes and Azure's own word only count where it is out of reach",
    ),
)
def api_server_unavailable(
    cluster: ManagedCluster,
    api: ApiServer,
    nodes: Nodes | Unavailable | NotApplicable,
    health: ResourceHealth | Unavailable,
    service: ServiceIssues | Unavailable,
) -> Iterator[Judgement]:
    """The API server does not answer, or says that it is not ready."""
    if cluster.coming_or_going:
        yield NotApplicable(f"{cluster.name} is {cluster.state}: its API server comes or goes")
        return
    if api.ready:
        yield Clear(f"the API server is ready, reached {api.reached}")
        return
    if not api.reached and isinstance(nodes, Nodes):
        yield Clear("the API server answers through run-command")
        return
    # A name that does not resolve and a connection that hangs may be our own network's fault. A refusal is an answer.
    confirmed = isinstance(health, ResourceHealth) and health.suffers
    sure = bool(api.reached) or api.trouble == "refused" or confirmed
    if not sure and cluster.private:
        yield Unavailable("the API server", Why.FAILED, f"{cluster.name} is private and out of reach: {api.detail}")
        return
    if not sure and cluster.authorized_ranges:
        detail = f"only {', '.join(cluster.authorized_ranges)} may reach it, and the bot may not be among them"
        yield Unavailable("the API server", Why.FAILED, f"{api.detail}; {detail}")
        return
    # An issue of a whole region is no word on this cluster: it counts where nothing else explains the silence.
    sure = sure or (isinstance(service, ServiceIssues) and bool(service.of_aks()))
    yield Finding(
        code="api-server-unavailable",
        subject=cluster.id,
        severity=Severity.ERROR if sure else Severity.WARNING,
        because=(
            *announced(service),
            *([_health(health)] if confirmed else []),  # Azure's own word on its own fault comes first
            f"{(cluster.private_fqdn if cluster.private else '') or cluster.fqdn or cluster.name}: {_said(api)}",
            f"Azure says that the cluster is {cluster.state} and {cluster.power or 'of unknown power state'}",
            *([] if confirmed else [_health(health)]),
        ),
        facts=_facts(cluster, api, service),
    )


def _facts(cluster: ManagedCluster, api: ApiServer, service: ServiceIssues | Unavailable) -> dict[str, object]:
    return {
        "detail": api.detail,
        "failing": list(api.failing),
        "reached": api.reached,
        "fqdn": cluster.fqdn,
        "state": cluster.state,
        "at": f"{api.taken_at:%Y-%m-%d %H:%M:%S} UTC",
        "location": cluster.location,
        "version": cluster.current_version,
        "node_group": cluster.node_group,
        "service_issues": [*announced(service)],
        "cluster": cluster.name,
        "group": cluster.group,
        "subscription": cluster.subscription,
        "cluster_id": cluster.id,
    }


def _health(health: ResourceHealth | Unavailable) -> str:
    if isinstance(health, Unavailable):
        return f"Azure Resource Health could not be seen: {health.detail}"
    return f"Azure Resource Health: {health.state}{f', {health.summary}' if health.summary else ''}"


def _said(api: ApiServer) -> str:
    if not api.reached:
        return f"no answer from here: {api.detail}"
    if api.failing:
        return f"/readyz says that {', '.join(api.failing)} failed"
    return f"it answers with a fault: {api.detail}"
