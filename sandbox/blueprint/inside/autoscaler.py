"""The cluster autoscaler's status ConfigMap, in clusters with an autoscaled node pool."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from sandbox.blueprint.inside.scene import Scene
from sandbox.kube.world import stamp
from sandbox.world import Body


def autoscaler_bodies(scene: Scene) -> Iterator[Body]:
    groups = [name for name, pool in scene.places.spec.pools.items() if pool.autoscale]
    if not groups:
        return
    now = stamp(scene.clock.now)
    total = sum(_nodes(scene, name) for name in groups)
    status = {
        "time": f"{scene.clock.now:%Y-%m-%d %H:%M:%S.%f}000 +0000 UTC",
        "autoscalerStatus": "Running",
        "clusterWide": {
            "health": {"status": "Healthy", "nodeCounts": _counts(total), **_times(now)},
            "scaleUp": {"status": "NoActivity", **_times(now)},
            "scaleDown": {"status": "NoCandidates", **_times(now)},
        },
        "nodeGroups": [_group(scene, name, now) for name in groups],
    }
    name = "cluster-autoscaler-status"
    metadata = scene.meta("ConfigMap", name, "kube-system")
    metadata["annotations"] = {"cluster-autoscaler.kubernetes.io/last-updated": str(status["time"])}
    text = yaml.safe_dump(status, sort_keys=False)
    yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"status": text}}


def _group(scene: Scene, name: str, now: str) -> Body:
    pool = scene.places.spec.pools[name]
    least, most = pool.autoscale or (0, 0)
    nodes = _nodes(scene, name)
    return {
        # A pool of type VirtualMachines has no scale set, so its own name is used.
        "name": scene.places.machine_stem(name) if pool.type == "VirtualMachineScaleSets" else name,
        "health": {
            "status": "Healthy",
            "nodeCounts": _counts(nodes),
            "cloudProviderTarget": nodes,
            "minSize": least,
            "maxSize": most,
            **_times(now),
        },
        "scaleUp": {"status": "NoActivity", **_times(now)},
        "scaleDown": {"status": "NoCandidates", **_times(now)},
    }


def _nodes(scene: Scene, pool: str) -> int:
    return sum(machine.pool == pool for machine in scene.machines)


def _counts(nodes: int) -> Body:
    registered = {"total": nodes, "ready": nodes, "notStarted": 0, "unready": {"total": 0, "resourceUnready": 0}}
    return {"registered": registered, "longUnregistered": 0, "unregistered": 0}


def _times(now: str) -> dict[str, str]:
    return {"lastProbeTime": now, "lastTransitionTime": now}
