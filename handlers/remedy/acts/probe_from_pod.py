"""Send a request from inside the cluster, from a small pod that is removed in any case.

Three parts: create the pod, wait until it has ended, delete it. Once it exists, only its removal ends the step.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from handlers.clients.errors import Denied, NotFound, Refused
from handlers.remedy.acts.act import CLOSING, Again, Answered, Done, Going, Scene, Sending, Stopped, Wait, failed
from handlers.remedy.acts.delete_pod import pod_path

MADE_BY = "aksbot.dev/execution"
"""The annotation that says whose pod it is."""
ANSWERS_WITHIN = timedelta(minutes=3)
"""A node and an image have to be found; the questions themselves take seconds."""
GONE_WITHIN = timedelta(minutes=2)
_LONGEST_ANSWER = 2000
_OVER = ("Succeeded", "Failed")


class ProbeFromPod:
    """Its manifest is part of the plan: what was approved is what runs."""

    async def prepare(self, scene: Scene) -> Sending | Again | Done | Stopped:
        pod = await _pod(scene)
        if CLOSING in scene.data:
            return _ended(scene) if pod is None or not _is_ours(scene, pod) else _removing(scene, pod)
        if pod is not None:
            return failed(f"there is a pod {_name(scene)} already, and it is not ours")
        manifest = _manifest(scene)

        async def send(_: str) -> Answered:
            await scene.write_clients.kube.post(pod_path(scene.step.arguments["namespace"]), manifest)
            return Answered("201")

        return Sending("POST", pod_path(scene.step.arguments["namespace"]), send, {"stage": "asking"})

    async def look_back(self, scene: Scene) -> Wait | Going | Again:
        pod = await _pod(scene)
        if CLOSING in scene.data:
            # Deleting our own pod twice deletes nothing else: its uid is named.
            return Again(scene.data)
        if pod is not None and _is_ours(scene, pod):
            return Going({}, 0.0, "the probe pod is there: it is followed")
        if not scene.has_settled:
            return Wait()
        return _close(scene, "", f"{scene.lost('the making of the probe pod')}; there is none")

    async def follow(self, scene: Scene) -> Wait | Again | Done | Stopped:
        pod = await _pod(scene)
        if CLOSING in scene.data:
            if pod is None or not _is_ours(scene, pod):
                return _ended(scene)
            if scene.since("intended_at") < GONE_WITHIN:
                return Wait(5.0)
            return failed(f"the probe pod {_name(scene)} does not go: kubectl delete pod -n {_where(scene)} --force")
        if pod is None:
            return _close(scene, "", "the probe pod was removed before it answered")
        phase = str((pod.get("status") or {}).get("phase", ""))
        if phase in _OVER:
            return await self._answered(scene, phase)
        if scene.since("intended_at") >= ANSWERS_WITHIN:
            return _close(
                scene, "", f"the probe pod is {phase or 'not there'} after {ANSWERS_WITHIN.seconds // 60} min"
            )
        return Wait(5.0)

    async def _answered(self, scene: Scene, phase: str) -> Again:
        path = pod_path(scene.step.arguments["namespace"], scene.step.arguments["name"])
        try:
            answer = (await scene.write_clients.kube.text(f"{path}/log")).strip()[:_LONGEST_ANSWER]
        except (Denied, NotFound, Refused) as error:
            return _close(scene, "", f"the probe has answered, and its log could not be read: {error.detail}")
        return _close(scene, answer, "" if phase == "Succeeded" else f"the probe ended with {phase}: {answer}")

    def give_up(self, scene: Scene) -> Again | None:
        if not scene.data:
            return None
        return Again({CLOSING: True, "answer": "", "trouble": f"no answer within the time of {scene.step.says}"})


def _close(scene: Scene, answer: str, trouble: str) -> Again:
    return Again({CLOSING: True, "stage": "removing", "answer": answer, "trouble": trouble}, answer or trouble)


def _ended(scene: Scene) -> Done | Stopped:
    trouble = str(scene.data.get("trouble", ""))
    if trouble:
        return failed(f"{trouble}; the pod is removed")
    return Done("the probe pod is removed", str(scene.data.get("answer", "")))


def _removing(scene: Scene, pod: Mapping[str, Any]) -> Sending:
    path = pod_path(scene.step.arguments["namespace"], scene.step.arguments["name"])
    options = removal_of(pod)

    async def send(_: str) -> Answered:
        await scene.write_clients.kube.delete(path, options)
        return Answered("200")

    return Sending("DELETE", path, send, scene.data)


def removal_of(pod: Mapping[str, Any]) -> dict[str, Any]:
    """The delete options for exactly this pod, and no other of its name."""
    return {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "gracePeriodSeconds": 0,
        "preconditions": {"uid": pod["metadata"]["uid"]},
    }


def _manifest(scene: Scene) -> dict[str, Any]:
    body: dict[str, Any] = dict(scene.step.arguments["manifest"])
    metadata = dict(body["metadata"])
    annotations = {**(metadata.get("annotations") or {}), MADE_BY: scene.execution}
    return {**body, "metadata": {**metadata, "annotations": annotations}}


async def _pod(scene: Scene) -> Mapping[str, Any] | None:
    try:
        pod: Mapping[str, Any] = await scene.write_clients.kube.get(
            pod_path(scene.step.arguments["namespace"], scene.step.arguments["name"])
        )
    except NotFound:
        return None
    return pod


def _is_ours(scene: Scene, pod: Mapping[str, Any]) -> bool:
    return bool((pod["metadata"].get("annotations") or {}).get(MADE_BY) == scene.execution)


def _name(scene: Scene) -> str:
    return f"{scene.step.arguments['namespace']}/{scene.step.arguments['name']}"


def _where(scene: Scene) -> str:
    return f"{scene.step.arguments['namespace']} {scene.step.arguments['name']}"
