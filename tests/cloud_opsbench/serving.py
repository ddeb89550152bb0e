"""Serves a recording as a healthy AKS cluster: Azure's responses, AKS's own pods, and the sandbox's API server."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl

from azure.core.rest import AsyncHttpResponse, HttpRequest

from handlers.clients.access import AzureAccess
from handlers.clients.arm.reader import ArmReader
from handlers.clients.kube.access import KubeAccess
from handlers.clients.kube.reader import KubeReader
from handlers.clients.kube.recorded import PREFIX
from handlers.clients.response import SeenResponse
from handlers.engine.run import Engine
from handlers.model import Diagnosis, Target
from handlers.resource_id import ResourceId
from sandbox.kube import answers as kube
from sandbox.kube import place
from sandbox.kube.access import Access
from sandbox.kube.api import Api
from sandbox.kube.pages import Pages
from sandbox.kube.world import ADMINISTRATORS, KubeWorld, Usage
from tests.cloud_opsbench.recording import Body, Recorded, Score
from tests.handlers.diagnose.bodies import CLUSTER, scale_set_id
from tests.handlers.diagnose.wire import GRAPH, LIBRARY, Azure
from tests.transports import Answers

_USER = kube.User("reader", (ADMINISTRATORS, "system:authenticated"))
_OWN = (("coredns", "Deployment", 2), ("metrics-server", "Deployment", 2), ("konnectivity-agent", "Deployment", 2))
_EACH = ("kube-proxy", "csi-azuredisk-node")


class Served(Answers):
    """Azure as wire bodies, and Kubernetes from the sandbox's API server."""

    def __init__(self, azure: Azure, world: KubeWorld, at: datetime) -> None:
        super().__init__(azure.answer, at)
        self.access = Access(world)
        self._api = Api(world, self.access, Pages(world))
        self._at = at

    async def send(self, request: HttpRequest, **options: Any) -> AsyncHttpResponse:
        target = request.url.removeprefix(PREFIX)
        if target == request.url or not target.partition("?")[0]:
            return await super().send(request, **options)
        path, _, text = target.partition("?")
        query = dict(parse_qsl(text, keep_blank_values=True))
        content = request.content
        body = content.encode() if isinstance(content, str) else content or b""
        where = place.parse(request.method, path, query)
        call = kube.Call(request.method, where, query, "application/json", "application/json", body, _USER)
        try:
            answer = self._api.answer(call)
        except kube.Refusal as refusal:
            answer = refusal.answer
        headers = {**answer.headers, "content-type": answer.content_type}
        return SeenResponse(request, answer.status, headers, answer.to_bytes(), taken_at=self._at)


async def diagnosed(recorded: Recorded) -> Score:
    """The diagnosis of a recording by all diagnostics together."""
    diagnosis = await _asked(Served(_azure(recorded), _world(recorded), recorded.at), recorded)
    return Score(recorded, diagnosis)


async def _asked(transport: Served, recorded: Recorded) -> Diagnosis:
    target = Target(ResourceId.parse(CLUSTER), recorded.at)
    async with (
        ArmReader(AzureAccess(), transport=transport) as arm,
        KubeReader(target, arm, KubeAccess(), transport=transport) as reader,
    ):
        return await Engine(GRAPH, LIBRARY.explains).diagnose(target, {ArmReader: arm, KubeReader: reader})


def _nodes(recorded: Recorded) -> list[Body]:
    return [one for one in recorded.objects if one["kind"] == "Node"]


def _azure(recorded: Recorded) -> Azure:
    azure = Azure()
    azure.pool("apps", count=len(_nodes(recorded)))
    return azure


def _world(recorded: Recorded) -> KubeWorld:
    logs = {
        f"{recorded.namespace}/{pod}/{container}": "".join(f"{line}\n" for line in _lines(lines))
        for pod, by_container in recorded.logs.items()
        for container, lines in by_container.items()
    }
    objects = [one for one in copy.deepcopy(recorded.objects) if one["kind"] not in ("Node", "PodMetrics")]
    objects = [*_machines(recorded), *_namespaces(recorded), *_of_aks(recorded), *objects]
    measured = [one for one in recorded.objects if one["kind"] == "PodMetrics"]
    used = {f"{one['metadata']['namespace']}/{one['metadata']['name']}": _used(one) for one in measured}
    usage = Usage(pods=used) if used else Usage()
    return KubeWorld.of(objects, logs=logs, clock=lambda: recorded.at, controllers=False, usage=usage)


def _used(metrics: Body) -> Any:
    return {one["name"]: one["usage"] for one in metrics["containers"]}


def _lines(told: list[str] | str) -> list[str]:
    return told.splitlines() if isinstance(told, str) else told


def _namespaces(recorded: Recorded) -> Iterator[Body]:
    for name in {one["metadata"].get("namespace") for one in recorded.objects} - {None, "default", "kube-system"}:
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}, "status": {"phase": "Active"}}


def _machines(recorded: Recorded) -> Iterator[Body]:
    """The recorded nodes as VMs of a node pool; kubelets of Ready nodes have a recent heartbeat."""
    for number, one in enumerate(copy.deepcopy(_nodes(recorded))):
        name = one["metadata"]["name"]
        one["metadata"].setdefault("labels", {}).update({"agentpool": "apps", "kubernetes.azure.com/agentpool": "apps"})
        one["spec"]["providerID"] = f"azure://{scale_set_id('apps')}/virtualMachines/{number}"
        one["status"].setdefault("nodeInfo", {})["kubeletVersion"] = "v1.33.6"
        yield one
        ready: Body = next((row for row in one["status"]["conditions"] if row["type"] == "Ready"), {})
        renewed = recorded.at.isoformat() if ready.get("status") == "True" else ready.get("lastHeartbeatTime")
        yield {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": name, "namespace": "kube-node-lease"},
            "spec": {"holderIdentity": name, "renewTime": renewed},
        }


def _of_aks(recorded: Recorded) -> Iterator[Body]:
    """AKS's own pods. A systemd unit that was stopped on a node is shown as a pod not running there."""
    nodes = _nodes(recorded)
    names = [one["metadata"]["name"] for one in nodes]
    well = [one["metadata"]["name"] for one in nodes if _is_ready(one)] or names
    stopped = {(unit, node) for node, unit in recorded.stopped}
    for name, kind, count in _OWN:
        yield _controller(kind, name, count, recorded.at, 0)
        for number in range(count):
            yield _pod(name, "ReplicaSet", f"{name}-5f7d8c9b4d", well[number % len(well)], recorded.at, runs=True)
    for name in _EACH:
        down = sum((name, node) in stopped for node in names)
        yield _controller("DaemonSet", name, len(names), recorded.at, down)
        for node in names:
            runs = (name, node) not in stopped
            yield _pod(name, "DaemonSet", name, node, recorded.at, runs=runs)
    yield from _api_service(recorded.at)


def _is_ready(node: Body) -> bool:
    return any(row["type"] == "Ready" and row["status"] == "True" for row in node["status"]["conditions"])


def _controller(kind: str, name: str, count: int, at: datetime, down: int) -> Body:
    ready = count - down
    counts = {"replicas": count, "readyReplicas": ready, "availableReplicas": ready, "updatedReplicas": count}
    if kind == "DaemonSet":
        counts = {"desiredNumberScheduled": count, "currentNumberScheduled": count, "numberReady": ready}
    labels = {"k8s-app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "kube-system", "generation": 1, "creationTimestamp": _days_ago(at)},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": name, "image": name}]}},
            **({"replicas": count} if kind == "Deployment" else {}),
        },
        "status": {"observedGeneration": 1, **counts},
    }


def _pod(name: str, kind: str, owner: str, node: str, at: datetime, *, runs: bool) -> Body:
    since = _days_ago(at)
    waiting = {"waiting": {"reason": "CrashLoopBackOff", "message": f"back-off 5m0s restarting failed {name}"}}
    ended = {"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": at.isoformat(), "startedAt": since}}
    status: Body = {
        "name": name,
        "image": f"mcr.microsoft.com/oss/kubernetes/{name}:v1",
        "ready": runs,
        "restartCount": 0 if runs else 12,
        "state": {"running": {"startedAt": since}} if runs else waiting,
    }
    if not runs:
        status["lastState"] = ended
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{owner}-{node[-5:]}{abs(hash(node)) % 97}",
            "namespace": "kube-system",
            "creationTimestamp": since,
            "labels": {"app": name, "k8s-app": name, "component": name},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": kind, "name": owner, "controller": True}],
        },
        "spec": {
            "nodeName": node,
            "containers": [{"name": name, "image": status["image"]}],
            "tolerations": [{"operator": "Exists"}],
        },
        "status": {
            "phase": "Running",
            "conditions": [
                {"type": "PodScheduled", "status": "True", "lastTransitionTime": since},
                {"type": "Ready", "status": str(runs), "lastTransitionTime": since},
            ],
            "containerStatuses": [status],
        },
    }


def _api_service(at: datetime) -> Iterator[Body]:
    metadata = {"name": "kubernetes", "namespace": "default", "creationTimestamp": _days_ago(at)}
    port = {"name": "https", "port": 443, "protocol": "TCP", "targetPort": 443}
    yield {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata,
        "spec": {"clusterIP": "10.0.0.1", "ports": [port]},
    }
    labels = {"kubernetes.io/service-name": "kubernetes"}
    yield {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {**metadata, "labels": labels},
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["20.101.44.17"], "conditions": {"ready": True}}],
        "ports": [{"name": "https", "port": 443, "protocol": "TCP"}],
    }


def _days_ago(at: datetime) -> str:
    return at.replace(day=1).isoformat()
