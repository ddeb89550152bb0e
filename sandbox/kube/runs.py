"""Simulates run-to-completion pods: schedules them, sets their log output and completes them."""

from __future__ import annotations

from typing import Any

from sandbox.kube.replacements import node_for
from sandbox.kube.world import KubeWorld, Run, stamp

Body = dict[str, Any]


def run_of(world: KubeWorld, pod: Body) -> Run | None:
    """The Run for a new pod; None if its image is unknown, in which case the pod stays Pending."""
    spec = pod.get("spec", {})
    containers: list[Body] = list(spec.get("containers") or ())
    if spec.get("nodeName") or spec.get("restartPolicy") != "Never" or len(containers) != 1:
        return None
    return world.runs.get(str(containers[0].get("image", "")))


def finish(world: KubeWorld, pod: Body, run: Run) -> None:
    """Do the work of scheduler and kubelet until the pod completes."""
    node = node_for(world, pod)
    if not node:
        return
    metadata, [container] = pod["metadata"], pod["spec"]["containers"]
    world.logs[f"{metadata['namespace']}/{metadata['name']}/{container['name']}"] = run.log
    spec = {**pod["spec"], "nodeName": node}
    world.put({**pod, "metadata": dict(metadata), "spec": spec, "status": _ended(world, pod, container, run)})


def _ended(world: KubeWorld, pod: Body, container: Body, run: Run) -> Body:
    now = stamp(world.clock())
    ended = {
        "exitCode": run.exit_code,
        "reason": "Error" if run.exit_code else "Completed",
        "startedAt": now,
        "finishedAt": now,
    }
    over = {"status": "False", "reason": "PodFailed" if run.exit_code else "PodCompleted", "lastTransitionTime": now}
    done = {"status": "True", "lastTransitionTime": now}
    return {
        **pod["status"],
        "phase": "Failed" if run.exit_code else "Succeeded",
        "startTime": now,
        "conditions": [
            {"type": "PodScheduled", **done},
            {"type": "Initialized", **done},
            {"type": "Ready", **over},
            {"type": "ContainersReady", **over},
        ],
        "containerStatuses": [
            {
                "name": container["name"],
                "image": container["image"],
                "ready": False,
                "started": False,
                "restartCount": 0,
                "state": {"terminated": ended},
                "lastState": {},
            }
        ],
    }
