"""Does the way that pods take to the API server lead there?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.api_server_users import RENEWED, Users
from handlers.diagnose.api_server_ways import Obstruction, Reports, by_policies, by_ranges, by_way_out, by_zone
from handlers.diagnose.node_ways import node_ways
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.cluster import Node, NodeLeases, Nodes, Pods
from handlers.evidence.compute import ScaleSets
from handlers.evidence.egress_addresses import EgressAddresses
from handlers.evidence.endpoints import KubernetesService
from handlers.evidence.held_pods import USERS, HeldPods
from handlers.evidence.monitor import ActivityLog, NodeActivityLog
from handlers.evidence.node_networks import NodeNetworks
from handlers.evidence.private_zone import PrivateZone
from handlers.evidence.system import SystemWorkloads
from handlers.evidence.system_namespaces import KUBE_SYSTEM
from handlers.evidence.way_out import PacketFilters
from handlers.model import Clear, Finding, NotApplicable, Unavailable
from handlers.resource_id import last_name

CODE = "node-cannot-reach-api-server"
SUBJECT = "default/Service/kubernetes"
NOT_LOOKED_AT = "network policies, authorized IP ranges, firewalls and private DNS were not looked at"
TUNNEL = f"{KUBE_SYSTEM}/Deployment/konnectivity-agent"
MOST_NAMED = 3


WHAT_STANDS_BETWEEN = (NodeNetworks, PacketFilters, EgressAddresses, PrivateZone, HeldPods)
"""What tells why somebody does not get there."""


@diagnostic(
    codes=(CODE,),
    area="network",
    clear_without=ClearWithout(
        (ActivityLog, NodeActivityLog, AgentPools, ScaleSets, Pods, *WHAT_STANDS_BETWEEN),
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
    pools: AgentPools | Unavailable,
    networks: NodeNetworks | Unavailable,
    filters: PacketFilters | Unavailable,
    sets: ScaleSets | Unavailable,
    egress: EgressAddresses | Unavailable | NotApplicable,
    zone: PrivateZone | Unavailable | NotApplicable,
    held: HeldPods | Unavailable | NotApplicable,
) -> Iterator[Finding | Clear | Unavailable]:
    """Nodes or pods do not reach the API server."""
    broken = tuple(_broken(way))
    if broken:
        yield _led_astray(cluster, way, broken, nodes, pods)
        return
    silent, idle = _silent(nodes, leases), _idle(workloads)
    told: list[Obstruction | Unavailable] = []
    if silent:
        reports = _reports(pools, silent, nodes, leases)
        of_nodes = _of_nodes(cluster, pools, networks, filters, sets, egress, zone, reports)
        # Where others report, what was not seen leaves nothing open: a node may be silent for many reasons of its own.
        told += [item for item in of_nodes if isinstance(item, Obstruction) or not reports.reporting]
    if isinstance(held, HeldPods):
        told += by_policies(way, held)
    found = [item for item in told if isinstance(item, Obstruction)]
    yield from (_obstructed(cluster, item, silent, idle, nodes) for item in found)
    yield from (item for item in told if isinstance(item, Unavailable) and not found)
    if found:
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


def _of_nodes(
    cluster: ManagedCluster,
    pools: AgentPools | Unavailable,
    networks: NodeNetworks | Unavailable,
    filters: PacketFilters | Unavailable,
    sets: ScaleSets | Unavailable,
    egress: EgressAddresses | Unavailable | NotApplicable,
    zone: PrivateZone | Unavailable | NotApplicable,
    reports: Reports,
) -> Iterator[Obstruction | Unavailable]:
    """What of the nodes' way was seen, and what was not."""
    seen = (pools, networks, filters, sets, egress, zone)
    yield from (item for item in seen if isinstance(item, Unavailable))
    if isinstance(egress, EgressAddresses):
        yield from by_ranges(cluster, egress, reports)
        yield from egress.gaps
    match pools, networks, filters, sets:
        case AgentPools(), NodeNetworks(), PacketFilters(), ScaleSets():
            yield from by_way_out(cluster, node_ways(cluster, pools, networks, filters, sets), reports)
    if isinstance(zone, PrivateZone):
        yield from by_zone(cluster, zone, _with_azure_dns(networks), reports)


def _with_azure_dns(networks: NodeNetworks | Unavailable) -> dict[str, tuple[str, ...]]:
    """The networks that ask Azure's own DNS, each with the pools in it."""
    found: dict[str, tuple[str, ...]] = {}
    for subnet in networks.subnets if isinstance(networks, NodeNetworks) else ():
        if not subnet.network.name_servers:
            found[subnet.network.id] = (*found.get(subnet.network.id, ()), *subnet.pools)
    return found


def _reports(
    pools: AgentPools | Unavailable,
    silent: list[Node],
    nodes: Nodes | Unavailable | NotApplicable,
    leases: NodeLeases | Unavailable,
) -> Reports:
    """Which pools have silent nodes, and which have nodes that report."""
    known = {pool.name.lower() for pool in pools.pools} if isinstance(pools, AgentPools) else set()
    reporting = (
        [node for node in nodes.nodes if node.is_ready and not node.virtual and not _is_late(node, leases)]
        if isinstance(nodes, Nodes) and isinstance(leases, NodeLeases)
        else []
    )

    def names(of: list[Node]) -> frozenset[str]:
        return frozenset(node.pool.lower() if node.pool.lower() in known else "" for node in of)

    return Reports(names(silent), names(reporting))


def _silent(nodes: Nodes | Unavailable | NotApplicable, leases: NodeLeases | Unavailable) -> list[Node]:
    """Nodes whose kubelets have stopped reporting."""
    if not isinstance(nodes, Nodes) or not isinstance(leases, NodeLeases):
        return []
    known = [node for node in nodes.nodes if not node.virtual and not node.deleting and not node.leaving]
    return [node for node in known if node.ready.status == "Unknown" or (node.is_ready and _is_late(node, leases))]


def _is_late(node: Node, leases: NodeLeases) -> bool:
    renewed = leases.renewed.get(node.name)
    return renewed is None or leases.taken_at - renewed >= RENEWED


def _idle(workloads: SystemWorkloads | Unavailable | NotApplicable) -> list[str]:
    """Deployments that become Ready only with the API server, and of which no pod is."""
    known = workloads.named(*USERS) if isinstance(workloads, SystemWorkloads) else ()
    return [workload.owner for workload in known if workload.wanted and not workload.ready]


def _obstructed(
    cluster: ManagedCluster,
    found: Obstruction,
    silent: list[Node],
    idle: list[str],
    nodes: Nodes | Unavailable | NotApplicable,
) -> Finding:
    of_pods = found.cause == "policy"
    mine = {last_name(pool).lower() for pool in found.pools}
    silent = [node for node in silent if not mine or node.pool.lower() in mine] or silent
    names = ", ".join(node.name for node in silent[:MOST_NAMED])
    more = f" and {len(silent) - MOST_NAMED} more" if len(silent) > MOST_NAMED else ""
    lost = f"no pod of {', '.join(idle)} is Ready" if of_pods else f"silent: the kubelets of {names}{more}"
    return Finding(
        code=CODE,
        subject=found.subject if found.cause == "private-dns" else cluster.id,
        affects=(*idle, TUNNEL, *(node.subject for node in silent if not of_pods)),
        because=(found.says, lost),
        facts=_facts(cluster, nodes) | {"cause": found.cause, "says": found.says, **found.facts},
    )


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
            f"someone gave the service default/kubernetes a selector ({chosen}): Kubernetes puts pods behind it, and "
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
    return Finding(
        code=CODE,
        subject=SUBJECT,
        affects=tuple(f"{KUBE_SYSTEM}/{owner}" for owner in dict.fromkeys(system)),
        because=(*broken, f"pods reach the API server by this service only; {NOT_LOOKED_AT}"),
        facts=_facts(cluster, nodes)
        | {
            "cause": "service",
            "service_address": way.service.address if way.service else "",
            "addresses": list(way.addresses),
            "selector": bool(way.service and way.service.selector),
        },
    )


def _facts(cluster: ManagedCluster, nodes: Nodes | Unavailable | NotApplicable) -> dict[str, object]:
    machine = next((node.machine for node in nodes.nodes if node.in_scale_set), "") if isinstance(nodes, Nodes) else ""
    return {
        "selector": False,
        "ranges": list(cluster.authorized_ranges),
        "api_server": cluster.private_fqdn if cluster.private and cluster.private_fqdn else cluster.fqdn,
        "scale_set": machine.split("/")[-3] if machine else "<scale-set>",
        "node_group": cluster.node_group,
        "subscription": cluster.subscription,
        "cluster": cluster.name,
        "group": cluster.group,
        "cluster_id": cluster.id,
    }
