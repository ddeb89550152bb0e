"""Recordings with their fault fixed by hand and the affected workloads running again.

The recorded events are kept, including the kubelet's about pods that no longer exist.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from sandbox.blueprint.inside.settle import is_ready
from tests.cloud_opsbench.recording import Body, Recorded, load
from tests.running_well.cluster import Running

AGO = timedelta(minutes=4)
"""How long the fixed workload has been running."""
_FOLLOWS = ("Pod", "ReplicaSet", "EndpointSlice", "Endpoints")


def repaired(name: str) -> Recorded:
    """The recording, as of a few minutes after the fix."""
    recorded = load(name)
    objects = copy.deepcopy(list(recorded.objects))
    REPAIRS[name](objects)
    return replace(recorded, objects=tuple(_running(recorded, objects)), stopped=())


def _running(recorded: Recorded, objects: list[Body]) -> Iterator[Body]:
    """Keep unchanged running workloads and recreate the others, as their controllers would."""
    deployments = [one for one in objects if one["kind"] == "Deployment"]
    before = {one["metadata"]["name"]: one["spec"] for one in recorded.objects if one["kind"] == "Deployment"}
    pods = [one for one in objects if one["kind"] == "Pod"]
    again = [
        one
        for one in deployments
        if one["spec"] != before[one["metadata"]["name"]]
        or not all(is_ready(pod) for pod in _of(one, pods))
        or len(_of(one, pods)) < one["spec"].get("replicas", 1)
    ]
    names = {one["metadata"]["name"] for one in again}
    left = [one for one in objects if one["kind"] in ("Pod", "ReplicaSet") and not _made_by(one, names)]
    rest = [one for one in objects if one["kind"] not in (*_FOLLOWS, "Deployment", "Service")]
    nodes = [one["metadata"]["name"] for one in objects if one["kind"] == "Node"]
    services = [one for one in objects if one["kind"] == "Service"]
    stays = [one for one in deployments if one["metadata"]["name"] not in names]
    yield from (*rest, *left, *stays)
    standing = [one for one in left if one["kind"] == "Pod" and is_ready(one)]
    yield from Running(nodes, recorded.at, AGO).objects([*again, *services], standing)


def _of(deployment: Body, pods: Sequence[Body]) -> list[Body]:
    return [pod for pod in pods if _made_by(pod, {deployment["metadata"]["name"]})]


def _made_by(made: Body, names: set[str]) -> bool:
    """Whether a ReplicaSet, or its pod, belongs to one of these Deployments."""
    owners = [one["name"] for one in made["metadata"].get("ownerReferences", ())]
    return any(owner in names or owner.rpartition("-")[0] in names for owner in owners)


def _named(objects: Sequence[Body], kind: str, name: str) -> Any:
    return next(one for one in objects if one["kind"] == kind and one["metadata"]["name"] == name)


def _container(objects: Sequence[Body], deployment: str) -> Any:
    return _named(objects, "Deployment", deployment)["spec"]["template"]["spec"]["containers"][0]


def _image(objects: list[Body]) -> None:
    container = _container(objects, "adservice")
    container["image"] = container["image"].removesuffix("x")


def _selector(objects: list[Body]) -> None:
    _named(objects, "Service", "redis-cart")["spec"]["selector"] = {"app": "redis-cart"}


def _target_port(objects: list[Body]) -> None:
    _named(objects, "Service", "checkoutservice")["spec"]["ports"][0]["targetPort"] = "grpc"


def _probe(objects: list[Body]) -> None:
    _container(objects, "paymentservice")["livenessProbe"]["grpc"]["port"] = 50051


def _quota(objects: list[Body]) -> None:
    quota = _named(objects, "ResourceQuota", "pod-count-quota")
    quota["spec"]["hard"]["pods"] = "20"
    quota["status"] = {"hard": {"pods": "20"}, "used": {"pods": "11"}}


def _uncordon(objects: list[Body]) -> None:
    spec = _named(objects, "Node", "worker-02")["spec"]
    del spec["unschedulable"], spec["taints"]


def _address(objects: list[Body]) -> None:
    _container(objects, "cartservice")["env"][0]["value"] = "redis-cart:6379"


def _kube_proxy(_: list[Body]) -> None:
    """kube-proxy was restarted on its node: `repaired` has no stopped units."""


def _service_account(objects: list[Body]) -> None:
    spec = _named(objects, "Deployment", "shippingservice")["spec"]["template"]["spec"]
    spec["serviceAccountName"] = "shippingservice"


def _memory(objects: list[Body]) -> None:
    _container(objects, "paymentservice")["resources"] = {
        "requests": {"cpu": "100m", "memory": "64Mi"},
        "limits": {"cpu": "200m", "memory": "128Mi"},
    }


def _replicas(objects: list[Body]) -> None:
    _named(objects, "Deployment", "ts-contacts-service")["spec"]["replicas"] = 1


def _route(objects: list[Body]) -> None:
    data = _named(objects, "ConfigMap", "ts-gateway-service-config")["data"]
    lines = data["application.yml"].splitlines()
    at = lines.index("        - id: order")
    lines[at + 1] = "          uri: lb://ts-order-service"
    data["application.yml"] = "\n".join(lines)


REPAIRS: dict[str, Callable[[list[Body]], None]] = {
    "boutique-startup-14": _image,
    "boutique-service-37": _selector,
    "boutique-service-17": _target_port,
    "boutique-runtime-13": _probe,
    "boutique-admission-33": _quota,
    "boutique-scheduling-13": _uncordon,
    "boutique-service-1": _address,
    "boutique-infrastructure-12": _kube_proxy,
    "boutique-admission-11": _service_account,
    "boutique-runtime-27": _memory,
    "trainticket-runtime-18": _replicas,
    "trainticket-service-1": _route,
}
