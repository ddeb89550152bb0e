"""Update failed scale set instances to the latest model, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from shlex import quote

from handlers.evidence.azure import AgentPools, ManagedCluster
from handlers.evidence.cluster import Nodes
from handlers.evidence.compute import Instance, Instances
from handlers.evidence.extension_errors import only_its_extension
from handlers.evidence.governance import Locks
from handlers.evidence.permissions import DenyAssignments, WriterMay
from handlers.model import Finding, Unavailable
from handlers.remedy.declare import remedy
from handlers.remedy.machines import must_have_a_node, named_by_azure, node_of, still_failed
from handlers.remedy.plan import Forbidden, Plan, Risk, Step, Verb, Verify
from handlers.remedy.reasons import Act, doubts, not_now, some, stands_in_the_way
from handlers.remedy.titles import titled
from handlers.resource_id import last_name

ACTION = "Microsoft.Compute/virtualMachineScaleSets/manualUpgrade/action"
ETA_EACH, LIMIT_EACH = timedelta(minutes=3), timedelta(minutes=20)
"""The machine itself answers in a minute or two; a node that is to come back Ready takes a few more."""


@remedy(codes=("node-vm-failed",), writes=(ACTION,), when=lambda finding: bool(finding.facts.get("scale_set")))
def update_instances(
    finding: Finding,
    cluster: ManagedCluster,
    pools: AgentPools,
    instances: Instances,
    nodes: Nodes,
    locks: Locks | Unavailable,
    denials: DenyAssignments | Unavailable,
    may: WriterMay | Unavailable,
) -> Iterator[Plan | Forbidden]:
    """Give the failed instances of the scale set its model again, one at a time; stop where a node stays away."""
    machine = still_failed(finding, instances)
    if isinstance(machine, Forbidden):
        yield machine
        return
    if not machine.latest_model:
        yield _behind(machine, cluster)
        return
    siblings = [instance for instance in instances.machines if instance.scale_set.lower() == machine.scale_set.lower()]
    mendable = [sibling for sibling in siblings if sibling.failed and only_its_extension(sibling) is None]
    chosen = sorted((instance for instance in mendable if instance.latest_model), key=_in_order)
    names = {instance.id: node_of(instance, nodes) for instance in chosen}
    acts = (Act(ACTION, machine.scale_set),)
    yield from not_now(cluster, pools)
    yield from _at_work(siblings)
    for item in chosen:
        yield from named_by_azure(item)
        yield from must_have_a_node(item, names[item.id])
    yield from stands_in_the_way(acts, cluster, locks, denials, may)
    skipped = [instance.name for instance in mendable if not instance.latest_model]
    yield Plan(
        remedy="update-instances",
        title=titled(
            f"Update {len(chosen)} failed instance{'s' if len(chosen) > 1 else ''} of pool {{}}", machine.pool
        ),
        cluster=cluster.id,
        target=machine.scale_set,
        steps=tuple(_step(instance, names[instance.id], cluster) for instance in chosen),
        before={key: value for instance in chosen for key, value in _before(instance, names[instance.id]).items()},
        undo="there is nothing to undo: the instance has this model already",
        # The last machine: the others come before it, and none is skipped.
        verify=Verify("node-vm-failed", chosen[-1].id),
        risk=Risk.MEDIUM,
        could_go_wrong=(
            "the machine may restart: pods on it end and start again",
            "its node may stay away: then the instances after it are left alone",
        ),
        eta=ETA_EACH * len(chosen),
        limit=LIMIT_EACH * len(chosen),
        warnings=(
            *([f"left out, their scale set has a newer model: {', '.join(skipped)}"] if skipped else []),
            *doubts(acts, locks, denials, may),
        ),
        effect=_effect(machine.pool, [names[instance.id] for instance in chosen]),
    )


def _effect(pool: str, nodes: list[str]) -> str:
    if len(nodes) == 1:
        return (
            f"The machine of node {nodes[0]} in pool {pool} gets the model of its scale set again: it may restart, "
            "and the pods on it with it"
        )
    return (
        f"{len(nodes)} machines of pool {pool} get the model of their scale set again, one after the other: each may "
        f"restart, and the pods on it with it (nodes {some(nodes)})"
    )


def _behind(machine: Instance, cluster: ManagedCluster) -> Forbidden:
    of = f"--subscription {cluster.subscription} --resource-group {cluster.group} --cluster-name {cluster.name}"
    pool = f"{of} --name {machine.pool}"
    return Forbidden(
        f"{machine.name} does not have the latest model of its scale set: updating it would re-image the node",
        f"delete it (az aks nodepool delete-machines {pool} --machine-names {machine.computer or machine.name}) "
        f"or upgrade the node image (az aks nodepool upgrade {pool} --node-image-only)",
    )


def _at_work(siblings: list[Instance]) -> Iterator[Forbidden]:
    busy = [f"{sibling.name} is {sibling.state}" for sibling in siblings if sibling.busy]
    if busy:
        yield Forbidden(f"the scale set is at work: {', '.join(busy[:3])}", "wait until it has ended, then check again")


def _in_order(machine: Instance) -> tuple[int, str]:
    return int(machine.instance_id) if machine.instance_id.isdigit() else 0, machine.instance_id


def _step(machine: Instance, node: str, cluster: ManagedCluster) -> Step:
    name = last_name(machine.scale_set)
    return Step(
        verb=Verb.UPDATE_INSTANCE,
        target=machine.scale_set,
        says=f"Update instance {machine.instance_id} of {name} to the latest model; wait until node {node} is Ready",
        request=f'POST {machine.scale_set}/manualupgrade, {{"instanceIds": ["{machine.instance_id}"]}}',
        command=f"az vmss update-instances --subscription {cluster.subscription} --resource-group "
        f"{quote(cluster.node_group)} --name {quote(name)} --instance-ids {quote(machine.instance_id)}",
        arguments={"instance_id": machine.instance_id, "machine": machine.id, "node": node},
    )


def _before(machine: Instance, node: str) -> dict[str, object]:
    return {
        f"state of {machine.name}": machine.state,
        f"{machine.name} has the latest model": machine.latest_model,
        f"node of {machine.name}": node,
    }
