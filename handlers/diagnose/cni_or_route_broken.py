"""Do pods get a network, and do the routes between nodes lead to them?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta

from handlers.ages import ago
from handlers.diagnose.node_machines import JOINING
from handlers.diagnose.pod_routes import RouteFault, route_faults
from handlers.diagnose.system_owners import Trouble, troubles
from handlers.diagnose.workload_findings import pods_of
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import AgentPools, ManagedCluster, NetworkProfile
from handlers.evidence.cluster import Node, Nodes, Pod, Pods
from handlers.evidence.compute import ScaleSets
from handlers.evidence.monitor import ActivityLog, NodeActivityLog
from handlers.evidence.node_networks import NodeNetworks
from handlers.evidence.pod_ranges import PodRanges
from handlers.evidence.pod_sandboxes import SandboxFailure, by_node, sandbox_failures
from handlers.evidence.system import SystemPods, SystemWorkloads
from handlers.evidence.way_out import PacketFilters
from handlers.evidence.workloads.warnings import WarningEvents
from handlers.model import Clear, Finding, Judgement, NotApplicable, Unavailable

CODE = "cni-or-route-broken"
AGENTS = ("azure-cns", "azure-cns-win", "cilium", "calico-node", "calico-node-windows", "kube-flannel-ds")
"""The daemon sets that set pods' networks up. (azure-npm only filters, azure-cni-networkmonitor only watches.)"""
LASTS = timedelta(minutes=5)
"""A new node's route takes a minute or two, and so does the start of an agent."""
MOST_NAMED = 3


@diagnostic(
    codes=(CODE,),
    area="network",
    clear_without=ClearWithout(
        (ActivityLog, NodeActivityLog, ScaleSets, AgentPools, NodeNetworks, PacketFilters),
        "nodes, agents and events are read; only kubenet needs routes, and where they were not seen there, it is said",
    ),
)
def cni_or_route_broken(
    cluster: ManagedCluster,
    network: NetworkProfile,
    nodes: Nodes,
    pods: Pods,
    system: SystemPods,
    workloads: SystemWorkloads | Unavailable | NotApplicable,
    warnings: WarningEvents | Unavailable | NotApplicable,
    ranges: PodRanges | Unavailable | NotApplicable,
    networks: NodeNetworks | Unavailable,
    filters: PacketFilters | Unavailable,
) -> Iterator[Judgement]:
    """Pods get no network on a node, or no route leads to the pods of a node."""
    if cluster.coming_or_going:
        yield NotApplicable(f"{cluster.name} is {cluster.state}: its nodes come or go")
        return
    failing = by_node(_of_plugin(pods, warnings))
    found: list[Finding] = [
        _agent(cluster, network, one, nodes, system, failing) for one in _agents(system, nodes, workloads)
    ]
    explained = {node for finding in found for node in finding.affects}
    found += [
        _node(cluster, network, node, failing)
        for node in nodes.nodes
        if _is_cut_off(node, nodes) and node.subject not in explained
    ]
    explained |= {finding.subject for finding in found}
    found += [
        _plugin(cluster, network, name, told, nodes)
        for name, told in failing.items()
        if f"Node/{name}" not in explained
    ]
    routes = list(_routes(cluster, network, nodes, ranges, networks, filters))
    yield from (*found, *routes)
    unseen = [item for item in (workloads, warnings) if isinstance(item, Unavailable)]
    unseen += workloads.gaps if isinstance(workloads, SystemWorkloads) else ()
    yield from unseen
    if nodes.complete and pods.complete and system.complete and not (found or routes or unseen):
        well = f"{len(nodes.nodes)} nodes: none says that its network is unavailable, and no pod waits for it"
        yield Clear(well + _by_route(ranges))


def _by_route(ranges: PodRanges | Unavailable | NotApplicable) -> str:
    return f", {len(ranges.ranges)} have their route" if isinstance(ranges, PodRanges) else ""


def _of_plugin(pods: Pods, warnings: WarningEvents | Unavailable | NotApplicable) -> Iterator[SandboxFailure]:
    if isinstance(warnings, WarningEvents):
        yield from (failure for failure in sandbox_failures(pods, warnings) if failure.of_network)


def _agents(
    system: SystemPods, nodes: Nodes, workloads: SystemWorkloads | Unavailable | NotApplicable
) -> Iterator[Trouble]:
    for trouble in troubles(system, nodes, workloads):
        _, kind, name = trouble.owner.split("/")
        if kind == "DaemonSet" and name in AGENTS:
            yield trouble


def _is_cut_off(node: Node, nodes: Nodes) -> bool:
    """A node that says so itself, for longer than it takes to join."""
    if node.virtual or node.deleting or node.leaving or (node.created and nodes.taken_at - node.created < JOINING):
        return False
    said = _says(node)
    return bool(said)


def _says(node: Node) -> str:
    """What the node says of its network; empty where that is nothing."""
    condition = node.troubles.get("NetworkUnavailable")
    if condition:
        return f"NetworkUnavailable: {': '.join(filter(None, (condition.reason, condition.message)))}"
    told = f"{node.ready.reason} {node.ready.message}".lower()
    if not node.is_ready and any(
        sign in told for sign in ("networkpluginnotready", "cni plugin", "cni config", "network plugin")
    ):
        return f"Ready is {node.ready.status}: {node.ready.message or node.ready.reason}"
    return ""


def _agent(
    cluster: ManagedCluster,
    network: NetworkProfile,
    trouble: Trouble,
    nodes: Nodes,
    system: SystemPods,
    failing: dict[str, list[SandboxFailure]],
) -> Finding:
    ill = [*trouble.broken, *trouble.restarting]
    where = list(dict.fromkeys(pod.node for pod in ill if pod.node))
    first = ill[0] if ill else None
    name = trouble.owner.rpartition("/")[2]
    lacks = f"{trouble.missing} of its pods are missing" if trouble.missing and not ill else ""
    says = _state(first, system) if first else lacks
    there = ", ".join(where[:MOST_NAMED]) or "every node"
    affected = [node for node in nodes.nodes if node.name in where or (not where and _says(node))]
    stuck = [failure for node in where for failure in failing.get(node, ())]
    return Finding(
        code=CODE,
        subject=trouble.owner,
        affects=(trouble.owner, *(node.subject for node in affected), *_owners(stuck)),
        because=(
            f"{name} sets up the pods' network, and does not run on {there}: {says}",
            *_stuck(stuck),
        ),
        facts=_facts(cluster, network, "agent", says)
        | {
            "agent": name,
            "agent_namespace": trouble.owner.partition("/")[0],
            "agent_pod": first.name if first else "<agent-pod>",
            **_of_node(next(iter(affected), None)),
        },
    )


def _state(pod: Pod, system: SystemPods) -> str:
    """`azure-cns-x2k4p is CrashLoopBackOff: back-off 5m0s …`."""
    ended = f", last ended {ago(pod.ended.at, system.taken_at)}: {pod.ended.reason}" if pod.ended else ""
    return f"{pod.name} is {pod.trouble or pod.phase}{': ' + pod.detail if pod.detail else ''}{ended}"


def _node(
    cluster: ManagedCluster, network: NetworkProfile, node: Node, failing: dict[str, list[SandboxFailure]]
) -> Finding:
    said, stuck = _says(node), failing.get(node.name, [])
    return Finding(
        code=CODE,
        subject=node.subject,
        affects=(node.subject, *_owners(stuck)),
        because=(f"{node.name} (pool {node.pool or 'none'}) says {said}", *_stuck(stuck)),
        facts=_facts(cluster, network, "node", said) | _of_node(node),
    )


def _plugin(
    cluster: ManagedCluster, network: NetworkProfile, name: str, stuck: list[SandboxFailure], nodes: Nodes
) -> Finding:
    node = next((node for node in nodes.nodes if node.name == name), None)
    return Finding(
        code=CODE,
        subject=f"Node/{name}",
        affects=(f"Node/{name}", *_owners(stuck)),
        because=(f"without a network: {pods_of(len(stuck))} on {name}", *_stuck(stuck)),
        facts=_facts(cluster, network, "plugin", stuck[0].says) | _of_node(node) | {"node": name},
    )


def _stuck(stuck: list[SandboxFailure]) -> Iterator[str]:
    for failure in stuck[:MOST_NAMED]:
        times = f", {failure.told.count} times" if failure.told.count > 1 else ""
        pod = f"{failure.pod.namespace}/{failure.pod.name}"
        yield f"kubelet of {failure.pod.node} about {pod}{times}: {failure.says}"


def _owners(stuck: Iterable[SandboxFailure]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{failure.pod.namespace}/{failure.pod.workload}" for failure in stuck))


def _routes(
    cluster: ManagedCluster,
    network: NetworkProfile,
    nodes: Nodes,
    ranges: PodRanges | Unavailable | NotApplicable,
    networks: NodeNetworks | Unavailable,
    filters: PacketFilters | Unavailable,
) -> Iterator[Finding | Unavailable]:
    """Only kubenet needs routes."""
    if isinstance(ranges, NotApplicable):
        return
    unseen = [item for item in (ranges, networks, filters) if isinstance(item, Unavailable)]
    yield from unseen
    if isinstance(ranges, PodRanges) and isinstance(networks, NodeNetworks) and isinstance(filters, PacketFilters):
        yield from (*ranges.gaps, *networks.gaps)
        ready = frozenset(node.name for node in nodes.nodes if node.is_ready)
        for fault in route_faults(ranges, ready, networks, filters):
            yield fault if isinstance(fault, Unavailable) else _route(cluster, network, fault)


def _route(cluster: ManagedCluster, network: NetworkProfile, fault: RouteFault) -> Finding:
    table = fault.table
    says = fault.wrong[0] if fault.wrong else f"subnet {fault.subnet.name} has no route table"
    first = next(iter(fault.lost), None)
    return Finding(
        code=CODE,
        subject=table.id if table else fault.subnet.id,
        affects=tuple(f"Node/{node.node}" for node in fault.lost),
        because=(
            *(fault.wrong[:MOST_NAMED] or (f"{says}; kubenet needs a route to the pods of each node",)),
            f"pods on {len(fault.lost)} nodes are not reached from other nodes",
        ),
        facts=_facts(cluster, network, "route" if table else "no-table", says)
        | {
            "node": first.node if first else "<node>",
            "subnet_id": fault.subnet.id,
            "table": table.name if table else "<route-table>",
            "table_id": table.id if table else "<route-table-id>",
            "table_group": table.id.split("/")[4] if table else "<group-of-the-table>",
            "lost": [f"{node.range} to {node.address} ({node.node})" for node in fault.lost],
            "prefix": first.range if first else "<pod-range>",
            "address": first.address if first else "<node-address>",
            "pool": "<pool>",
            "machine": "",
        },
    )


def _of_node(node: Node | None) -> dict[str, object]:
    return {
        "node": node.name if node else "<node>",
        "pool": node.pool if node else "<pool>",
        "machine": node.machine if node else "",
    }


def _facts(cluster: ManagedCluster, network: NetworkProfile, cause: str, says: str) -> dict[str, object]:
    return {
        "cause": cause,
        "reason": says,
        "plugin": " ".join(filter(None, (network.plugin, network.mode))),
        "agent": "<network-agent>",
        "agent_namespace": "kube-system",
        "agent_pod": "<agent-pod>",
        "subnet_id": "<subnet-id>",
        "table": "<route-table>",
        "table_id": "<route-table-id>",
        "table_group": "<group-of-the-table>",
        "lost": [],
        "prefix": "<pod-range>",
        "address": "<node-address>",
        "cluster": cluster.name,
        "group": cluster.group,
        "subscription": cluster.subscription,
        "node_group": cluster.node_group,
    }
