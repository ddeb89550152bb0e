"""What proves that nodes and pods reach the API server: kubelets that report, and pods that need it and are Ready."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from handlers.evidence.cluster import Node, NodeLeases, Nodes
from handlers.evidence.held_pods import USERS
from handlers.evidence.system import SystemWorkload, SystemWorkloads
from handlers.model import NotApplicable, Unavailable, Why

RENEWED = timedelta(minutes=2)
"""A kubelet renews its lease every 10 s, and after 40 Kubernetes gives it up; the rest is for clocks that differ."""


@dataclass(frozen=True, slots=True)
class Users:
    """Who is known to use the API server."""

    nodes: Nodes
    leases: NodeLeases
    workloads: SystemWorkloads | NotApplicable

    def unproven(self) -> Iterator[Unavailable]:
        """What keeps us from saying that all of them reach it."""
        renewed = self._renewed()
        facts = (self.nodes, self.leases, self.workloads)
        for seen in (fact for fact in facts if not isinstance(fact, NotApplicable)):
            yield from seen.gaps
            if seen.truncated:
                yield Unavailable("who reaches the API server", Why.FAILED, f"only a part was read of {seen.source}")
        if not renewed:
            why = f"no node is Ready whose kubelet has renewed its lease within {RENEWED.seconds // 60} minutes"
            yield Unavailable("the nodes' way to the API server", Why.ABSENT, why)
            return
        yield from self._silent([node for node in self._ready() if not self._has_renewed(node)])
        yield from self._no_pod()

    def proof(self) -> str:
        """What they prove, once nothing is unproven."""
        share = f"{len(self._renewed())} of {len(self._ready())} Ready nodes"
        ready = [f"{user.name} ({user.ready} of {user.wanted})" for user in self._users() if user.ready]
        of_pods = f"; Ready, which takes the API server: {', '.join(ready)}" if ready else ""
        return f"{share} renewed their leases within {RENEWED.seconds // 60} minutes{of_pods}"

    def _ready(self) -> list[Node]:
        """What keeps the others from being Ready has a check of its own."""
        return [node for node in self.nodes.nodes if node.is_ready and not node.virtual]

    def _renewed(self) -> list[Node]:
        return [node for node in self._ready() if self._has_renewed(node)]

    def _users(self) -> tuple[SystemWorkload, ...]:
        return self.workloads.named(*USERS) if isinstance(self.workloads, SystemWorkloads) else ()

    def _silent(self, silent: list[Node]) -> Iterator[Unavailable]:
        if silent:
            at = self.leases.renewed.get(silent[0].name)
            lately = f"its kubelet last renewed its lease at {at:%Y-%m-%d %H:%M:%S} UTC" if at else "it has no lease"
            others = f"; {len(silent) - 1} more are as silent" if len(silent) > 1 else ""
            yield Unavailable(f"the way of {silent[0].name} to the API server", Why.ABSENT, lately + others)

    def _no_pod(self) -> Iterator[Unavailable]:
        users = self._users()
        if users and not any(user.ready for user in users):
            names = " and ".join(user.name for user in users)
            yield Unavailable("the pods' way to the API server", Why.ABSENT, f"no pod of {names} is Ready")

    def _has_renewed(self, node: Node) -> bool:
        moment = self.leases.renewed.get(node.name)
        return moment is not None and self.leases.taken_at - moment < RENEWED
