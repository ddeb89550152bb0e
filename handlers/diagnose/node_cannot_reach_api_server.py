"""Does the way that pods take to the API server lead there?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.api_server_users import Users
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.cluster import NodeLeases, Nodes, Pods
from handlers.evidence.compute import ScaleSets
from handlers.evidence.endpoints import KubernetesService
from handlers.evidence.monitor import ActivityLog, NodeActivityLog
from handlers.evidence.system import SystemWorkloads
from handlers.evidence.system_namespaces import KUBE_SYSTEM
from handlers.model import Clear, Finding, NotApplicable, Unavailable

SUBJECT = "default/Service/kubernetes"
NOT_LOOKED_AT = "network policies, authorized IP ranges, firewalls and private DNS were not looked at"


@diagnostic(
    codes=("node-cannot-reach-api-server",),
    area="network",
    clear_without=ClearWithout(
        (ActivityLog, NodeActivityLog, AgentPools, ScaleSets, Pods),
        "the service, the Ready nodes' leases and the deployments that need the API server prove it",
    ),
)
def node_cannot_reach_api_server(
    cluster: ManagedCluster,
    way: KubernetesService,
    nodes: Nodes | Unavailable | NotApplicable,
    pods: Pods | Unavailable | NotApplicable,
    leases: NodeLeases | Unavailable,
    workloads: SystemWorkloads | Unavailable | NotApplicable,
) -> Iterator[Finding | Clear | Unavailable]:
    """Nodes or pods do not reach the API server."""
    broken = tuple(_broken(way))
    if broken:
        yield _led_astray(cluster, way, broken, nodes, pods)
        return
    # That the service leads there does not prove that anybody gets there.
    yield from (seen for seen in (nodes, leases, workloads) if isinstance(seen, Unavailable))
    if isinstance(workloads, Unavailable) or not isinstance(nodes, Nodes) or not isinstance(leases, NodeLeases):
        return
    users = Users(nodes, leases, workloads)
    unproven = list(users.unproven())
    yield from unproven
    if way.complete and not unproven:
        yield Clear(f"default/kubernetes leads to {', '.join(way.addresses)}; {users.proof()}")


def _broken(way: KubernetesService) -> Iterator[str]:
    service = way.service
    if service is None:
        yield "there is no service default/kubernetes: nothing answers at its address"
        return
    if not service.address or service.address == "None":
        yield "the service default/kubernetes has no address of its own"
    if service.selector:
        chosen = ", ".join(f"{key}={value}" for key, value in sorted(service.selector.items()))
        yield (
            f"somebody gave the service default/kubernetes a selector ({chosen}): Kubernetes puts pods behind it, and "
            "the API server puts itself back, again and again"
        )
    if not way.addresses:
        refused = sorted({address for slice_ in way.slices for address in slice_.not_ready})
        yield f"it leads to no address that is ready ({', '.join(refused) or 'there are no endpoints'})"
        return
    led = {port for slice_ in way.slices if slice_.ready for port in slice_.ports}
    lost = [port for name, port in service.ports if name not in {known for known, _ in led}]
    if lost or not service.ports:
        offered = ", ".join(f"{name or 'unnamed'} {port}" for name, port in sorted(led)) or "none"
        yield f"nothing is behind its port {', '.join(map(str, lost)) or 'list, which is empty'} (endpoints: {offered})"


def _led_astray(
    cluster: ManagedCluster,
    way: KubernetesService,
    broken: tuple[str, ...],
    nodes: Nodes | Unavailable | NotApplicable,
    pods: Pods | Unavailable | NotApplicable,
) -> Finding:
    # Kubelets go to the API server by its name; what goes by the service are pods.
    system = [pod.workload for pod in pods.pods if pod.namespace == KUBE_SYSTEM] if isinstance(pods, Pods) else []
    machine = next((node.machine for node in nodes.nodes if node.in_scale_set), "") if isinstance(nodes, Nodes) else ""
    return Finding(
        code="node-cannot-reach-api-server",
        subject=SUBJECT,
        affects=tuple(f"{KUBE_SYSTEM}/{owner}" for owner in dict.fromkeys(system)),
        because=(*broken, f"pods reach the API server by this service only; {NOT_LOOKED_AT}"),
        facts={
            "service_address": way.service.address if way.service else "",
            "addresses": list(way.addresses),
            "selector": bool(way.service and way.service.selector),
            "api_server": cluster.private_fqdn if cluster.private and cluster.private_fqdn else cluster.fqdn,
            "scale_set": machine.split("/")[-3] if machine else "<scale-set>",
            "node_group": cluster.node_group,
            "subscription": cluster.subscription,
            "cluster": cluster.name,
            "group": cluster.group,
            "cluster_id": cluster.id,
        },
    )
