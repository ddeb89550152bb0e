"""`pods/log`: a container's output, or the error that explains why it is unavailable."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sandbox.kube import reads, statuses
from sandbox.kube.answers import TEXT, Answer, Call
from sandbox.kube.controllers import node_is_alive
from sandbox.kube.kinds import Kind
from sandbox.kube.printing.cells import moment_of
from sandbox.kube.world import KubeWorld

Body = dict[str, Any]

_PREVIOUS = ":previous"
_AGENT = "konnectivity-agent"
_NO_IMAGE = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName")


def get(world: KubeWorld, kind: Kind, call: Call) -> Answer:
    pod = reads.existing(world, kind, call)
    container = _container(pod, call.query.get("container", ""))
    text = _text(world, pod, container, previous=call.flag("previous"))
    return Answer(200, _cut(world, text, call), TEXT)


def _container(pod: Body, asked: str) -> str:
    name, spec = pod["metadata"]["name"], pod.get("spec", {})
    main = [str(container["name"]) for container in spec.get("containers") or ()]
    initial = [str(container["name"]) for container in spec.get("initContainers") or ()]
    if asked:
        if asked not in (*main, *initial):
            raise statuses.bad_request(f"container {asked} is not valid for pod {name}")
        return asked
    if len(main) == 1:
        return main[0]
    choices = f"choose one of: [{' '.join(main)}]"
    if initial:
        choices += f" or one of the init containers: [{' '.join(initial)}]"
    raise statuses.bad_request(f"a container name must be specified for pod {name}, {choices}")


def _text(world: KubeWorld, pod: Body, container: str, *, previous: bool) -> str:
    metadata = pod["metadata"]
    name, node = metadata["name"], pod.get("spec", {}).get("nodeName", "")
    key = f"{metadata['namespace']}/{name}/{container}"
    if not node:
        raise statuses.bad_request(f"pod {name} does not have a host assigned")
    if without_tunnel(world):
        raise statuses.internal(f'Get "https://{_address(world, node)}:10250/containerLogs/{key}": No agent available')
    if not node_is_alive(world, node):
        raise statuses.internal(_kubelet_is_silent(world, node, key))
    state = _status(pod, container)
    waiting = state.get("state", {}).get("waiting")
    if previous and f"{key}{_PREVIOUS}" not in world.logs:
        raise statuses.bad_request(f'previous terminated container "{container}" in pod "{name}" not found')
    if waiting and not previous and not state.get("restartCount"):
        text = str(waiting.get("reason", ""))
        told = "trying and failing to pull image" if text in _NO_IMAGE else text
        raise statuses.bad_request(f'container "{container}" in pod "{name}" is waiting to start: {told}')
    return world.logs.get(f"{key}{_PREVIOUS}" if previous else key, "")


def _kubelet_is_silent(world: KubeWorld, node: str, key: str) -> str:
    address = _address(world, node)
    return f'Get "https://{address}:10250/containerLogs/{key}": dial tcp {address}:10250: i/o timeout'


def _address(world: KubeWorld, node: str) -> str:
    stored = world.find("nodes", node, group="") or {}
    addresses = stored.get("status", {}).get("addresses") or ()
    return str(next((address["address"] for address in addresses if address["type"] == "InternalIP"), node))


def without_tunnel(world: KubeWorld) -> bool:
    """Whether the cluster uses konnectivity but has no connected agent."""
    if not world.find("deployments", _AGENT, "kube-system", group="apps"):
        return False
    agents = [pod for pod in world.every("pods", "kube-system", group="") if _is_agent(pod)]
    return not any(_is_ready(pod) and node_is_alive(world, pod.get("spec", {}).get("nodeName", "")) for pod in agents)


def _is_agent(pod: Body) -> bool:
    return bool((pod["metadata"].get("labels") or {}).get("app") == _AGENT)


def _is_ready(pod: Body) -> bool:
    said = pod.get("status", {}).get("conditions") or ()
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in said)


def _status(pod: Body, container: str) -> Body:
    status = pod.get("status", {})
    listed = [*(status.get("containerStatuses") or ()), *(status.get("initContainerStatuses") or ())]
    return next((status for status in listed if status["name"] == container), {})


def _cut(world: KubeWorld, text: str, call: Call) -> str:
    """The requested lines. A stored line may start with the kubelet's timestamp."""
    lines = text.splitlines(keepends=True)
    seconds, tail = call.query.get("sinceSeconds", ""), call.query.get("tailLines", "")
    if seconds.isdigit():
        since = world.clock() - timedelta(seconds=int(seconds))
        lines = [line for line in lines if (moment_of(line.partition(" ")[0]) or since) >= since]
    if tail.isdigit():
        lines = lines[len(lines) - min(int(tail), len(lines)) :]
    if not call.flag("timestamps"):
        lines = [line.partition(" ")[2] if moment_of(line.partition(" ")[0]) else line for line in lines]
    shown = "".join(lines)
    limit = call.query.get("limitBytes", "")
    return shown.encode()[: int(limit)].decode(errors="ignore") if limit.isdigit() else shown
