"""Do pods get a network, and do the routes between nodes lead to them?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.diagnose.node_machines import JOINING
from handlers.diagnose.pod_network_findings import (
    CODE,
    agent_finding,
    node_finding,
    plugin_finding,
    route_finding,
    says_of_network,
)
from handlers.diagnose.pod_routes import route_faults
from handlers.diagnose.system_owners import Trouble, troubles
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import AgentPools, ManagedCluster, NetworkProfile
from handlers.evidence.cluster import Node, Nodes, Pods
from handlers.evidence.compute import ScaleSets
from handlers.evidence.monitor import ActivityLog, NodeActivityLog
from handlers.evidence.node_networks import NodeNetworks
from handlers.evidence.pod_ranges import PodRanges
from handlers.evidence.pod_sandboxes import SandboxFailure, by_node, sandbox_failures
from handlers.evidence.system import SystemPods, SystemWorkloads
from handlers.evidence.way_out import PacketFilters
from handlers.evidence.workloads.warnings import WarningEvents
from handlers.model import Clear, Finding, Judgement, NotApplicable, Unavailable

AGENTS = ("azure-cns", "azure-cns-win", "cilium", "calico-node", "calico-node-windows", "kube-flannel-ds")
"""The daemon sets that set pods' networks up. (azure-npm only filters, azure-cni-networkmonitor only watches.)"""


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
        agent_finding(cluster, network, one, nodes, system, failing) for one in _agents(system, nodes, workloads)
    ]
    explained = {node for finding in found for node in finding.affects}
    found += [
        node_finding(cluster, network, node, failing)
        for node in nodes.nodes
        if _is_cut_off(node, nodes) and node.subject not in explained
    ]
    explained |= {finding.subject for finding in found}
    found += [
        plugin_finding(cluster, network, name, told, nodes)
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
    said = says_of_network(node)
    return bool(said)


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
            yield fault if isinstance(fault, Unavailable) else route_finding(cluster, network, fault)
