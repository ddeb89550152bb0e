"""Runs Azure with one large cluster in a separate process, with all pages rendered in advance."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import orjson

from handlers.evidence.workloads.unwell import SLICES_A_PAGE
from sandbox.arm.server import ArmServer
from sandbox.kube.world import KubeWorld, stamp
from sandbox.scenario import Scenario
from sandbox.world import Body, World

CLUSTER = "dev-shared"
PODS_EACH = 30
LARGEST_POOL = 1000
"""AKS allows a thousand nodes in a pool."""
PAGED = (
    *("nodes", "pods", "leases", "poddisruptionbudgets", "services"),
    *("deployments", "statefulsets"),
)
NOT_NORMAL = "type!=Normal"
SERVICES_EACH, EVENTS_EACH = 1.6, 20
"""Per node: 8,000 services and 100,000 events at 5,000 nodes."""
WARNS = 10
"""One event in so many is a warning, of an hour ago."""


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
    fill(world.kubes[cluster], nodes)
    return world, cluster


def fill(kube: KubeWorld, nodes: int) -> None:
    """Services with an endpoint each, and events of things that have passed."""
    for number in range(int(nodes * SERVICES_EACH)):
        for body in service(number):
            kube.put(body)
    ago = stamp(kube.clock() - timedelta(minutes=50))
    for number in range(nodes * EVENTS_EACH):
        kube.put(event(number, ago))


def service(number: int) -> Iterator[Body]:
    name, namespace = f"service-{number}", f"team-{number % 200}"
    labels = {"kubernetes.io/service-name": name}
    port = {"name": "http", "port": 80, "protocol": "TCP"}
    yield {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"selector": {"app": name}, "clusterIP": f"10.0.{number // 250}.{number % 250}", "ports": [port]},
    }
    end = {"addresses": [f"10.9.{number // 250}.{number % 250}"], "conditions": {"ready": True}, "nodeName": "node"}
    yield {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": f"{name}-x7k2p", "namespace": namespace, "labels": labels},
        "addressType": "IPv4",
        "endpoints": [end],
        "ports": [{**port, "port": 8080}],
    }


def event(number: int, at: str) -> Body:
    namespace, name = f"team-{number % 200}", f"service-{number % 8000}-5d9c7b8f6-x2x4z"
    warns = not number % WARNS
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{name}.{number:x}", "namespace": namespace},
        "type": "Warning" if warns else "Normal",
        "reason": "Unhealthy" if warns else "Pulled",
        "message": "Readiness probe failed: HTTP probe failed with statuscode: 503" if warns else "Pulled the image",
        "count": 3,
        "firstTimestamp": at,
        "lastTimestamp": at,
        "involvedObject": {"kind": "Pod", "name": name, "namespace": namespace},
        "source": {"component": "kubelet", "host": "node"},
    }


async def serve(nodes: int) -> None:
    """Serve it, with its pages rendered, until the parent process says stop."""
    world, cluster = world_with(nodes)
    async with ArmServer(world) as server:
        for plural in PAGED:
            server.kube[cluster].prerender(plural)
        server.kube[cluster].prerender("events", fields=NOT_NORMAL)
        server.kube[cluster].prerender("endpointslices", limit=SLICES_A_PAGE)
        sys.stdout.write(orjson.dumps(server.environment("reader")).decode() + "\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.readline)


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
