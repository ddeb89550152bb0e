"""Shared by the remedies of single machines: which node a machine is, and whether that can be known."""

from __future__ import annotations

from collections.abc import Iterator

from handlers.evidence.cluster import Nodes
from handlers.evidence.compute import Instance, Instances
from handlers.model import Finding
from handlers.remedy.plan import Forbidden


def node_of(machine: Instance, nodes: Nodes) -> str:
    """Its node name in Kubernetes; for a machine that never joined, its computer name."""
    found = next((node.name for node in nodes.nodes if node.machine.lower() == machine.id.lower()), "")
    return found or machine.computer


def still_failed(finding: Finding, instances: Instances) -> Instance | Forbidden:
    """The failed machine that a fix is for; or why no fix is needed, or none would help."""
    if finding.facts.get("extension"):
        return _extension_failed(finding)
    machine = instances.by_id.get(finding.subject.lower())
    if machine is None:
        return Forbidden("the machine is not there any more", "check again")
    if not machine.failed:
        what = f"{machine.name} is {machine.state}: its model is applied, and there is nothing to send again"
        return Forbidden(what, "check again; a machine whose health probe fails is restarted by the steps")
    return machine


def must_have_a_node(machine: Instance, node: str) -> Iterator[Forbidden]:
    if not node:
        what = f"it is unknown which node {machine.name} is: whether it comes back could not be seen"
        yield Forbidden(what, "follow the steps")


def named_by_azure(machine: Instance) -> Iterator[Forbidden]:
    """No capacity, a full quota, a lock: the same request would fail again."""
    told = next((error for error in machine.errors if error.names), None)
    if told:
        do = f"follow the steps of {told.names} first, then check again"
        yield Forbidden(f"Azure says what stopped {machine.name}: {told}", do)


def _extension_failed(finding: Finding) -> Forbidden:
    """Updating the instance would run the same script on the same machine again, and may restart it."""
    facts = finding.facts
    how = f" with exit status {facts['exit_code']}" if facts["exit_code"] else ""
    cause = f"remove its cause (see {facts['known_as']})" if facts["known_as"] else "remove its cause"
    return Forbidden(
        f"extension {facts['extension']} failed{how}: giving the machine its model again does not mend that",
        f"{cause}, then reconcile the pool",
    )
