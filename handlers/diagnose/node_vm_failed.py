"""Is a node's virtual machine broken?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from handlers.counted import counted
from handlers.engine.declare import ClearWithout, diagnostic
from handlers.evidence.azure import AgentPool, AgentPools, ManagedCluster
from handlers.evidence.cluster import Node, Nodes
from handlers.evidence.complaints import Complaints, always, never
from handlers.evidence.compute import Instance, Instances
from handlers.evidence.extension_errors import ExtensionError, only_its_extension
from handlers.evidence.monitor import ActivityLog, NodeActivityLog
from handlers.model import Clear, Finding, NotApplicable, Severity, Unavailable
from handlers.resource_id import last_name

CODE = "node-vm-failed"
MOST_NAMED = 5
"""A phone shows about that many names."""
NO_EXTENSION: Mapping[str, object] = {"extension": "", "exit_code": 0, "line": "", "known_as": "", "more": 0}


@diagnostic(
    codes=(CODE,),
    area="nodes",
    clear_without=ClearWithout(
        (Nodes, ActivityLog, NodeActivityLog),
        "the machines' own states prove it; nodes and errors only tell how severe it is, and what it explains",
    ),
)
def node_vm_failed(
    cluster: ManagedCluster,
    pools: AgentPools,
    instances: Instances,
    nodes: Nodes | Unavailable | NotApplicable,
    complaints: Complaints,
) -> Iterator[Finding | Clear]:
    """A virtual machine behind a node is Failed or unhealthy."""
    known = {node.machine.lower(): node for node in nodes.nodes} if isinstance(nodes, Nodes) else {}
    alike: dict[tuple[str, tuple[str, str]], list[Instance]] = {}
    for machine in instances.machines:
        is_a_nodes = machine.serves or machine.id.lower() in known
        if not is_a_nodes or not (machine.failed or machine.unhealthy):
            continue
        error = only_its_extension(machine)
        if error is None:
            yield _failed(cluster, pools, [machine], known, None, complaints)
        else:
            alike.setdefault((machine.pool or machine.scale_set, error.same_as), []).append(machine)
    named: set[str] = set()
    for machines in sorted(alike.values(), key=len, reverse=True):
        finding = _failed(cluster, pools, machines, known, only_its_extension(machines[0]), complaints, named)
        named.add(finding.subject)
        yield finding
    if instances.complete:
        yield Clear(f"{counted(len(instances.machines), 'virtual machine')}, none Failed")


def _failed(
    cluster: ManagedCluster,
    pools: AgentPools,
    machines: Sequence[Instance],
    known: Mapping[str, Node],
    error: ExtensionError | None,
    complaints: Complaints,
    named: frozenset[str] | set[str] = frozenset(),
) -> Finding:
    """One machine, or all that failed with one error of one extension."""
    machine = machines[0]
    pool = next((pool for pool in pools.pools if pool.name.lower() == machine.pool.lower()), None)
    together = pool.id if pool else machine.scale_set
    # A pool stands for one error; machines with another one are told by the first of them.
    subject = together if len(machines) > 1 and together and together not in named else machine.id
    machine_nodes = [node for instance in machines if (node := known.get(instance.id.lower()))]
    serves = len(machine_nodes) == len(machines) and all(node.is_ready for node in machine_nodes)
    rest = len(machines) - MOST_NAMED
    # A pool whose extension failed has another cause (cse-error, outbound-conn-fail), which explains this finding, too.
    observed = never if error else always
    harmed = complaints.claimed((pool.id,), (CODE,), observed) if pool else ()
    of_failure = error is not None and pool is not None and complaints.failure(pool.id) is not None
    return Finding(
        code=CODE,
        subject=subject,
        severity=Severity.WARNING if serves or of_failure else Severity.ERROR,
        affects=(*(node.subject for node in machine_nodes), *harmed),
        because=(
            *(_state_of(instance) for instance in machines[:MOST_NAMED]),
            *([f"and {rest} more with the same error"] if rest > 0 else []),
            *(
                [str(error)]
                if error
                else [f"{detail.target or 'the machine'}: {detail}" for detail in machine.errors[:2]]
            ),
            *(
                f"node {node.name} is {'Ready' if node.is_ready else 'not Ready'}"
                for node in machine_nodes[:MOST_NAMED]
            ),
        ),
        facts={
            **_facts(cluster, pool, machine, machine_nodes[0].name if machine_nodes else ""),
            "machines": [instance.name for instance in machines[:MOST_NAMED]],
            **(_extension(error, rest) if error else NO_EXTENSION),
        },
    )


def _facts(cluster: ManagedCluster, pool: AgentPool | None, machine: Instance, node: str) -> dict[str, object]:
    return {
        "machine": machine.name,
        "machine_id": machine.id,
        "instance_id": machine.instance_id,
        "scale_set": last_name(machine.scale_set) if machine.scale_set else "",
        "pool": machine.pool,
        "pool_id": pool.id if pool else "",
        "provisioned_for": machine.provisioned_for,
        "node": node,
        "latest_model": machine.latest_model,
        "unhealthy": not machine.failed,
        "computer": machine.computer or node,
        "code": machine.errors[0].code if machine.errors else "",
        "message": machine.errors[0].message if machine.errors else "",
        "cluster": cluster.name,
        "group": cluster.group,
        "subscription": cluster.subscription,
        "node_group": cluster.node_group,
    }


def _state_of(machine: Instance) -> str:
    owner = f"pool {machine.pool}" if machine.pool else f"NodePool {machine.provisioned_for}"
    owner = owner if machine.pool or machine.provisioned_for else "pool unknown"
    state = f"{machine.name} ({owner}) is {machine.state}, {machine.power or 'power unknown'}"
    return state + (": its health probe fails" if machine.unhealthy else "")


def _extension(error: ExtensionError, rest: int) -> dict[str, object]:
    return {
        "extension": error.extension,
        "exit_code": error.exit_code,
        "line": error.line,
        "known_as": error.known_as,
        "more": max(0, rest),
    }
