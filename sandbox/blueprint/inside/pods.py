"""Builds healthy pods. Parts shared by all pods of a workload are built once and never modified."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sandbox.blueprint.inside.scene import Scene
from sandbox.blueprint.inside.workload import Workload
from sandbox.blueprint.node_model import Machine
from sandbox.kube.world import stamp
from sandbox.world import Body

_PATIENT = [
    {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
    {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
]
"""The default tolerations of every pod (five minutes)."""
_ANYTHING = [{"operator": "Exists", "effect": "NoExecute"}, {"operator": "Exists", "effect": "NoSchedule"}]
_SYSTEM = [{"key": "CriticalAddonsOnly", "operator": "Exists"}]
_SPOT = [{"key": "kubernetes.azure.com/scalesetpriority", "operator": "Equal", "value": "spot", "effect": "NoSchedule"}]
_PRIORITIES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}


@dataclass(frozen=True)
class Template:
    """The parts shared by all pods of one workload."""

    namespace: str
    labels: Body
    owner: Body
    container: str
    image: str
    spec: Body

    @classmethod
    def of(cls, work: Workload, owner: Body, template_hash: str) -> Template:
        own = {"pod-template-hash": template_hash} if work.kind == "Deployment" else {}
        own = {"controller-revision-hash": template_hash} if work.kind != "Deployment" else own
        spec: Body = {
            "containers": [_container(work)],
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 30,
            "dnsPolicy": "ClusterFirst",
            "serviceAccountName": work.name if work.namespace == "kube-system" else "default",
            "schedulerName": "default-scheduler",
            "nodeSelector": {"kubernetes.io/os": "windows" if work.group == "windows" else "linux"},
            "tolerations": _tolerations(work),
            "enableServiceLinks": True,
            "preemptionPolicy": "PreemptLowerPriority",
            "priority": _PRIORITIES.get(work.priority, 0),
        }
        if work.priority:
            spec["priorityClassName"] = work.priority
        if work.on_host:
            spec["hostNetwork"] = True
        return cls(work.namespace, {**work.selector, **own}, owner, work.name, work.image, spec)


def pod_body(scene: Scene, template: Template, name: str, machine: Machine, address: str) -> Body:
    """A pod that started with its node and has been running since."""
    jitter = timedelta(seconds=scene.mint.number(20, 900, template.namespace, name, "start"))
    born = max(scene.rolled, machine.born) + jitter
    ready = stamp(min(born + timedelta(seconds=9), scene.clock.now))
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": scene.meta(
            "Pod",
            name,
            template.namespace,
            born=born,
            labels=template.labels,
            owner=template.owner,
            generateName=f"{name.rsplit('-', 1)[0]}-",
        ),
        "spec": {**template.spec, "nodeName": machine.name},
        "status": {
            "phase": "Running",
            "conditions": [
                _condition(kind, stamp(born) if kind == "PodScheduled" else ready)
                for kind in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
            ],
            "hostIP": machine.address,
            "hostIPs": [{"ip": machine.address}],
            "podIP": address,
            "podIPs": [{"ip": address}],
            "startTime": stamp(born),
            "containerStatuses": [_running(scene, template, name, ready)],
            "qosClass": "Burstable",
        },
    }


def _running(scene: Scene, template: Template, name: str, since: str) -> Body:
    return {
        "name": template.container,
        "state": {"running": {"startedAt": since}},
        "lastState": {},
        "ready": True,
        "restartCount": 0,
        "image": template.image,
        "imageID": f"{template.image.split(':', 1)[0]}@sha256:{scene.mint.hex(64, template.image)}",
        "containerID": f"containerd://{scene.mint.hex(64, scene.cluster, template.namespace, name)}",
        "started": True,
    }


def _condition(kind: str, since: str) -> Body:
    return {"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": since}


def _container(work: Workload) -> Body:
    return {
        "name": work.name,
        "image": work.image,
        "imagePullPolicy": "IfNotPresent",
        "resources": {
            "requests": {"cpu": work.cpu, "memory": work.memory},
            "limits": {"memory": work.limit},
        },
        **({"ports": [{"name": "main", "containerPort": work.port, "protocol": "TCP"}]} if work.port else {}),
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    }


def _tolerations(work: Workload) -> list[Body]:
    if work.kind == "DaemonSet":
        return _ANYTHING
    if work.group == "system":
        return [*_SYSTEM, *_PATIENT]
    return [*(_SPOT if work.group == "spot" else ()), *_PATIENT]
