"""Delete a pod that does not terminate: gracefully first; by force only if its node cannot do it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import quote

from handlers.clients.errors import NotFound
from handlers.remedy.acts.act import Again, Answered, Done, Going, Scene, Sending, Stopped, Wait, failed, stale, unknown
from handlers.remedy.acts.node_back import SILENT, readiness

AFTER_GRACE = timedelta(seconds=30)
"""What a kubelet takes beyond the grace to say that all containers have ended."""
GRACEFUL, FORCED = "graceful", "forced"


class DeletePod:
    """Deletes the pod with this uid, and no other pod of the same name."""

    async def prepare(self, scene: Scene) -> Sending | Done | Stopped:
        pod = await _pod(scene)
        if isinstance(pod, Done):
            return pod
        if scene.data.get("stage") == FORCED:
            return await self._by_force(scene, pod)
        if pod["metadata"].get("deletionTimestamp") and scene.step.arguments["force"]:
            return await self._by_force(scene, pod)
        return _sending(scene, GRACEFUL, int(scene.step.arguments["grace_s"]))

    async def _by_force(self, scene: Scene, pod: Mapping[str, Any]) -> Sending | Stopped:
        node = str(pod["spec"].get("nodeName") or scene.step.arguments["node"])
        status, text = await readiness(scene, node)
        if status not in ("", SILENT):
            return stale(
                f"node {node} answers ({text}): it ends the pod itself, and force would leave containers behind"
            )
        if stored := pod["metadata"].get("finalizers"):
            return failed(f"{_name(scene)} is held by finalizers ({', '.join(stored)}): force does not help")
        return _sending(scene, FORCED, 0)

    async def look_back(self, scene: Scene) -> Wait | Going | Done | Stopped:
        pod = await _pod(scene)
        if isinstance(pod, Done):
            return pod
        if scene.data["stage"] == GRACEFUL and pod["metadata"].get("deletionTimestamp"):
            return Going({}, 0.0, f"pod {_name(scene)} is being deleted: the API server has the request")
        if not scene.has_settled:
            return Wait()
        name = _name(scene)
        return unknown(
            f"{scene.lost(f'the deletion of pod {name}')}, and nothing is sent twice: the pod is still there",
            f"Look at pod {name} (kubectl get pod -n {scene.step.arguments['namespace']} "
            f"{scene.step.arguments['name']}). "
            "If it is gone, nothing is left to do; if not, check again and start a new fix.",
        )

    async def follow(self, scene: Scene) -> Wait | Again | Done | Stopped:
        pod = await _pod(scene)
        if isinstance(pod, Done):
            return pod
        grace = 0 if scene.data["stage"] == FORCED else int(scene.step.arguments["grace_s"])
        if scene.since("intended_at") < timedelta(seconds=grace) + AFTER_GRACE:
            return Wait()
        if scene.data["stage"] == GRACEFUL and scene.step.arguments["force"]:
            return Again(
                {"stage": FORCED}, "it did not go by itself: its node is looked at, then it is removed by force"
            )
        stored = pod["metadata"].get("finalizers")
        why = f"finalizers hold it: {', '.join(stored)}" if stored else "its node has not ended it"
        return failed(f"pod {_name(scene)} is still there {grace + AFTER_GRACE.seconds} s after it was deleted: {why}")

    def give_up(self, scene: Scene) -> None:
        """A deleted pod terminates sooner or later: nothing to clean up."""


def _name(scene: Scene) -> str:
    return f"{scene.step.arguments['namespace']}/{scene.step.arguments['name']}"


def pod_path(namespace: str, name: str = "") -> str:
    above = f"/api/v1/namespaces/{quote(namespace, safe='')}/pods"
    return f"{above}/{quote(name, safe='')}" if name else above


async def _pod(scene: Scene) -> Mapping[str, Any] | Done:
    wanted = scene.step.arguments
    try:
        pod: Mapping[str, Any] = await scene.write_clients.kube.get(pod_path(wanted["namespace"], wanted["name"]))
    except NotFound:
        return Done(f"pod {_name(scene)} is gone")
    if pod["metadata"]["uid"] != wanted["uid"]:
        return Done(f"pod {_name(scene)} is gone: another one has its name")
    return pod


def _sending(scene: Scene, stage: str, grace_s: int) -> Sending:
    wanted = scene.step.arguments
    path = pod_path(wanted["namespace"], wanted["name"])
    options = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "gracePeriodSeconds": grace_s,
        "preconditions": {"uid": wanted["uid"]},
    }

    async def send(_: str) -> Answered:
        await scene.write_clients.kube.delete(path, options)
        return Answered("200")

    return Sending("DELETE", path, send, {"stage": stage})
