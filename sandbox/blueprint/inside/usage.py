"""Metrics server data for a cluster with spare capacity."""

from __future__ import annotations

from collections.abc import Iterable

from sandbox.blueprint.inside.scene import Scene
from sandbox.blueprint.sizes import SIZES
from sandbox.kube.world import Usage
from sandbox.world import Body


def measured(scene: Scene, pods: Iterable[Body]) -> Usage:
    """Nodes at a third to a half of their capacity; pods slightly below their requests."""
    mint, usage = scene.mint, Usage()
    for machine in scene.machines:
        size = SIZES[machine.size]
        share = mint.number(30, 55, machine.name, "used")
        memory = size.memory_gb * 1024 * (share + 5) // 100
        usage.nodes[machine.name] = {"cpu": f"{size.cores * 10 * share}m", "memory": f"{memory}Mi"}
    for pod in pods:
        if pod["status"]["phase"] != "Running":
            continue
        metadata = pod["metadata"]
        name = f"{metadata['namespace']}/{metadata['name']}"
        usage.pods[name] = {
            container["name"]: {
                "cpu": f"{mint.number(2, 40, name, 'cpu')}m",
                "memory": f"{mint.number(14, 60, name, 'memory')}Mi",
            }
            for container in pod["spec"]["containers"]
        }
    return usage
