"""Does a node run out of memory, and who uses it up?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from handlers.counted import counted
from handlers.diagnose import memory_proof
from handlers.diagnose.node_machines import OFF, machine_of
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import AgentPool, AgentPools, ManagedCluster
from handlers.evidence.cluster import Nodes
from handlers.evidence.compute import Instances, ScaleSets
from handlers.evidence.memory_history import STEP, MemoryHistory
from handlers.evidence.monitor import ActivityLog, NodeActivityLog
from handlers.evidence.node_metrics import NodeMemoryUse
from handlers.evidence.pod_memory import OwnerMemory, PodMemory, by_owner
from handlers.evidence.short_of_memory import PodsOnShortNodes, ShortNode, ShortOfMemory
from handlers.model import Clear, Finding, Judgement, NotApplicable, Severity, Unavailable

CODE = "memory-saturation"
TOGETHER = timedelta(minutes=1)
"""A kubelet writes all its conditions at once; clocks and the seconds between two of its rounds differ."""
MOST_OWNERS = 5
WORTH_NAMING = 20
"""An owner whose pods have a twentieth of the node or more."""
_NAMES_ANOTHER = ("cni", "network", "csinode", "shutting down", "certificate")
"""What a kubelet's message says where something else keeps the node from being Ready."""


@diagnostic(
    codes=(CODE,),
    area="nodes",
    clear_without=ClearWithout(
        (ActivityLog, NodeActivityLog, ScaleSets, Instances, MemoryHistory),
        "no node is short of memory; machines, errors and history only tell more of nodes that are",
    ),
)
def memory_saturation(
    cluster: ManagedCluster,
    pools: AgentPools,
    nodes: Nodes,
    short: ShortOfMemory,
    use: NodeMemoryUse | NotApplicable | Unavailable,
    pods: PodsOnShortNodes | NotApplicable | Unavailable,
    history: MemoryHistory | NotApplicable | Unavailable,
    instances: Instances | Unavailable,
) -> Iterator[Judgement]:
    """A node runs out of memory: its kubelet evicts pods, or the kernel kills them."""
    for node in short.nodes:
        yield _found(cluster, pools, node, pods, history, instances)
    if short.complete and not short.nodes:
        none = use.because if isinstance(use, NotApplicable) else f"the fullest uses {memory_proof.fullest(nodes, use)}"
        yield Clear(f"{counted(len(nodes.nodes), 'node')}, none short of memory now or in the last hour; {none}")


def _found(
    cluster: ManagedCluster,
    pools: AgentPools,
    short: ShortNode,
    pods: PodsOnShortNodes | NotApplicable | Unavailable,
    history: MemoryHistory | NotApplicable | Unavailable,
    instances: Instances | Unavailable,
) -> Finding:
    node = short.node
    there = pods.by_node.get(node.name, ()) if isinstance(pods, PodsOnShortNodes) else ()
    owners = _largest(short, by_owner(there))
    brought_down = _brought_down(short, instances)
    affects = (*((node.subject,) if brought_down else ()), *_owners_killed(short))
    seen = history if isinstance(history, MemoryHistory) else None
    return Finding(
        code=CODE,
        subject=node.subject,
        severity=Severity.ERROR if short.pressure or brought_down else Severity.WARNING,
        affects=affects,
        because=tuple(_because(short, there, owners, seen, cluster.taken_at)),
        facts=_facts(cluster, pools, short, owners, seen),
        began=short.began,
    )


def _because(
    short: ShortNode,
    pods: tuple[PodMemory, ...],
    owners: list[OwnerMemory],
    history: MemoryHistory | None,
    at: datetime,
) -> Iterator[str]:
    yield memory_proof.headline(short, at)
    if short.pressure or short.kills or short.events:
        yield memory_proof.arithmetic(short)
    if short.used is None and pods:
        yield memory_proof.by_requests(short, pods)
    for event in short.events[:2]:
        again = f", {event.count} times" if event.count > 1 else ""
        yield f"event {event.reason}{again}: {event.message}"
    yield from memory_proof.killed(short.kills)
    yield from memory_proof.top(owners)
    yield from filter(None, (memory_proof.outside_pods(short, pods),))
    if history:
        yield from filter(None, (memory_proof.over_time(short.node.name, history),))


def _largest(short: ShortNode, owners: list[OwnerMemory]) -> list[OwnerMemory]:
    """Those whose end would make a difference; where all are small, the first few."""
    room = short.node.memory_for_pods or 0
    large = [owner for owner in owners if owner.weight * WORTH_NAMING >= room]
    return (large or owners[:3])[:MOST_OWNERS]


def _brought_down(short: ShortNode, instances: Instances | Unavailable) -> bool:
    """Whether the lack of memory is why the node is not Ready: it was there before, and nothing else is named."""
    node = short.node
    if node.is_ready or node.ready.since is None or short.began is None or short.began > node.ready.since + TOGETHER:
        return False
    if node.ready.status != "Unknown":
        said = f"{node.ready.reason} {node.ready.message}".lower()
        named = "NetworkUnavailable" in node.troubles or any(item in said for item in _NAMES_ANOTHER)
        return short.pressure is not None and not named
    # A silent kubelet names nothing; a machine that somebody stopped is silent, too.
    machine = machine_of(node, instances)
    return machine is not None and machine.power.lower() not in OFF and not machine.failed


def _owners_killed(short: ShortNode) -> tuple[str, ...]:
    """Whose pods were evicted or killed there: where those do not run, that is why."""
    return tuple(dict.fromkeys(f"{kill.namespace}/{kill.owner}" for kill in short.kills))


def _facts(
    cluster: ManagedCluster,
    pools: AgentPools,
    short: ShortNode,
    owners: list[OwnerMemory],
    history: MemoryHistory | None,
) -> Mapping[str, object]:
    node = short.node
    pool = next((pool for pool in pools.pools if pool.name.lower() == node.pool.lower()), None)
    first = next((owner for owner in owners if not owner.owner.startswith("kube-system/")), None)
    namespace, _, workload = first.owner.partition("/") if first else ("", "", "")
    return {
        "node": node.name,
        "pool": node.pool,
        "pressure": short.pressure is not None,
        "ready": node.is_ready,
        "measured": short.used is not None,
        "percent": memory_proof.percent(short) or 0,
        "arithmetic": memory_proof.arithmetic(short),
        "evicted": sum(kill.kind == "evicted" for kill in short.kills),
        "killed": sum(kill.kind != "evicted" for kill in short.kills),
        "users": [dict(zip(("owner", "says"), (memory.owner, line), strict=True)) for memory, line in _lines(owners)],
        "namespace": namespace,
        "kind": workload.partition("/")[0].lower(),
        "workload": workload.partition("/")[2],
        "no_limit": [owner.owner for owner in owners if owner.limit is None],
        **_pool_facts(pool),
        "cluster": cluster.name,
        "group": cluster.group,
        "subscription": cluster.subscription,
        "memory_over_time": _over_time(node.name, history),
    }


def _lines(owners: list[OwnerMemory]) -> list[tuple[OwnerMemory, str]]:
    return list(zip(owners, memory_proof.top(owners), strict=True))


def _pool_facts(pool: AgentPool | None) -> dict[str, object]:
    return {
        "nodes": pool.count if pool else 0,
        "more_nodes": pool.count + 1 if pool else 0,
        "autoscaled": pool.autoscaled if pool else False,
        "size": pool.vm_size if pool else "",
    }


def _over_time(node: str, history: MemoryHistory | None) -> dict[str, object]:
    """What the picture is drawn from: this node, and the average of all others."""
    if history is None or node not in history.by_node or not history.moments:
        return {}
    others = [row for name, row in history.by_node.items() if name != node]
    columns = list(zip(*others, strict=True)) if others else []
    return {
        "from": f"{history.moments[0]:%Y-%m-%dT%H:%M:%SZ}",
        "moments": [int((at - history.moments[0]).total_seconds()) for at in history.moments],
        "step_s": int(STEP.total_seconds()),
        "percent": list(history.by_node[node]),
        "others": len(others),
        "others_percent": [_average(column) for column in columns],
    }


def _average(values: tuple[float | None, ...]) -> float | None:
    known = [value for value in values if value is not None]
    return round(sum(known) / len(known), 1) if known else None
