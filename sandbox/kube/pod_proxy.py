"""`pods/proxy`: a GET that the API server hands on to a port of a pod, or the error of the connection."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sandbox.kube import reads, statuses
from sandbox.kube.answers import TEXT, Answer, Call, Refusal
from sandbox.kube.controllers import node_is_alive
from sandbox.kube.kinds import Kind
from sandbox.kube.pod_logs import without_tunnel
from sandbox.kube.world import KubeWorld

Body = dict[str, Any]
_SCHEMES = ("http", "https")


def get(world: KubeWorld, kind: Kind, call: Call) -> Answer:
    name, port = _target(call.place.name)
    pod = reads.existing(world, kind, replace(call, place=replace(call.place, name=name)))
    asked = int(port) if port.isdigit() else _named(pod, port)
    address = pod.get("status", {}).get("podIP", "")
    if not address:
        raise statuses.bad_request("address not allowed")
    if without_tunnel(world):
        raise _unreached("No agent available")
    if not node_is_alive(world, pod.get("spec", {}).get("nodeName", "")):
        raise _unreached(f"dial tcp {address}:{asked}: i/o timeout")
    if not _listens(world, pod, asked):
        raise _unreached(f"dial tcp {address}:{asked}: connect: connection refused")
    return Answer(200, "ok\n", TEXT)


def _target(name: str) -> tuple[str, str]:
    """`https:web-0:8443`, `web-0:8080` or `web-0`."""
    parts = name.split(":")
    if len(parts) == 3 and parts[0] in _SCHEMES:
        return parts[1], parts[2]
    if len(parts) > 2:
        raise statuses.bad_request(f'invalid pod request "{name}"')
    return parts[0], parts[1] if len(parts) == 2 else ""


def _ports(pod: Body) -> list[Body]:
    return [port for container in pod["spec"].get("containers") or () for port in container.get("ports") or ()]


def _named(pod: Body, wanted: str) -> int:
    """A port by name; without one, the first that is declared, or 80."""
    declared = _ports(pod)
    found = (
        next((port for port in declared if port.get("name") == wanted), None) if wanted else next(iter(declared), None)
    )
    return int(found["containerPort"]) if found else 80


def _listens(world: KubeWorld, pod: Body, port: int) -> bool:
    metadata = pod["metadata"]
    known = world.listens.get(f"{metadata['namespace']}/{metadata['name']}")
    declared = [int(one["containerPort"]) for one in _ports(pod)]
    return port in known if known is not None else port in declared or not declared


def _unreached(why: str) -> Refusal:
    return statuses.refusal(503, "ServiceUnavailable", f"error trying to reach service: {why}")
