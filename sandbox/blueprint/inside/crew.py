"""Builds the objects of a workload: controllers, pods, budget and service."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from sandbox.blueprint.inside.budgets import budget_body
from sandbox.blueprint.inside.pods import Template, pod_body
from sandbox.blueprint.inside.scene import Scene
from sandbox.blueprint.inside.seats import Seats
from sandbox.blueprint.inside.services import service_bodies
from sandbox.blueprint.inside.workload import Workload
from sandbox.kube.world import stamp
from sandbox.world import Body


@dataclass
class Crew:
    """Adds one workload to a cluster."""

    scene: Scene
    seats: Seats
    work: Workload
    addresses: list[tuple[str, Body]] = field(default_factory=list)
    """Address and pod name of each possible endpoint."""

    def bodies(self) -> Iterator[Body]:
        pods = list(self._pods())
        yield from self._controllers(len(pods))
        yield from pods
        if self.work.budget is not None:
            yield budget_body(self.scene, self.work, len(pods))
        if self.work.port:
            yield from service_bodies(self.scene, self.work, self.work.port, self.addresses)

    # -- pods --

    def _pods(self) -> Iterator[Body]:
        work, owner = self.work, self._pods_owner()
        template = Template.of(work, owner, self._hash)
        if work.kind == "DaemonSet":
            for machine in self.seats.every(work.group):
                address = machine.address if work.on_host else self.seats.on(machine).address()
                name = f"{work.name}-{self.scene.suffix(5, work.namespace, work.name, machine.name)}"
                yield self._seated(pod_body(self.scene, template, name, machine, address), address)
            return
        for ordinal in range(work.replicas):
            seat = self.seats.take(work.group)
            if seat is None:
                return
            end = str(ordinal) if work.kind == "StatefulSet" else f"{self._hash}-{self._end(ordinal)}"
            address = seat.machine.address if work.on_host else seat.address()
            pod = pod_body(self.scene, template, f"{work.name}-{end}", seat.machine, address)
            yield self._seated(pod, address)

    def _seated(self, pod: Body, address: str) -> Body:
        if self.work.port:
            self.addresses.append((address, pod))
        return pod

    def _end(self, ordinal: int) -> str:
        return self.scene.suffix(5, self.work.namespace, self.work.name, ordinal)

    @property
    def _hash(self) -> str:
        """The pod-template-hash."""
        return self.scene.template_hash(self.work.namespace, self.work.name, "template")

    def _pods_owner(self) -> Body:
        work = self.work
        if work.kind == "Deployment":
            return self.scene.owner("apps/v1", "ReplicaSet", f"{work.name}-{self._hash}", work.namespace)
        return self.scene.owner("apps/v1", work.kind, work.name, work.namespace)

    # -- controllers --

    def _controllers(self, running: int) -> Iterator[Body]:
        work = self.work
        if work.kind == "DaemonSet":
            yield self._controller("DaemonSet", work.name, self._daemon_status(running))
            return
        counts = {"replicas": running, "readyReplicas": running, "availableReplicas": running}
        counts["observedGeneration"] = 1
        if work.kind == "StatefulSet":
            yield self._controller("StatefulSet", work.name, {**counts, "currentReplicas": running})
            return
        owner = self.scene.owner("apps/v1", "Deployment", work.name, work.namespace)
        since = stamp(self.scene.created + timedelta(minutes=15))
        conditions = [
            _condition("Available", "MinimumReplicasAvailable", "Deployment has minimum availability.", since),
            _condition("Progressing", "NewReplicaSetAvailable", f"ReplicaSet has {running} of them.", since),
        ]
        status = {**counts, "updatedReplicas": running, "conditions": conditions}
        yield self._controller("Deployment", work.name, status)
        yield self._controller(
            "ReplicaSet", f"{work.name}-{self._hash}", {**counts, "fullyLabeledReplicas": running}, owner
        )

    def _controller(self, kind: str, name: str, status: Body, owner: Body | None = None) -> Body:
        work = self.work
        extra = {"pod-template-hash": self._hash} if kind == "ReplicaSet" else {}
        labels = {**work.selector, **extra}
        replicas = {} if kind == "DaemonSet" else {"replicas": work.replicas}
        return {
            "apiVersion": "apps/v1",
            "kind": kind,
            "metadata": self.scene.meta(
                kind, name, work.namespace, labels=labels, owner=owner, generation=1, annotations=_revision(kind)
            ),
            "spec": {
                **replicas,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": Template.of(work, {}, self._hash).spec},
                **({"serviceName": name} if kind == "StatefulSet" else {}),
            },
            "status": status,
        }

    def _daemon_status(self, running: int) -> Body:
        return {
            "currentNumberScheduled": running,
            "desiredNumberScheduled": running,
            "numberAvailable": running,
            "numberMisscheduled": 0,
            "numberReady": running,
            "observedGeneration": 1,
            "updatedNumberScheduled": running,
        }


def _revision(kind: str) -> dict[str, str]:
    name = {"DaemonSet": "deprecated.daemonset.template.generation"}.get(kind, "deployment.kubernetes.io/revision")
    return {} if kind == "StatefulSet" else {name: "1"}


def _condition(name: str, reason: str, text: str, since: str) -> Body:
    return {
        "type": name,
        "status": "True",
        "lastUpdateTime": since,
        "lastTransitionTime": since,
        "reason": reason,
        "message": text,
    }
