"""Runs Azure with one large cluster in a separate process, with all pages rendered in advance."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

import orjson

from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario
from sandbox.world import World

CLUSTER = "dev-shared"
PODS_EACH = 30
LARGEST_POOL = 1000
"""AKS allows a thousand nodes in a pool."""
PAGED = ("nodes", "pods", "leases", "poddisruptionbudgets")


def large(nodes: int) -> str:
    """A scenario with a cluster of this many nodes, in as many pools as needed."""
    full, rest = divmod(nodes, LARGEST_POOL)
    sizes = [LARGEST_POOL] * full + ([rest] if rest else [])
    pools = "".join(
        f"        apps{number}: {{ size: Standard_D8s_v5, count: {count}, max_pods: 110 }}\n"
        for number, count in enumerate(sizes)
    )
    return (
        "title: A large cluster\nstory: For measuring.\nbased_on: healthy-fleet\n"
        f"fleet:\n  clusters:\n    {CLUSTER}:\n      pods_per_node: {PODS_EACH}\n      pools:\n{pools}expect: {{}}\n"
    )


def world_with(nodes: int) -> tuple[World, str]:
    """The small fleet's Azure resources with the large cluster's Kubernetes objects."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "scenario.yaml").write_text(large(nodes))
        inside = Scenario.load(folder).world.kubes
    world = Scenario.load("healthy-fleet").world
    cluster = next(key for key in world.kubes if key.endswith(f"/{CLUSTER}"))
    world.kubes[cluster] = inside[cluster]
    return world, cluster


async def serve(nodes: int) -> None:
    """Serve it, with its pages rendered, until the parent process says stop."""
    world, cluster = world_with(nodes)
    async with ArmServer(world) as server:
        for plural in PAGED:
            server.kube[cluster].prerender(plural)
        sys.stdout.write(orjson.dumps(server.environment("reader")).decode() + "\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.readline)


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
