"""Whether a node is Ready again after its machine was changed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from handlers.remedy.acts.act import Done, Going, Scene, Stopped, Wait, failed

NOTICED = timedelta(seconds=60)
"""Kubernetes notices after 40 to 50 s that a kubelet is silent: a Ready that is seen sooner may be of the past."""
READY, SILENT = "True", "Unknown"
"""A kubelet that reports and a kubelet that does not; one that says "False" is there, too."""
COMES_BACK = timedelta(minutes=15)
"""A machine that restarts has its node Ready again in three to five minutes."""


def machine_is_done(scene: Scene) -> Going:
    says = f"the machine is done: now node {scene.step.arguments['node']} must be Ready"
    return Going({**scene.data, "machine_done_at": scene.now.isoformat()}, says=says)


async def node_is_back(scene: Scene) -> Wait | Done | Stopped:
    name, since = str(scene.step.arguments["node"]), scene.since("machine_done_at")
    status, why = await readiness(scene, name)
    if since >= NOTICED and status == READY:
        return Done(f"node {name} is Ready")
    if since >= COMES_BACK:
        return failed(f"node {name} did not come back Ready within {COMES_BACK.seconds // 60} min: {why}")
    return Wait()


async def readiness(scene: Scene, name: str) -> tuple[str, str]:
    """The status of the node's Ready condition (empty: no such node), and its message."""
    # A list with a field selector: the reader's role may list nodes, but not get one.
    listing = await scene.write_clients.nodes.list("/api/v1/nodes", dict, fields=f"metadata.name={name}")
    if not listing.items:
        return "", "there is no such node"
    condition = _ready(listing.items[0])
    status = str(condition.get("status") or SILENT)
    return status, ", ".join(filter(None, (f"Ready is {status}", str(condition.get("message") or ""))))


def _ready(node: Any) -> Mapping[str, Any]:
    status = node.get("status") if isinstance(node, Mapping) else None
    conditions = (status.get("conditions") if isinstance(status, Mapping) else None) or ()
    return next((condition for condition in conditions if condition.get("type") == "Ready"), {})
