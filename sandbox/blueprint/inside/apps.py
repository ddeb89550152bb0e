"""The users' workloads: a few teams with a few services each, up to the requested number of pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count

from sandbox.blueprint.inside.nodes import pool_of
from sandbox.blueprint.inside.scene import Scene
from sandbox.blueprint.inside.workload import Kind, Workload

_TEAMS: Mapping[str, tuple[tuple[str, Kind, int, Mapping[str, int | str] | None], ...]] = {
    "shop": (
        ("web", "Deployment", 6, {"minAvailable": "50%"}),
        ("cart", "Deployment", 3, {"maxUnavailable": 1}),
        ("search", "StatefulSet", 3, {"maxUnavailable": 1}),
    ),
    "orders": (
        ("api", "Deployment", 4, {"minAvailable": 2}),
        ("worker", "Deployment", 5, None),
        ("ledger", "StatefulSet", 2, {"minAvailable": 1}),
    ),
    "reports": (
        ("render", "Deployment", 2, None),
        ("mailer", "Deployment", 2, {"maxUnavailable": "50%"}),
    ),
}
"""By namespace: name, kind, replicas, budget."""
PODS_OF_ONE_SCALE, LARGEST = 600, 100
"""Scaling for large clusters: one more replica of each workload per this many pods, up to a maximum."""


def app_workloads(scene: Scene) -> Iterator[Workload]:
    """Workloads with as many pods in total as the cluster's description requests."""
    wanted = scene.places.spec.pods_per_node * sum(_takes_apps(scene, number) for number in range(len(scene.machines)))
    scale = min(LARGEST, 1 + wanted // PODS_OF_ONE_SCALE)
    for round_ in count():
        for team, services in _TEAMS.items():
            namespace = team if round_ == 0 else f"{team}-{round_ + 1:02d}"
            for name, kind, replicas, budget in services:
                if wanted <= 0:
                    return
                size = min(replicas * scale, wanted)
                wanted -= size
                yield _service(namespace, name, kind, size, budget)


def extra_workloads(scene: Scene) -> Iterator[Workload]:
    """Workloads for spot and Windows nodes, if there are any."""
    pools = [pool_of(scene, machine) for machine in scene.machines]
    spot, windows = sum(pool.spot for pool in pools), sum(pool.os == "Windows" for pool in pools)
    each = scene.places.spec.pods_per_node
    if spot and each:
        yield Workload("reports", "crunch", _image("crunch"), replicas=spot * max(1, each // 2), group="spot")
    if windows and each:
        yield Workload("legacy", "invoices", _image("invoices"), replicas=windows * max(1, each // 2), group="windows")


def _takes_apps(scene: Scene, number: int) -> bool:
    pool = pool_of(scene, scene.machines[number])
    return pool.mode == "User" and pool.os == "Linux" and not pool.spot and not pool.taints


def _service(namespace: str, name: str, kind: Kind, replicas: int, budget: Mapping[str, int | str] | None) -> Workload:
    """A single-replica service has no budget: with one, its pod could never be evicted."""
    return Workload(
        namespace,
        name,
        _image(name),
        kind=kind,
        replicas=replicas,
        cpu="120m",
        memory="180Mi",
        limit="512Mi",
        budget=budget if replicas > 2 else None,
        port=8080 if name in ("web", "api", "cart", "search") else None,
    )


def _image(name: str) -> str:
    return f"registry.example.com/{name}:4.2.1"
