"""The findings on pods without a network, by cause: the agent, a node, the plugin, or a route of kubenet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from handlers.ages import ago
from handlers.diagnose.pod_routes import RouteFault
from handlers.diagnose.system_owners import Trouble
from handlers.diagnose.workload_findings import pods_of
from handlers.evidence.azure import ManagedCluster, NetworkProfile
from handlers.evidence.cluster import Node, Nodes, Pod
from handlers.evidence.pod_sandboxes import SandboxFailure
from handlers.evidence.system import SystemPods
from handlers.model import Finding

CODE = "cni-or-route-broken"
MOST_NAMED = 3


def agent_finding(
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
    affected = [node for node in nodes.nodes if node.name in where or (not where and says_of_network(node))]
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


def node_finding(
    cluster: ManagedCluster, network: NetworkProfile, node: Node, failing: dict[str, list[SandboxFailure]]
) -> Finding:
    said, stuck = says_of_network(node), failing.get(node.name, [])
    return Finding(
        code=CODE,
        subject=node.subject,
        affects=(node.subject, *_owners(stuck)),
        because=(f"{node.name} (pool {node.pool or 'none'}) says {said}", *_stuck(stuck)),
        facts=_facts(cluster, network, "node", said) | _of_node(node),
    )


def plugin_finding(
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


def route_finding(cluster: ManagedCluster, network: NetworkProfile, fault: RouteFault) -> Finding:
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


def says_of_network(node: Node) -> str:
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


def _state(pod: Pod, system: SystemPods) -> str:
    """`azure-cns-x2k4p is CrashLoopBackOff: back-off 5m0s …`."""
    ended = f", last ended {ago(pod.ended.at, system.taken_at)}: {pod.ended.reason}" if pod.ended else ""
    return f"{pod.name} is {pod.trouble or pod.phase}{': ' + pod.detail if pod.detail else ''}{ended}"


def _stuck(stuck: list[SandboxFailure]) -> Iterator[str]:
    for failure in stuck[:MOST_NAMED]:
        times = f", {failure.told.count} times" if failure.told.count > 1 else ""
        pod = f"{failure.pod.namespace}/{failure.pod.name}"
        yield f"kubelet of {failure.pod.node} about {pod}{times}: {failure.says}"


def _owners(stuck: Iterable[SandboxFailure]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{failure.pod.namespace}/{failure.pod.workload}" for failure in stuck))


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
