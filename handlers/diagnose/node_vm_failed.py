"""Is a node's virtual machine broken?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.engine.declare import diagnostic
from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.cluster import Node, Nodes
from handlers.evidence.compute import Instance, Instances
from handlers.model import Clear, Finding, NotApplicable, Severity, Unavailable
from handlers.resource_id import last_name


@diagnostic(codes=("node-vm-failed",), area="nodes")
def node_vm_failed(
    cluster: ManagedCluster,
    pools: AgentPools,
    instances: Instances,
    nodes: Nodes | Unavailable | NotApplicable,
) -> Iterator[Finding | Clear]:
    """A virtual machine behind a node is Failed or unhealthy."""
    known = {node.machine.lower(): node for node in nodes.nodes} if isinstance(nodes, Nodes) else {}
    for machine in instances.machines:
        node = known.get(machine.id.lower())
        serves_here = bool(machine.pool or machine.scale_set or node)  # others' machines may stand in the group
        if serves_here and (machine.failed or machine.unhealthy):
            yield _failed(cluster, pools, machine, node)
    if instances.complete:
        yield Clear(f"{len(instances.machines)} virtual machines, none Failed")


def _failed(cluster: ManagedCluster, pools: AgentPools, machine: Instance, node: Node | None) -> Finding:
    pool = next((one for one in pools.pools if one.name.lower() == machine.pool.lower()), None)
    serves = node is not None and node.is_ready
    return Finding(
        code="node-vm-failed",
        subject=machine.id,
        severity=Severity.WARNING if serves else Severity.ERROR,
        affects=(*([node.subject] if node else []), *([pool.id] if pool and pool.failed else [])),
        because=(
            f"{machine.name} (pool {machine.pool or 'unknown'}) is {machine.state}, {machine.power or 'power unknown'}"
            + (": its health probe fails" if machine.unhealthy else ""),
            *(f"{error.target or 'the machine'}: {error}" for error in machine.errors[:2]),
            *([f"node {node.name} is {'Ready' if serves else 'not Ready'}"] if node else []),
        ),
        facts={
            "machine": machine.name,
            "machine_id": machine.id,
            "instance_id": machine.instance_id,
            "scale_set": last_name(machine.scale_set) if machine.scale_set else "",
            "pool": machine.pool,
            "node": node.name if node else "",
            "latest_model": machine.latest_model,
            "unhealthy": not machine.failed,
            "computer": machine.computer or (node.name if node else ""),
            "code": machine.errors[0].code if machine.errors else "",
            "message": machine.errors[0].message if machine.errors else "",
            "cluster": cluster.name,
            "group": cluster.group,
            "subscription": cluster.subscription,
            "node_group": cluster.node_group,
        },
    )
