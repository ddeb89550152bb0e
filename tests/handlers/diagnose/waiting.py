"""Clusters in which a pod waits for a node, and what is found of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from handlers.model import Finding, Outcome
from tests.handlers.diagnose.bodies import Body, at
from tests.handlers.diagnose.inside import Inside
from tests.handlers.diagnose.wire import asked
from tests.handlers.diagnose.wire import found as the_one_found

CODE = "pod-unschedulable"
WEB = {"app": "web"}
UNREACHABLE = {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}


async def found(cluster: Inside) -> Finding:
    return await the_one_found(CODE, cluster)


async def outcome(cluster: Inside) -> Outcome:
    return (await asked(CODE, cluster)).outcome


def cluster(nodes: int = 1, **spec: Any) -> Inside:
    inside = Inside()
    inside.pool("apps", count=nodes)
    for number in range(nodes):
        inside.room(f"node-{number}", **spec)
    return inside


def anti(selector: Body, topology: str = "kubernetes.io/hostname", **more: Any) -> Body:
    term = {"labelSelector": {"matchLabels": selector}, "topologyKey": topology, **more}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def dead(inside: Inside, name: str) -> None:
    """The node's kubelet has been silent for fifteen minutes."""
    ready = {"type": "Ready", "status": "Unknown", "lastTransitionTime": at(timedelta(minutes=15))}
    inside.nodes[name]["status"]["conditions"] = [ready]
    inside.nodes[name]["spec"]["taints"] = [UNREACHABLE.copy()]


def fills(inside: Inside, name: str, cpu: str = "3900m") -> None:
    inside.runs(f"full-{name}-1", name, spec={"containers": [{"resources": {"requests": {"cpu": cpu}}}]})
