"""Assigns pods to nodes and gives them addresses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import IPv4Address

from sandbox.blueprint.inside.nodes import pool_of
from sandbox.blueprint.inside.scene import Scene
from sandbox.blueprint.node_model import Machine

PODS_EACH = 256
"""Addresses a node gets with a separate pod CIDR: a /24."""


BLOCK = 64
"""Addresses a node allocates from a pod subnet: it requests 16 at a time."""


@dataclass
class Seat:
    """One node with its free capacity."""

    machine: Machine
    first_address: int
    free: int
    taken: int = 0

    def address(self) -> str:
        self.taken += 1
        return str(IPv4Address(self.first_address + self.taken))


@dataclass
class Seats:
    """All nodes of a cluster, grouped by the pods they accept."""

    scene: Scene
    groups: dict[str, list[Seat]] = field(default_factory=dict)
    _turns: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for number, machine in enumerate(self.scene.machines):
            pool = pool_of(self.scene, machine)
            seat = Seat(machine, self._first_address(number, machine), pool.max_pods)
            groups = ["all", pool.os.lower()]
            if pool.os == "Linux":
                groups.append("spot" if pool.spot else "system" if pool.mode == "System" else "apps")
            for group in groups:
                if group != "apps" or not pool.taints:
                    self.groups.setdefault(group, []).append(seat)

    def every(self, group: str) -> Iterator[Machine]:
        """One slot on each node of a group, for DaemonSets."""
        for seat in self.groups.get(group, ()):
            seat.free -= 1
            yield seat.machine

    def take(self, group: str) -> Seat | None:
        """The next node of a group with free capacity; if the cluster lacks the group, another one is used."""
        seats = self.groups.get(group) or self.groups.get("apps") or self.groups["system"]
        for _ in seats:
            turn = self._turns[group] = self._turns.get(group, -1) + 1
            seat = seats[turn % len(seats)]
            if seat.free > 0:
                seat.free -= 1
                return seat
        return None

    def on(self, machine: Machine) -> Seat:
        return next(seat for seat in self.groups["all"] if seat.machine is machine)

    def _first_address(self, number: int, machine: Machine) -> int:
        """The first address of a node's pods."""
        mode = self.scene.places.spec.network.mode
        if mode == "flat":  # after the node's own, on the same interface
            return int(IPv4Address(machine.address))
        if mode == "pod-subnet":
            return self.scene.pod_subnet_start + number * BLOCK
        return int(IPv4Address(self._pod_range())) + number * PODS_EACH

    def _pod_range(self) -> str:
        return (self.scene.places.spec.network.pod_cidr or "10.244.0.0/16").split("/")[0]
