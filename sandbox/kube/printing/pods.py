"""The columns of pods and nodes."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sandbox.kube.printing.cells import NONE, Printed, age, at, dig, human_duration, moment_of, name

Body = dict[str, Any]


class _Shown:
    """Counters collected while iterating over a pod's containers."""

    def __init__(self, pod: Body) -> None:
        status, spec = pod.get("status", {}), pod.get("spec", {})
        self.reason = str(status.get("reason") or status.get("phase") or "")
        self.total = len(spec.get("containers") or ())
        self.ready = 0
        self.restarts = 0
        self.last_restart: datetime | None = None

    def count_restarts(self, container: Body) -> None:
        self.restarts += int(container.get("restartCount", 0))
        finished = moment_of(dig(container, "lastState", "terminated", "finishedAt"))
        if finished and (self.last_restart is None or finished > self.last_restart):
            self.last_restart = finished


def shown_status(pod: Body) -> str:
    """The value of the STATUS column."""
    return _look(pod).reason


def _look(pod: Body) -> _Shown:
    shown = _Shown(pod)
    status = pod.get("status", {})
    if any(_is(condition, "PodScheduled", reason="SchedulingGated") for condition in status.get("conditions") or ()):
        shown.reason = "SchedulingGated"
    starting = _look_at_init_containers(pod, shown)
    if not starting or any(_is(condition, "Initialized", "True") for condition in status.get("conditions") or ()):
        _look_at_containers(pod, shown)
    if pod["metadata"].get("deletionTimestamp"):
        if status.get("reason") == "NodeLost":
            shown.reason = "Unknown"
        elif status.get("phase") not in ("Succeeded", "Failed"):
            shown.reason = "Terminating"
    return shown


def _is(condition: Body, kind: str, value: str = "", reason: str = "") -> bool:
    return (
        condition.get("type") == kind
        and (not value or condition.get("status") == value)
        and (not reason or condition.get("reason") == reason)
    )


def _look_at_init_containers(pod: Body, shown: _Shown) -> bool:
    """Whether the pod is still being initialised."""
    listed = pod.get("spec", {}).get("initContainers") or ()
    sidecars = {item["name"] for item in listed if item.get("restartPolicy") == "Always"}
    shown.total += len(sidecars)
    for index, status in enumerate(pod.get("status", {}).get("initContainerStatuses") or ()):
        shown.count_restarts(status)
        state = status.get("state", {})
        ended = state.get("terminated")
        if ended and ended.get("exitCode") == 0:
            continue
        if status["name"] in sidecars and status.get("started"):
            shown.ready += bool(status.get("ready"))
            continue
        waiting = dig(state, "waiting", "reason", default="")
        if ended:
            shown.reason = f"Init:{_why_ended(ended)}"
        elif waiting and waiting != "PodInitializing":
            shown.reason = f"Init:{waiting}"
        else:
            shown.reason = f"Init:{index}/{len(listed)}"
        return True
    return False


def _look_at_containers(pod: Body, shown: _Shown) -> None:
    shown.restarts, shown.last_restart = 0, None
    running = False
    for status in reversed(pod.get("status", {}).get("containerStatuses") or ()):
        shown.count_restarts(status)
        state = status.get("state", {})
        if dig(state, "waiting", "reason"):
            shown.reason = state["waiting"]["reason"]
        elif state.get("terminated"):
            shown.reason = _why_ended(state["terminated"])
        elif status.get("ready") and "running" in state:
            running = True
            shown.ready += 1
    if shown.reason == "Completed" and running:
        ready = any(_is(condition, "Ready", "True") for condition in pod["status"].get("conditions") or ())
        shown.reason = "Running" if ready else "NotReady"


def _why_ended(ended: Body) -> str:
    if ended.get("reason"):
        return str(ended["reason"])
    return f"Signal:{ended['signal']}" if ended.get("signal") else f"ExitCode:{ended.get('exitCode', 0)}"


def _ready(pod: Body, _: datetime) -> str:
    shown = _look(pod)
    return f"{shown.ready}/{shown.total}"


def _restarts(pod: Body, now: datetime) -> str:
    shown = _look(pod)
    if not shown.restarts or shown.last_restart is None:
        return str(shown.restarts)
    return f"{shown.restarts} ({human_duration((now - shown.last_restart).total_seconds())} ago)"


def _gates(pod: Body, _: datetime) -> str:
    gates = pod.get("spec", {}).get("readinessGates") or ()
    if not gates:
        return NONE
    conditions = pod.get("status", {}).get("conditions") or ()
    met = sum(any(_is(condition, gate["conditionType"], "True") for condition in conditions) for gate in gates)
    return f"{met}/{len(gates)}"


PODS = (
    Printed("Name", name),
    Printed("Ready", _ready),
    Printed("Status", lambda pod, _: shown_status(pod)),
    Printed("Restarts", _restarts),
    Printed("Age", age),
    Printed("IP", at("status", "podIP", default=NONE), wide=True),
    Printed("Node", at("spec", "nodeName", default=NONE), wide=True),
    Printed("Nominated Node", at("status", "nominatedNodeName", default=NONE), wide=True),
    Printed("Readiness Gates", _gates, wide=True),
)


def _node_status(node: Body, _: datetime) -> str:
    ready = next(
        (condition for condition in dig(node, "status", "conditions", default=()) if condition["type"] == "Ready"), None
    )
    words = ["Unknown" if ready is None else "Ready" if ready["status"] == "True" else "NotReady"]
    if dig(node, "spec", "unschedulable"):
        words.append("SchedulingDisabled")
    return ",".join(words)


def _roles(node: Body, _: datetime) -> str:
    labels = node["metadata"].get("labels") or {}
    prefix = "node-role.kubernetes.io/"
    found = {label.removeprefix(prefix) for label in labels if label.startswith(prefix) and label != prefix}
    found |= {value for label, value in labels.items() if label == "kubernetes.io/role" and value}
    return ",".join(sorted(found)) or NONE


def _address(kind: str) -> Printed:
    def cell(node: Body, _: datetime) -> str:
        found = dig(node, "status", "addresses", default=())
        return next((item["address"] for item in found if item["type"] == kind), NONE)

    return Printed(kind.replace("IP", "-IP"), cell, wide=True)


NODES = (
    Printed("Name", name),
    Printed("Status", _node_status),
    Printed("Roles", _roles),
    Printed("Age", age),
    Printed("Version", at("status", "nodeInfo", "kubeletVersion")),
    _address("InternalIP"),
    _address("ExternalIP"),
    Printed("OS-Image", at("status", "nodeInfo", "osImage", default="<unknown>"), wide=True),
    Printed("Kernel-Version", at("status", "nodeInfo", "kernelVersion", default="<unknown>"), wide=True),
    Printed("Container-Runtime", at("status", "nodeInfo", "containerRuntimeVersion", default="<unknown>"), wide=True),
)
