"""All Kubernetes objects of one cluster, and its KubeWorld."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from sandbox.blueprint.clock import Clock
from sandbox.blueprint.inside.access import access_bodies
from sandbox.blueprint.inside.apps import app_workloads, extra_workloads
from sandbox.blueprint.inside.autoscaler import autoscaler_bodies
from sandbox.blueprint.inside.crew import Crew
from sandbox.blueprint.inside.jobs import job_bodies
from sandbox.blueprint.inside.karpenter import karpenter_bodies
from sandbox.blueprint.inside.nodes import Nodes
from sandbox.blueprint.inside.scene import Scene
from sandbox.blueprint.inside.seats import Seats
from sandbox.blueprint.inside.service_operator import operator_definitions, operator_workloads
from sandbox.blueprint.inside.services import api_server_bodies
from sandbox.blueprint.inside.system import system_workloads
from sandbox.blueprint.inside.usage import measured
from sandbox.blueprint.inside.workload import Workload
from sandbox.blueprint.node_model import Machine
from sandbox.blueprint.places import Places
from sandbox.kube.world import KubeWorld
from sandbox.world import Body, Principal


def kube_world(places: Places, clock: Clock, machines: Iterable[Machine], principals: Iterable[Principal]) -> KubeWorld:
    """Build the KubeWorld of one cluster."""
    scene = Scene(places, clock, tuple(machines))
    return world_of(scene, object_bodies(scene, principals))


def world_of(scene: Scene, bodies: Iterable[Body]) -> KubeWorld:
    """The KubeWorld of these objects, with what its metrics server measures."""
    world = KubeWorld.of(bodies, version=f"v{scene.places.spec.version}", clock=lambda: scene.created)
    world.clock = lambda: datetime.now(UTC)
    world.usage = measured(scene, world.every("pods"))
    return world


def object_bodies(scene: Scene, principals: Iterable[Principal]) -> Iterator[Body]:
    """Every object, in dependency order."""
    seats = Seats(scene)
    workloads = [
        *system_workloads(scene),
        *app_workloads(scene),
        *extra_workloads(scene),
        *operator_workloads(scene),
    ]
    yield from namespaces(scene, workloads)
    yield from access_bodies(scene, principals)
    yield from api_server_bodies(scene)
    yield from Nodes(scene).bodies()
    yield from karpenter_bodies(scene)
    yield from operator_definitions(scene)
    yield from autoscaler_bodies(scene)
    for work in workloads:
        yield from Crew(scene, seats, work).bodies()
    yield from job_bodies(scene, seats)


def namespaces(scene: Scene, workloads: Iterable[Workload]) -> Iterator[Body]:
    """The namespaces of these workloads, and those that every cluster has."""
    names = ["default", "kube-node-lease", "kube-public", "kube-system", "reports"]
    for name in dict.fromkeys([*names, *(work.namespace for work in workloads)]):
        yield {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": scene.meta("Namespace", name, labels={"kubernetes.io/metadata.name": name}),
            "spec": {"finalizers": ["kubernetes"]},
            "status": {"phase": "Active"},
        }
        # Kubernetes creates it with the namespace, and recreates it if deleted.
        yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": scene.meta("ServiceAccount", "default", name)}
