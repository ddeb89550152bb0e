"""Replaces deleted pods: the owning controller creates a new one on a node that fits."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from sandbox.kube.kinds import Kind
from sandbox.kube.world import KubeWorld, stamp

Body = dict[str, Any]

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_PLURALS = {"ReplicaSet": "replicasets", "StatefulSet": "statefulsets", "DaemonSet": "daemonsets"}


def replace(world: KubeWorld, kind: Kind, pod: Body) -> None:
    """Create a replacement for a deleted pod, if its controller still wants one."""
    metadata = pod["metadata"]
    owner = next(
        (reference for reference in metadata.get("ownerReferences") or () if reference.get("controller")), None
    )
    plural = _PLURALS.get(owner["kind"]) if owner else None
    if owner is None or plural is None:
        return
    wanting = world.find(plural, owner["name"], metadata["namespace"])
    if wanting is None or wanting["metadata"].get("deletionTimestamp") or _enough(world, wanting, owner):
        return
    node = node_for(world, pod, owner["kind"])
    world.put(_successor(world, pod, owner, node))


def _enough(world: KubeWorld, wanting: Body, owner: Body) -> bool:
    wanted = wanting.get("spec", {}).get("replicas")
    if wanted is None:
        return False
    there = [
        pod
        for pod in world.every("pods", wanting["metadata"]["namespace"], group="")
        if any(stored.get("uid") == owner["uid"] for stored in pod["metadata"].get("ownerReferences") or ())
        and not pod["metadata"].get("deletionTimestamp")
    ]
    return len(there) >= int(wanted)


def node_for(world: KubeWorld, pod: Body, owner: str = "") -> str:
    """A DaemonSet pod returns to its node; any other goes to the first node that fits."""
    if owner == "DaemonSet":
        return str(pod.get("spec", {}).get("nodeName", ""))
    tolerations = pod.get("spec", {}).get("tolerations") or ()
    wanted = pod.get("spec", {}).get("nodeSelector") or {}
    for node in world.every("nodes", group=""):
        labels = node["metadata"].get("labels") or {}
        if _takes_pods(node, tolerations) and all(labels.get(key) == value for key, value in wanted.items()):
            return str(node["metadata"]["name"])
    return ""


def _takes_pods(node: Body, tolerations: Any) -> bool:
    if node.get("spec", {}).get("unschedulable"):
        return False
    ready = any(
        condition["type"] == "Ready" and condition["status"] == "True"
        for condition in node["status"].get("conditions") or ()
    )
    return ready and all(_tolerated(taint, tolerations) for taint in _forbidding(node))


def _forbidding(node: Body) -> Iterator[Body]:
    for taint in node.get("spec", {}).get("taints") or ():
        if taint["effect"] != "PreferNoSchedule":
            yield taint


def _tolerated(taint: Body, tolerations: Any) -> bool:
    for toleration in tolerations:
        if toleration.get("effect") not in (None, "", taint["effect"]):
            continue
        exists = toleration.get("operator", "Equal") == "Exists"
        same_key = toleration.get("key") == taint["key"] or (exists and not toleration.get("key"))
        if same_key and (exists or toleration.get("value", "") == taint.get("value", "")):
            return True
    return False


def _successor(world: KubeWorld, pod: Body, owner: Body, node: str) -> Body:
    old = pod["metadata"]
    tail = "".join(secrets.choice(_LETTERS) for _ in range(5))
    metadata: Body = {
        "name": old["name"] if owner["kind"] == "StatefulSet" else f"{owner['name']}-{tail}",
        "namespace": old["namespace"],
        "ownerReferences": deepcopy(old["ownerReferences"]),
    }
    metadata |= {field: deepcopy(old[field]) for field in ("labels", "annotations", "generateName") if field in old}
    spec = deepcopy(pod.get("spec", {}))
    spec.pop("nodeName", None)
    body: Body = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    if not node:
        return body | {"status": _pending(world)}
    spec["nodeName"] = node
    return body | {"status": _running(world, spec)}


def _pending(world: KubeWorld) -> Body:
    unscheduled = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0 nodes are available",
        "lastTransitionTime": stamp(world.clock()),
    }
    return {"phase": "Pending", "qosClass": "Burstable", "conditions": [unscheduled]}


def _running(world: KubeWorld, spec: Body) -> Body:
    now = stamp(world.clock())
    words = ("PodScheduled", "Initialized", "ContainersReady", "Ready")
    return {
        "phase": "Running",
        "qosClass": "Burstable",
        "startTime": now,
        "conditions": [{"type": word, "status": "True", "lastTransitionTime": now} for word in words],
        "containerStatuses": [
            {
                "name": container["name"],
                "image": container.get("image", ""),
                "ready": True,
                "started": True,
                "restartCount": 0,
                "state": {"running": {"startedAt": now}},
                "lastState": {},
            }
            for container in spec.get("containers") or ()
        ],
    }
