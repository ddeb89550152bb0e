"""Simulates kubelets, the garbage collector, and the workload and disruption controllers.

Everything happens synchronously after a write: there are no control loops to wait for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sandbox.kube import disruption, replacements, runs
from sandbox.kube.kinds import Kind
from sandbox.kube.world import KubeWorld

Body = dict[str, Any]


def after_write(world: KubeWorld, kind: Kind, body: Body) -> None:
    """Call after an object was added or changed."""
    metadata = body["metadata"]
    if metadata.get("deletionTimestamp") and not metadata.get("finalizers") and _may_go(world, kind, body):
        world.remove(kind, metadata["name"], metadata.get("namespace", ""))
        after_removal(world, kind, body)
        return
    if world.controllers and kind.kind == "Pod":
        run = runs.run_of(world, body)
        if run is not None:
            runs.finish(world, body, run)
    if world.controllers and kind.kind in ("Pod", "PodDisruptionBudget"):
        disruption.refresh(world, metadata["namespace"])


def after_removal(world: KubeWorld, kind: Kind, body: Body, *, orphan: bool = False) -> None:
    """Call after an object was removed."""
    if not world.controllers:
        return
    if kind.kind == "Namespace":
        _empty(world, body["metadata"]["name"])
    if not orphan:
        _collect(world, body)
    if kind.kind == "Pod":
        replacements.replace(world, kind, body)
    if kind.kind in ("Pod", "PodDisruptionBudget"):
        disruption.refresh(world, body["metadata"]["namespace"])


def node_is_alive(world: KubeWorld, name: str) -> bool:
    """Whether the node's kubelet is up."""
    node = world.find("nodes", name, group="")
    conditions = (node or {}).get("status", {}).get("conditions") or ()
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def _may_go(world: KubeWorld, kind: Kind, body: Body) -> bool:
    """A terminating pod needs its kubelet: if the node is gone or unreachable, it stays Terminating."""
    if kind.kind != "Pod":
        return kind.kind != "Namespace" or world.controllers
    if not body["metadata"].get("deletionGracePeriodSeconds"):
        return True
    return world.controllers and node_is_alive(world, body.get("spec", {}).get("nodeName", ""))


def _empty(world: KubeWorld, namespace: str) -> None:
    for kind, body in list(_inside(world, namespace)):
        world.remove(kind, body["metadata"]["name"], namespace)


def _inside(world: KubeWorld, namespace: str) -> Iterator[tuple[Kind, Body]]:
    for kind in world.kinds:
        if kind.namespaced:
            for body in world.every(kind.plural, namespace, group=kind.group):
                yield kind, body


def _collect(world: KubeWorld, owner: Body) -> None:
    """Delete the objects it owns."""
    uid, namespace = owner["metadata"]["uid"], owner["metadata"].get("namespace", "")
    if not namespace or not _can_own(owner):
        return
    for kind, body in list(_inside(world, namespace)):
        owners = body["metadata"].get("ownerReferences") or ()
        if owners and all(owner.get("uid") == uid for owner in owners):
            world.remove(kind, body["metadata"]["name"], namespace)
            after_removal(world, kind, body)


def _can_own(body: Body) -> bool:
    # Pods and budgets own nothing, and there may be very many pods.
    return body["kind"] not in ("Pod", "PodDisruptionBudget", "Event", "Namespace")
