"""The node groups in the cluster autoscaler's status, and whether it calls the cluster unhealthy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from handlers.evidence.wire import number, rows, text
from runbooks.linear import compile_linear

_COUNT = compile_linear(r"\b([A-Za-z]+)=(\d+)")
"""`ready=3 unready=1 registered=4`."""


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """A node pool as the cluster autoscaler sees it."""

    name: str
    """Of a scale set, or of a pool of type VirtualMachines."""
    registered: int
    target: int
    """The nodes that it asked Azure for."""
    least: int
    most: int

    @property
    def on_their_way(self) -> int:
        return max(0, self.target - self.registered)


@dataclass(frozen=True, slots=True)
class Unhealthy:
    """The cluster autoscaler has stopped, because too many nodes are not Ready."""

    unready: int
    registered: int


def groups_of_yaml(status: Any) -> Iterator[NodeGroup]:
    """Since cluster-autoscaler 1.30."""
    for group in rows(status, "nodeGroups"):
        yield NodeGroup(
            text(group, "name"),
            number(group, "health", "nodeCounts", "registered", "total"),
            number(group, "health", "cloudProviderTarget"),
            number(group, "health", "minSize"),
            number(group, "health", "maxSize"),
        )


def groups_of_text(told: str) -> Iterator[NodeGroup]:
    """Before it."""
    name = ""
    for line in told.partition("NodeGroups:")[2].splitlines():
        key, _, value = line.strip().partition(":")
        if key == "Name":
            name = value.strip().rsplit("/", 1)[-1]
        elif key == "Health":
            counts = [counted(value, word) for word in ("registered", "cloudProviderTarget", "minSize", "maxSize")]
            yield NodeGroup(name, *counts)


def unhealthy_of_yaml(status: Any) -> Unhealthy | None:
    """Its word about the whole cluster."""
    if text(status, "clusterWide", "health", "status").lower() != "unhealthy":
        return None
    total = number(status, "clusterWide", "health", "nodeCounts", "registered", "total")
    return Unhealthy(number(status, "clusterWide", "health", "nodeCounts", "registered", "unready", "total"), total)


def unhealthy_of_text(told: str) -> Unhealthy | None:
    line = told.partition("Cluster-wide:")[2].partition("Health:")[2].partition("\n")[0]
    if not line.strip().lower().startswith("unhealthy"):
        return None
    return Unhealthy(counted(line, "unready"), counted(line, "registered"))


def counted(line: str, what: str) -> int:
    return next((int(found[2]) for found in _COUNT.finditer(line) if found[1] == what), 0)
