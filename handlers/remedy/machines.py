"""What remedies of single machines share: which node a machine is, and that somebody can tell."""

from __future__ import annotations

from collections.abc import Iterator

from handlers.evidence.cluster import Nodes
from handlers.evidence.compute import Instance
from handlers.remedy.plan import Forbidden


def node_of(machine: Instance, nodes: Nodes) -> str:
    """What Kubernetes calls it; a machine that never joined will have its computer's name."""
    found = next((node.name for node in nodes.nodes if node.machine.lower() == machine.id.lower()), "")
    return found or machine.computer


def must_have_a_node(machine: Instance, node: str) -> Iterator[Forbidden]:
    if not node:
        what = f"nobody can tell which node {machine.name} is: whether it comes back could not be seen"
        yield Forbidden(what, "follow the steps")
