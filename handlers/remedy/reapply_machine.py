"""Reapply a virtual machine's settings."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from shlex import quote

from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.cluster import Nodes
from handlers.evidence.compute import Instances
from handlers.evidence.governance import Locks
from handlers.evidence.permissions import DenyAssignments, WriterMay
from handlers.model import Finding, Unavailable
from handlers.remedy.declare import remedy
from handlers.remedy.machines import must_have_a_node, named_by_azure, node_of, still_failed
from handlers.remedy.plan import Forbidden, Plan, Risk, Step, Verb, Verify
from handlers.remedy.reasons import Act, doubts, not_now, stands_in_the_way
from handlers.remedy.titles import titled

ACTION = "Microsoft.Compute/virtualMachines/reapply/action"
ETA, LIMIT = timedelta(minutes=3), timedelta(minutes=20)


@remedy(codes=("node-vm-failed",), writes=(ACTION,), when=lambda finding: not finding.facts.get("scale_set"))
def reapply_machine(
    finding: Finding,
    cluster: ManagedCluster,
    pools: AgentPools,
    instances: Instances,
    nodes: Nodes,
    locks: Locks | Unavailable,
    denials: DenyAssignments | Unavailable,
    may: WriterMay | Unavailable,
) -> Iterator[Plan | Forbidden]:
    """Apply the machine's own settings once more (`az vm update` is refused on the images of AKS nodes)."""
    machine = still_failed(finding, instances)
    if isinstance(machine, Forbidden):
        yield machine
        return
    node, acts = node_of(machine, nodes), (Act(ACTION, machine.id),)
    yield from not_now(cluster, pools)
    yield from named_by_azure(machine)
    yield from must_have_a_node(machine, node)
    yield from stands_in_the_way(acts, cluster, locks, denials, may)
    yield Plan(
        remedy="reapply-machine",
        title=titled("Reapply machine {}", machine.name),
        cluster=cluster.id,
        target=machine.id,
        steps=(
            Step(
                verb=Verb.REAPPLY_MACHINE,
                target=machine.id,
                says=f"Reapply machine {machine.name}, and wait until node {node} is Ready",
                request=f"POST {machine.id}/reapply",
                command=f"az vm reapply --subscription {cluster.subscription} --resource-group "
                f"{quote(cluster.node_group)} --name {quote(machine.name)}",
                arguments={"node": node},
            ),
        ),
        before={f"state of {machine.name}": machine.state, f"node of {machine.name}": node},
        undo="there is nothing to undo: the machine keeps its settings",
        verify=Verify("node-vm-failed", machine.id),
        risk=Risk.MEDIUM,
        could_go_wrong=("the machine may restart: pods on it end and start again", "it may stay Failed"),
        eta=ETA,
        limit=LIMIT,
        warnings=doubts(acts, locks, denials, may),
        effect=f"Machine {machine.name} of {cluster.name} gets its own settings again: it may restart, and the pods on "
        f"node {node} with it",
    )
