"""Simulates a healthy cluster that runs manifests: ReplicaSets, Ready pods, endpoints, bound claims."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count, cycle
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from sandbox.kube.world import stamp

Body = dict[str, Any]

CONTROLLERS = ("Deployment", "StatefulSet", "DaemonSet", "Job")


@dataclass
class Running:
    """Runs manifests on nodes: installed `ago`, Ready a minute later."""

    nodes: Sequence[str]
    at: datetime
    ago: timedelta = timedelta(minutes=25)
    addresses: Iterator[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self._turns = cycle(self.nodes)

    def objects(self, manifests: Sequence[Body], standing: Sequence[Body] = ()) -> list[Body]:
        """The manifests with status, and the objects their controllers create. Services also select pods that already
        exist."""
        given = copy.deepcopy(list(manifests))
        for one in given:
            self._born(one)
        made = [item for one in given if one["kind"] in CONTROLLERS for item in self._controlled(one)]
        pods = [*standing, *(one for one in made if one["kind"] == "Pod")]
        slices = [self._slice(one, pods) for one in given if one["kind"] == "Service" and one["spec"].get("selector")]
        for one in (one for one in given if one["kind"] == "PodDisruptionBudget"):
            one["status"] = _budget(one, pods)
        return [*given, *made, *slices]

    @property
    def _since(self) -> datetime:
        return self.at - self.ago

    @property
    def _ready(self) -> str:
        return stamp(self._since + timedelta(minutes=1))

    def _born(self, body: Body) -> None:
        metadata = body["metadata"]
        metadata.setdefault("uid", _uid(body))
        metadata.setdefault("creationTimestamp", stamp(self._since))
        metadata.setdefault("generation", 1)

    # -- controllers --

    def _controlled(self, body: Body) -> Iterator[Body]:
        """The objects created by one controller, whose status is updated."""
        kind, spec = body["kind"], body["spec"]
        template = spec["template"]
        owner = self._replica_set(body) if kind == "Deployment" else body
        if owner is not body:
            yield owner
        names = list(self._names(body, owner))
        for number, name in enumerate(names):
            yield from self._claims(body, number)
            yield self._pod(name, body, owner, template, next(self._turns), number)
        self._count(body, owner, len(names))

    def _names(self, body: Body, owner: Body) -> Iterator[str]:
        kind, name = body["kind"], body["metadata"]["name"]
        wanted = len(self.nodes) if kind == "DaemonSet" else body["spec"].get("replicas", 1)
        for number in range(1 if kind == "Job" else wanted):
            end = _short(f"{name} {number}")[:5]
            yield f"{name}-{number}" if kind == "StatefulSet" else f"{owner['metadata']['name']}-{end}"

    def _replica_set(self, body: Body) -> Body:
        metadata, spec = body["metadata"], body["spec"]
        mark = _short(metadata["name"] + str(spec["template"]))
        labels = {**spec["template"]["metadata"]["labels"], "pod-template-hash": mark}
        template = {**spec["template"], "metadata": {"labels": labels}}
        replica_set = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {
                "name": f"{metadata['name']}-{mark}",
                "namespace": metadata["namespace"],
                "labels": labels,
                "ownerReferences": [_reference(body)],
            },
            "spec": {**spec, "selector": {"matchLabels": labels}, "template": template},
        }
        self._born(replica_set)
        return replica_set

    def _count(self, body: Body, owner: Body, wanted: int) -> None:
        counts = {"replicas": wanted, "readyReplicas": wanted, "availableReplicas": wanted, "observedGeneration": 1}
        match body["kind"]:
            case "DaemonSet":
                kinds = ("desiredNumberScheduled", "currentNumberScheduled", "numberReady", "numberAvailable")
                body["status"] = {**dict.fromkeys(kinds, wanted), "numberMisscheduled": 0, "observedGeneration": 1}
            case "Job":
                body["status"] = {"succeeded": 1, "conditions": [self._condition("Complete")]}
            case "Deployment":
                rolled_out = self._condition("Progressing") | {"lastUpdateTime": self._ready}
                conditions = [self._condition("Available"), rolled_out | {"reason": "NewReplicaSetAvailable"}]
                if not wanted:  # all replicas exist at once
                    conditions = [{**one, "lastTransitionTime": stamp(self._since)} for one in conditions]
                body["status"] = {**counts, "updatedReplicas": wanted, "conditions": conditions}
                owner["status"] = counts
            case _:
                body["status"] = {**counts, "updatedReplicas": wanted, "currentReplicas": wanted}

    def _condition(self, kind: str) -> Body:
        return {"type": kind, "status": "True", "lastTransitionTime": self._ready}

    # -- pods --

    def _pod(self, name: str, body: Body, owner: Body, template: Body, node: str, number: int) -> Body:
        metadata, done = body["metadata"], body["kind"] == "Job"
        node = self.nodes[number] if body["kind"] == "DaemonSet" else node
        spec = copy.deepcopy(template["spec"])
        spec |= {"nodeName": node, "restartPolicy": spec.get("restartPolicy", "Always")}
        for claim in body["spec"].get("volumeClaimTemplates", ()):
            source = {"claimName": f"{claim['metadata']['name']}-{metadata['name']}-{number}"}
            spec["volumes"] = [
                *spec.get("volumes", ()),
                {"name": claim["metadata"]["name"], "persistentVolumeClaim": source},
            ]
        address = next(self.addresses)
        labels = dict(owner["spec"]["template"]["metadata"].get("labels", {}))
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": metadata["namespace"],
                "labels": labels,
                "ownerReferences": [_reference(owner)],
            },
            "spec": spec,
            "status": {
                "phase": "Succeeded" if done else "Running",
                "podIP": f"10.240.{address // 250}.{address % 250 + 1}",
                "conditions": [
                    self._condition("PodScheduled"),
                    self._condition("Initialized"),
                    {**self._condition("Ready"), "status": str(not done)},
                ],
                "initContainerStatuses": [
                    self._status(one, done=one.get("restartPolicy") != "Always")
                    for one in spec.get("initContainers", ())
                ],
                "containerStatuses": [self._status(one, done=done) for one in spec["containers"]],
            },
        }
        if body["kind"] == "StatefulSet":
            pod["metadata"]["labels"] |= {"statefulset.kubernetes.io/pod-name": name}
        self._born(pod)
        return pod

    def _status(self, container: Body, *, done: bool) -> Body:
        ended = {"exitCode": 0, "reason": "Completed", "startedAt": stamp(self._since), "finishedAt": self._ready}
        state = {"terminated": ended} if done else {"running": {"startedAt": self._ready}}
        return {
            "name": container["name"],
            "image": container["image"],
            "imageID": "",
            "ready": not done,
            "restartCount": 0,
            "started": not done,
            "state": state,
            "lastState": {},
        }

    def _claims(self, body: Body, number: int) -> Iterator[Body]:
        """The bound claims of one StatefulSet pod, with their volumes."""
        namespace, name = body["metadata"]["namespace"], body["metadata"]["name"]
        for template in body["spec"].get("volumeClaimTemplates", ()):
            claim = f"{template['metadata']['name']}-{name}-{number}"
            volume = f"pvc-{uuid5(NAMESPACE_URL, f'{namespace}/{claim}')}"
            size = template["spec"]["resources"]["requests"]["storage"]
            modes = template["spec"].get("accessModes", ["ReadWriteOnce"])
            bound = {"phase": "Bound", "accessModes": modes, "capacity": {"storage": size}}
            made = {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {"name": claim, "namespace": namespace},
                "spec": {**template["spec"], "volumeName": volume},
                "status": bound,
            }
            self._born(made)
            yield made
            yield {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": volume, "uid": volume[4:], "creationTimestamp": stamp(self._since)},
                "spec": {
                    "capacity": {"storage": size},
                    "accessModes": modes,
                    "storageClassName": template["spec"].get("storageClassName", "default"),
                    "claimRef": {"kind": "PersistentVolumeClaim", "namespace": namespace, "name": claim},
                    "csi": {"driver": "disk.csi.azure.com", "volumeHandle": volume},
                },
                "status": {"phase": "Bound"},
            }

    # -- services --

    def _slice(self, service: Body, pods: Sequence[Body]) -> Body:
        metadata, spec = service["metadata"], service["spec"]
        behind = [
            pod
            for pod in pods
            if pod["metadata"]["namespace"] == metadata["namespace"]
            and pod["status"]["phase"] == "Running"
            and spec["selector"].items() <= pod["metadata"].get("labels", {}).items()
        ]
        ports = [_endpoint_port(port, behind[0]) for port in spec.get("ports", ())] if behind else []
        made = {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {
                "name": f"{metadata['name']}-{_short(metadata['name'])[:5]}",
                "namespace": metadata["namespace"],
                "labels": {"kubernetes.io/service-name": metadata["name"]},
            },
            "addressType": "IPv4",
            "endpoints": [_endpoint(pod) for pod in behind],
            "ports": ports,
        }
        self._born(made)
        return made


def _endpoint(pod: Body) -> Body:
    target = {"kind": "Pod", "namespace": pod["metadata"]["namespace"], "name": pod["metadata"]["name"]}
    return {
        "addresses": [pod["status"]["podIP"]],
        "conditions": {"ready": True, "serving": True, "terminating": False},
        "nodeName": pod["spec"]["nodeName"],
        "targetRef": target | {"uid": pod["metadata"].get("uid", "")},
    }


def _endpoint_port(port: Body, pod: Body) -> Body:
    wanted = port.get("targetPort", port["port"])
    named = {one.get("name"): one["containerPort"] for box in pod["spec"]["containers"] for one in box.get("ports", ())}
    number = wanted if isinstance(wanted, int) else named[wanted]
    return {"name": port.get("name", ""), "port": number, "protocol": port.get("protocol", "TCP")}


def _budget(budget: Body, pods: Sequence[Body]) -> Body:
    wanted = budget["spec"]["selector"]["matchLabels"].items()
    healthy = sum(wanted <= pod["metadata"]["labels"].items() for pod in pods)
    least = budget["spec"].get("minAvailable", healthy - budget["spec"].get("maxUnavailable", 0))
    counts = {"currentHealthy": healthy, "expectedPods": healthy, "desiredHealthy": least, "observedGeneration": 1}
    return counts | {"disruptionsAllowed": max(0, healthy - least)}


def _reference(owner: Body) -> Body:
    metadata = owner["metadata"]
    same = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": metadata["name"]}
    return same | {"uid": metadata["uid"], "controller": True}


def _uid(body: Body) -> str:
    metadata = body["metadata"]
    return str(uuid5(NAMESPACE_URL, f"{body['kind']} {metadata.get('namespace', '')}/{metadata['name']}"))


def _short(text: str) -> str:
    return uuid5(NAMESPACE_URL, text).hex[:10]
