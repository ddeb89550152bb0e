"""Which nodes are not Ready, and why?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

from handlers.counted import counted
from handlers.diagnose.node_machines import JOINING, OFF, gone_or_off, machine_of, may_be_off
from handlers.diagnose.scheduling.held_up import held_up
from handlers.diagnose.short_pools import ShortPool, short_pools
from handlers.diagnose.unregistered import Unregistered, unregistered
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import AgentPool, AgentPools, ManagedCluster
from handlers.evidence.cluster import Node, NodeLeases, Nodes, Pods
from handlers.evidence.complaints import Complaints, Failure, never
from handlers.evidence.compute import Instance, Instances
from handlers.evidence.monitor import ActivityLog, NodeActivityLog
from handlers.evidence.node_warnings import NodeWarnings
from handlers.evidence.scheduling.collect import Scheduling, Surroundings, with_surroundings
from handlers.evidence.system_namespaces import SYSTEM_NAMESPACE
from handlers.model import Clear, Finding, Judgement, NotApplicable, Unavailable

CODE = "node-not-ready"
REPLACING = timedelta(minutes=30)
"""A node that is being replaced or taken away is gone by then; AKS waits so long for its pods."""
SILENT = timedelta(seconds=40)
"""A kubelet renews its lease every 10 s; Kubernetes itself gives up on it after 40."""
PRESSURES = {
    "MemoryPressure": ("memory-pressure", "memory"),
    "DiskPressure": ("disk-pressure", "disk"),
    "PIDPressure": ("pid-pressure", "process ids"),
}
"""Three causes with steps of their own; where several hold, the first is the reason and the others are told."""


MOST_WARNINGS = 2
KUBELETS = frozenset(
    {
        "FreeDiskSpaceFailed",
        "FrequentContainerdRestart",
        "FrequentKubeletRestart",
        "ImageGCFailed",
        "InvalidDiskCapacity",
        "KernelOops",
        "KubeletIsDown",
        "ContainerdIsDown",
        "SystemOOM",
        "TaskHung",
    }
)
"""Warnings of the kubelet and of AKS's node problem detector that tell why a kubelet does not answer."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a node is not Ready: one word for programs, a sentence for people."""

    word: str
    says: str


@diagnostic(
    codes=(CODE,),
    area="nodes",
    clear_without=ClearWithout(
        (ActivityLog, NodeActivityLog, NodeLeases, NodeWarnings, Pods, Scheduling, Surroundings),
        "every node says itself that it is Ready, and no machine is without one; the rest only tells why not",
    ),
)
def node_not_ready(
    cluster: ManagedCluster,
    pools: AgentPools,
    nodes: Nodes,
    instances: Instances | Unavailable,
    leases: NodeLeases | Unavailable,
    warnings: NodeWarnings | NotApplicable | Unavailable,
    complaints: Complaints,
    waits: Scheduling | Unavailable | NotApplicable,
    around: Surroundings | Unavailable | NotApplicable,
) -> Iterator[Judgement]:
    """A node is not Ready, or is not there although its machine runs or its pool wants it; why, by elimination."""
    excused = []
    down = any(not node.is_ready for node in nodes.nodes)
    held = held_up(with_surroundings(waits, around)) if down and isinstance(waits, Scheduling) else {}
    for node in nodes.nodes:
        if node.is_ready:
            continue
        pool = next((pool for pool in pools.pools if pool.name.lower() == node.pool.lower()), None)
        machine = machine_of(node, instances)
        excuse = _excuse(cluster, node, pool, machine, instances)
        if excuse:
            excused.append(f"{node.name} {excuse}")
        elif not may_be_off(node, pool, machine, instances):
            reason = _reason(node, machine, instances, leases)
            finding = _not_ready(cluster, node, pool, reason, nodes, warnings, complaints)
            yield replace(finding, affects=(*finding.affects, *held.get(node.name, ())))
    still_open: list[Unavailable] = [] if isinstance(instances, Instances) else [instances]
    if nodes.complete and isinstance(instances, Instances):
        still_open += instances.gaps
        for each_unregistered in unregistered(cluster, pools, nodes, instances):
            if isinstance(each_unregistered, Unavailable):
                still_open.append(each_unregistered)
            elif each_unregistered.excuse:
                excused.append(f"{each_unregistered.name} {each_unregistered.excuse}")
            else:
                yield _not_registered(cluster, each_unregistered, nodes, complaints)
    yield from still_open
    if nodes.complete and not still_open and isinstance(instances, Instances) and not instances.truncated:
        for short in short_pools(cluster, pools, nodes, instances):
            yield _short(cluster, short, nodes)
        passing = f"; passing: {', '.join(excused[:3])}" if excused else ""
        yield Clear(f"{counted(len(nodes.nodes), 'node')}, none out of order, and every machine has its node{passing}")


def _excuse(
    cluster: ManagedCluster, node: Node, pool: AgentPool | None, machine: Instance | None, seen: Instances | Unavailable
) -> str:
    """Why a node that is not Ready is no problem; empty where it is one."""
    if node.created and cluster.taken_at - node.created < JOINING:
        return "has just been created"
    on_its_way = node.ready.since is None or cluster.taken_at - node.ready.since < REPLACING
    if machine and machine.state.lower() == "deleting":
        return "is being deleted by Azure"
    if on_its_way and (node.deleting or node.leaving):
        return "is being taken away"
    touched = node.cordoned or (machine is not None and machine.busy)
    if on_its_way and pool and pool.busy and (touched or pool.state.lower() == "starting"):
        return f"is on its way: pool {pool.name} is {pool.state}"
    if node.spot and gone_or_off(node, machine, seen):
        return "was a spot machine and has been evicted"
    off = gone_or_off(node, machine, seen)
    if pool and ((pool.parks_nodes and off) or (pool.stopped and (off or (machine and not machine.power)))):
        return "has been switched off with its pool"
    return ""


def _reason(
    node: Node, machine: Instance | None, instances: Instances | Unavailable, leases: NodeLeases | Unavailable
) -> Reason:
    if node.virtual:
        return Reason("virtual-node", f"it is a virtual node, and says: {node.ready.message or node.ready.reason}")
    if machine and machine.power.lower() in OFF:
        return Reason("vm-stopped", f"its virtual machine is {machine.power}")
    if machine and machine.failed:
        return Reason("vm-failed", f"its virtual machine {machine.name} is Failed")
    if machine is None and isinstance(instances, Instances) and node.machine and instances.would_show(node.machine):
        return Reason("vm-gone", "its virtual machine does not exist any more")
    network = node.troubles.get("NetworkUnavailable")
    if network:
        return Reason("network", f"its network is unavailable: {network.message or network.reason}")
    held = [(*PRESSURES[kind], node.troubles[kind]) for kind in PRESSURES if kind in node.troubles]
    if held and not _names_network(node):
        told = (f"it runs out of {what}: {condition.message or condition.reason}" for _, what, condition in held)
        return Reason(held[0][0], "; ".join(told))
    if node.ready.status == "Unknown":
        return _silent(node, leases)
    return Reason("kubelet-says", f"its kubelet says: {node.ready.message or node.ready.reason or 'nothing'}")


def _names_network(node: Node) -> bool:
    """The kubelet itself says that it waits for the network: what it names goes before what else is wrong."""
    return "network" in f"{node.ready.reason} {node.ready.message}".lower()


def _silent(node: Node, leases: NodeLeases | Unavailable) -> Reason:
    renewed = leases.renewed.get(node.name) if isinstance(leases, NodeLeases) else None
    if renewed is None or isinstance(leases, Unavailable):
        return Reason("kubelet-silent", f"its kubelet has stopped reporting: {node.ready.message or node.ready.reason}")
    silence = leases.taken_at - renewed
    since = f"since {renewed:%Y-%m-%d %H:%M:%S} UTC"
    if silence < SILENT:
        return Reason("kubelet-back", f"its kubelet reports again {since}, the node is not yet Ready")
    return Reason("kubelet-silent", f"its kubelet is silent {since}; the lease is not renewed")


def _not_ready(
    cluster: ManagedCluster,
    node: Node,
    pool: AgentPool | None,
    reason: Reason,
    nodes: Nodes,
    warnings: NodeWarnings | NotApplicable | Unavailable,
    complaints: Complaints,
) -> Finding:
    def older(failure: Failure) -> bool:
        return failure.began_after(node.ready.since)

    since = f"{node.ready.since:%Y-%m-%d %H:%M} UTC" if node.ready.since else "an unknown time"
    return Finding(
        code=CODE,
        subject=node.subject,
        affects=(*_failed_by(pool, complaints, older), *_system(nodes)),
        because=(
            f"{node.name} (pool {node.pool or 'none'}) is not Ready since {since}: Ready={node.ready.status}",
            reason.says,
            *_told_by_events(node, reason, warnings),
        ),
        facts={
            "node": node.name,
            "pool": node.pool,
            "since": since,
            "reason": reason.word,
            "says": reason.says,
            "machine_id": node.machine,
            "instance_id": node.machine.rsplit("/", 1)[-1] if "/virtualMachineScaleSets/" in node.machine else "",
            "scale_set": _scale_set(node.machine),
            "cluster": cluster.name,
            "group": cluster.group,
            "subscription": cluster.subscription,
            "node_group": cluster.node_group,
        },
    )


def _told_by_events(node: Node, reason: Reason, warnings: NodeWarnings | NotApplicable | Unavailable) -> Iterator[str]:
    """What the node's own warnings add: of a full disk, what could not be freed; else why its kubelet is silent."""
    if not isinstance(warnings, NodeWarnings):
        return
    said = [warning for warning in warnings.of(node.name) if warning.reason in KUBELETS]
    if reason.word == "disk-pressure":
        said = [warning for warning in warnings.of(node.name) if warning.disk_ran_out] or said
    for node_warning in said[:MOST_WARNINGS]:
        times = f", {node_warning.count} times" if node_warning.count > 1 else ""
        yield f"event {node_warning.reason}{times}: {node_warning.message}"


def _not_registered(cluster: ManagedCluster, missing: Unregistered, nodes: Nodes, complaints: Complaints) -> Finding:
    machine, pool = missing.machine, missing.pool
    of = f"pool {pool.name}" if pool else f"NodePool {machine.provisioned_for}"
    says = f"its machine {machine.name} is {machine.power}, and the cluster has no node of that name or machine"
    since = f"{machine.created:%Y-%m-%d %H:%M} UTC" if machine.created else "an unknown time"
    return Finding(
        code=CODE,
        subject=f"Node/{missing.name}",
        affects=(*_failed_by(pool, complaints, never), *_system(nodes)),
        because=(
            f"{missing.name} ({of}) is not in the cluster: none of its {len(nodes.nodes)} nodes runs on that machine",
            f"{machine.name} is {machine.state} and {machine.power} since it was created at {since}",
            f"machine {machine.id}",
        ),
        facts={
            "node": missing.name,
            "pool": pool.name if pool else "",
            "since": since,
            "reason": "not-registered",
            "says": says,
            "machine_id": machine.id,
            "instance_id": machine.instance_id,
            "scale_set": _scale_set(machine.id),
            "cluster": cluster.name,
            "group": cluster.group,
            "subscription": cluster.subscription,
            "node_group": cluster.node_group,
        },
    )


def _short(cluster: ManagedCluster, short: ShortPool, nodes: Nodes) -> Finding:
    pool = short.pool
    there = f"{short.machines} of its machines exist in Azure, {short.nodes} of its nodes in the cluster"
    says = f"it wants {pool.count} nodes; {there}"
    return Finding(
        code=CODE,
        subject=pool.id,
        affects=_system(nodes),
        because=(f"pool {pool.name} lacks {short.missing} of its nodes, and is {pool.state}", says),
        facts={
            "node": "",
            "pool": pool.name,
            "pool_id": pool.id,
            "since": "an unknown time",
            "reason": "missing",
            "says": says,
            "machine_id": "",
            "instance_id": "",
            "scale_set": "",
            "cluster": cluster.name,
            "group": cluster.group,
            "subscription": cluster.subscription,
            "node_group": cluster.node_group,
        },
    )


def _failed_by(pool: AgentPool | None, complaints: Complaints, older: Callable[[Failure], bool]) -> tuple[str, ...]:
    return complaints.claimed((pool.id,), (CODE,), older) if pool else ()


def _system(nodes: Nodes) -> tuple[str, ...]:
    """Where no node is Ready, nothing of the system can run: that follows from each of them."""
    return () if nodes.any_ready else (SYSTEM_NAMESPACE,)


def _scale_set(machine_id: str) -> str:
    parts = machine_id.split("/")
    lower = [part.lower() for part in parts]
    return parts[lower.index("virtualmachinescalesets") + 1] if "virtualmachinescalesets" in lower else ""
