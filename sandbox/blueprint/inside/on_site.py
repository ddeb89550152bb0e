"""The Kubernetes objects of a cluster on premises: its nodes, the agents of Azure Arc, a workload."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from sandbox.blueprint.clock import Clock
from sandbox.blueprint.fleet import ClusterSpec, Fleet, NetworkSpec, PoolSpec, SiteClusterSpec
from sandbox.blueprint.inside.access import access_bodies
from sandbox.blueprint.inside.crew import Crew
from sandbox.blueprint.inside.nodes import Nodes
from sandbox.blueprint.inside.objects import namespaces, world_of
from sandbox.blueprint.inside.scene import Scene
from sandbox.blueprint.inside.seats import Seats
from sandbox.blueprint.inside.services import api_server_bodies
from sandbox.blueprint.inside.workload import Workload
from sandbox.blueprint.mint import Mint
from sandbox.blueprint.node_model import Machine
from sandbox.blueprint.places import Places
from sandbox.kube.world import KubeWorld
from sandbox.world import Body, Principal

SIZE = "Standard_D4s_v5"
POOL = "nodepool1"
_AGENTS = {
    "cluster-metadata-operator": ("20Mi", "400Mi"),
    "clusterconnect-agent": ("210Mi", "1000Mi"),
    "clusteridentityoperator": ("20Mi", "400Mi"),
    "config-agent": ("25Mi", "600Mi"),
    "controller-manager": ("20Mi", "600Mi"),
    "extension-events-collector": ("30Mi", "300Mi"),
    "extension-manager": ("30Mi", "600Mi"),
    "flux-logs-agent": ("20Mi", "300Mi"),
    "kube-aad-proxy": ("110Mi", "550Mi"),
    "metrics-agent": ("40Mi", "600Mi"),
    "resource-sync-agent": ("30Mi", "600Mi"),
}
"""The deployments of namespace azure-arc, with the memory they request and may have."""


class SiteNodes(Nodes):
    """Nodes that AKS hybrid made: without AKS's labels, annotations and conditions."""

    def _node(self, number: int, machine: Machine) -> Body:
        body = super()._node(number, machine)
        metadata = {key: value for key, value in body["metadata"].items() if key != "annotations"}
        return {**body, "metadata": metadata, "spec": {"providerID": f"moc://{machine.name}"}}

    def _conditions(self, machine: Machine, ready: datetime, *, linux: bool, kubenet: bool) -> Iterator[Body]:
        yield from super()._conditions(machine, ready, linux=False, kubenet=False)

    def _labels(self, machine: Machine, pool: PoolSpec) -> dict[str, str]:
        return {
            "kubernetes.io/arch": "amd64",
            "kubernetes.io/hostname": machine.name,
            "kubernetes.io/os": "linux",
            "msft.microsoft/nodepool-name": machine.pool,
        }


def site_world(
    name: str, spec: SiteClusterSpec, fleet: Fleet, mint: Mint, clock: Clock, principals: Iterable[Principal]
) -> KubeWorld:
    """Build the KubeWorld of one cluster on premises."""
    network = NetworkSpec(mode="overlay", service_cidr="10.96.0.0/16")
    pools = {POOL: PoolSpec(size=SIZE, count=spec.nodes, mode="System")}
    shape = spec.model_dump(include={"subscription", "group", "location", "version"})
    places = Places(name, ClusterSpec(**shape, network=network, pools=pools), fleet, mint)
    scene = Scene(places, clock, tuple(_machines(places, clock)))
    return world_of(scene, _bodies(scene, principals))


def _machines(places: Places, clock: Clock) -> Iterator[Machine]:
    for number in range(places.spec.pools[POOL].count):
        name = f"{places.name}-{POOL}-{places.mint.hex(5, places.name, POOL, number)}"
        yield Machine("", name, POOL, SIZE, "", "", f"10.200.60.{10 + number}", clock.at(places.spec.created))


def _bodies(scene: Scene, principals: Iterable[Principal]) -> Iterator[Body]:
    workloads = list(_workloads(len(scene.machines)))
    seats = Seats(scene)
    yield from namespaces(scene, workloads)
    yield from access_bodies(scene, principals)
    yield from api_server_bodies(scene)
    yield from SiteNodes(scene).bodies()
    for work in workloads:
        yield from Crew(scene, seats, work).bodies()


def _workloads(nodes: int) -> Iterator[Workload]:
    registry = "mcr.microsoft.com/azurearck8s"
    for name, (memory, limit) in _AGENTS.items():
        yield Workload("azure-arc", name, f"{registry}/{name}:1.29.3", memory=memory, limit=limit)
    yield Workload("kube-system", "coredns", "mcr.microsoft.com/oss/kubernetes/coredns:v1.12.1", replicas=2)
    yield Workload("kube-system", "calico-node", "mcr.microsoft.com/oss/calico/node:v3.29.3", "DaemonSet", group="all")
    yield Workload(
        "packet-core", "upf", "registry.example/upf:4.2", "StatefulSet", nodes, memory="2Gi", limit="6Gi", port=8805
    )
