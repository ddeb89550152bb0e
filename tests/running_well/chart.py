"""Compact manifests modeled on well-known charts: `name` stands for metadata, `pod` for a template's spec.

Each comes with the usual noise of such an application: probes that failed at the start, a pod that had to wait for
its claim, a container that was restarted because its database was not ready yet, and its log.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import yaml

from sandbox.kube.world import KubeWorld, stamp
from tests.running_well.cluster import CONTROLLERS, Body, Running

FOLDER = Path(__file__).parent / "charts"
NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))
_VERSIONS = {
    **dict.fromkeys(("Deployment", "StatefulSet", "DaemonSet"), "apps/v1"),
    "Job": "batch/v1",
    "Ingress": "networking.k8s.io/v1",
    "IngressClass": "networking.k8s.io/v1",
    "NetworkPolicy": "networking.k8s.io/v1",
    "PodDisruptionBudget": "policy/v1",
    "HorizontalPodAutoscaler": "autoscaling/v2",
    "ValidatingWebhookConfiguration": "admissionregistration.k8s.io/v1",
    "MutatingWebhookConfiguration": "admissionregistration.k8s.io/v1",
}
_OF_THE_CLUSTER = ("IngressClass", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "Namespace")
_SHORT = ("name", "namespace", "labels", "pod", "replicas", "claims", "says", "restarted")


@dataclass(frozen=True, slots=True)
class Chart:
    """The objects and container logs of one chart in a cluster in which it is healthy."""

    namespace: str
    objects: tuple[Body, ...]
    logs: dict[str, str]

    def into(self, kube: KubeWorld) -> None:
        for one in self.objects:
            kube.put(one)
        kube.logs |= self.logs

    @property
    def pods(self) -> list[Body]:
        return [one for one in self.objects if one["kind"] == "Pod" and one["status"]["phase"] == "Running"]


def load(name: str, nodes: Sequence[str], at: datetime) -> Chart:
    body = yaml.safe_load((FOLDER / f"{name}.yaml").read_text())
    short: list[Body] = body["objects"]
    namespace = body["namespace"]
    manifests = [_whole(one, namespace) for one in short]
    objects = Running(nodes, at).objects([*_around(namespace, manifests), *manifests])
    pods = [one for one in objects if one["kind"] == "Pod"]
    for one in (one for one in short if one.get("restarted")):
        for pod in _pods_of(one, pods):
            _started_again(pod, at)
    events = [event for pod in pods for event in _events(pod, at)]
    logs = {key: text for one in short for key, text in _logs(one, pods)}
    return Chart(namespace, (*objects, *events), logs)


def _whole(short: Body, namespace: str) -> Body:
    """Expand one compact manifest."""
    kind, labels = short["kind"], short.get("labels", {"app": short["name"]})
    metadata = {"name": short["name"]}
    if kind not in _OF_THE_CLUSTER:
        metadata["namespace"] = short.get("namespace", namespace)
    rest = {key: value for key, value in short.items() if key not in _SHORT}
    made = {"apiVersion": _VERSIONS.get(kind, "v1"), **rest, "metadata": metadata}
    if kind in CONTROLLERS:
        made["spec"] = {"template": {"metadata": {"labels": labels}, "spec": short["pod"]}}
    if kind in ("Deployment", "StatefulSet", "DaemonSet"):
        made["spec"]["selector"] = {"matchLabels": labels}
    if kind in ("Deployment", "StatefulSet"):
        made["spec"]["replicas"] = short.get("replicas", 1)
    if "claims" in short:
        made["spec"]["volumeClaimTemplates"] = [_claim(one) for one in short["claims"]]
    return made


def _claim(short: Body) -> Body:
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": short["storage"]}}}
    return {"metadata": {"name": short["name"]}, "spec": {**wanted, "storageClassName": "default"}}


def _around(namespace: str, manifests: Sequence[Body]) -> Iterator[Body]:
    """The namespace, and the service accounts that pods name."""
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}, "status": {"phase": "Active"}}
    specs = [one["spec"]["template"]["spec"] for one in manifests if one["kind"] in CONTROLLERS]
    for name in dict.fromkeys(["default", *(spec.get("serviceAccountName", "default") for spec in specs)]):
        yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": namespace}}


def _pods_of(short: Body, pods: Sequence[Body]) -> list[Body]:
    labels = short.get("labels", {"app": short["name"]}).items()
    return [pod for pod in pods if labels <= pod["metadata"]["labels"].items()]


def _started_again(pod: Body, at: datetime) -> None:
    ended = {"exitCode": 1, "reason": "Error", "finishedAt": stamp(at - timedelta(minutes=24))}
    ended["startedAt"] = stamp(at - timedelta(minutes=24, seconds=20))
    for status in pod["status"]["containerStatuses"]:
        status |= {"restartCount": 1, "lastState": {"terminated": ended}}


def _events(pod: Body, at: datetime) -> Iterator[Body]:
    """Events from the kubelet and the scheduler during its start."""
    if pod["spec"].get("volumes"):
        waited = "0/14 nodes are available: pod has unbound immediate PersistentVolumeClaims."
        yield _event(pod, "FailedScheduling", waited, at - timedelta(minutes=19))
    if pod["status"]["phase"] == "Running":
        refused = f"Readiness probe failed: dial tcp {pod['status']['podIP']}:8080: connect: connection refused"
        yield _event(pod, "Unhealthy", refused, at - timedelta(minutes=18))


def _event(pod: Body, reason: str, message: str, last: datetime) -> Body:
    metadata = pod["metadata"]
    about = {"kind": "Pod", "name": metadata["name"], "namespace": metadata["namespace"], "uid": metadata["uid"]}
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{metadata['name']}.{reason.lower()}", "namespace": metadata["namespace"]},
        "type": "Warning",
        "reason": reason,
        "message": message,
        "count": 2,
        "firstTimestamp": stamp(last),
        "lastTimestamp": stamp(last),
        "involvedObject": {"apiVersion": "v1", **about},
    }


def _logs(short: Body, pods: Sequence[Body]) -> Iterator[tuple[str, str]]:
    for pod in _pods_of(short, pods) if "says" in short else ():
        metadata = pod["metadata"]
        for container in pod["spec"]["containers"]:
            key = f"{metadata['namespace']}/{metadata['name']}/{container['name']}"
            yield key, "".join(f"{line}\n" for line in short["says"])
