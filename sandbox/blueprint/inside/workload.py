"""A workload and the objects that it consists of: its controllers, its pods, its budget and its service."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

from sandbox.blueprint.inside.pods import Template, pod_body
from sandbox.blueprint.inside.scene import Scene
from sandbox.blueprint.inside.seats import Seats
from sandbox.kube.world import stamp
from sandbox.world import Body

Kind = Literal["Deployment", "StatefulSet", "DaemonSet"]


@dataclass(frozen=True)
class Workload:
    """What somebody runs, in a few words."""

    namespace: str
    name: str
    image: str
    kind: Kind = "Deployment"
    replicas: int = 1
    group: str = "apps"
    """Which nodes its pods go to (see seats.py)."""
    labels: Mapping[str, str] = field(default_factory=dict)
    cpu: str = "50m"
    memory: str = "64Mi"
    limit: str = "256Mi"
    priority: str = ""
    on_host: bool = False
    budget: Mapping[str, int | str] | None = None
    """The spec of its PodDisruptionBudget, but for the selector."""
    budget_name: str = ""
    port: int | None = None

    @property
    def selector(self) -> Mapping[str, str]:
        return self.labels or {"app": self.name}


@dataclass
class Crew:
    """Puts one workload into a cluster."""

    scene: Scene
    seats: Seats
    work: Workload
    addresses: list[tuple[str, Body]] = field(default_factory=list)
    """Address and pod of each that may be served from."""

    def bodies(self) -> Iterator[Body]:
        pods = list(self._pods())
        yield from self._controllers(len(pods))
        yield from pods
        if self.work.budget is not None:
            yield self._budget(len(pods))
        if self.work.port:
            yield from self._service(self.work.port)

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
        """What marks the pods of one template."""
        return self.scene.suffix(10, self.work.namespace, self.work.name, "template")

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

    # -- budget and service --

    def _budget(self, running: int) -> Body:
        work, spec = self.work, self.work.budget or {}
        needed = needed_by(spec, running)
        allowed = max(0, running - needed)
        told = stamp(self.scene.rolled + timedelta(minutes=3))
        reason = "SufficientPods" if allowed else "InsufficientPods"
        return {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": self.scene.meta(
                "PodDisruptionBudget", work.budget_name or work.name, work.namespace, generation=1
            ),
            "spec": {**spec, "selector": {"matchLabels": dict(work.selector)}},
            "status": {
                "observedGeneration": 1,
                "disruptionsAllowed": allowed,
                "currentHealthy": running,
                "desiredHealthy": needed,
                "expectedPods": running,
                "conditions": [
                    {
                        "type": "DisruptionAllowed",
                        "status": "True" if allowed else "False",
                        "observedGeneration": 1,
                        "lastTransitionTime": told,
                        "reason": reason,
                        "message": "",
                    }
                ],
            },
        }

    def _service(self, port: int) -> Iterator[Body]:
        work, scene = self.work, self.scene
        prefix = scene.places.spec.network.service_cidr.rsplit(".", 2)[0]
        third, fourth = (scene.mint.number(1, 250, scene.cluster, work.namespace, work.name, at) for at in (0, 1))
        address = f"{prefix}.{third}.{fourth}"
        ports = [{"name": "main", "port": port, "protocol": "TCP"}]
        yield {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": scene.meta("Service", work.name, work.namespace),
            "spec": {
                "clusterIP": address,
                "clusterIPs": [address],
                "ports": [{**one, "targetPort": port} for one in ports],
                "selector": dict(work.selector),
                "sessionAffinity": "None",
                "type": "ClusterIP",
            },
            "status": {"loadBalancer": {}},
        }
        yield {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": scene.meta(
                "EndpointSlice",
                f"{work.name}-{scene.suffix(5, work.namespace, work.name, 'slice')}",
                work.namespace,
                labels={"kubernetes.io/service-name": work.name},
                owner=scene.owner("v1", "Service", work.name, work.namespace),
            ),
            "addressType": "IPv4",
            "endpoints": [_endpoint(address, pod) for address, pod in self.addresses],
            "ports": ports,
        }


def needed_by(spec: Mapping[str, int | str], running: int) -> int:
    """How many pods a budget wants to keep, as its controller reckons: percentages are rounded up."""
    if "minAvailable" in spec:
        return min(_share(spec["minAvailable"], running), running)
    return max(0, running - _share(spec["maxUnavailable"], running))


def _share(value: int | str, of: int) -> int:
    return value if isinstance(value, int) else -(-of * int(value.rstrip("%")) // 100)


def _endpoint(address: str, pod: Body) -> Body:
    metadata = pod["metadata"]
    return {
        "addresses": [address],
        "conditions": {"ready": True, "serving": True, "terminating": False},
        "nodeName": pod["spec"]["nodeName"],
        "targetRef": {
            "kind": "Pod",
            "namespace": metadata["namespace"],
            "name": metadata["name"],
            "uid": metadata["uid"],
        },
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
