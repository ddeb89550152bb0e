"""Recordings told again with other names, numbers, times and wordings: the verdict must not hang on any of them."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.cloud_opsbench.recording import Body, Recorded

Vary = Callable[[Recorded, random.Random], Recorded]
_WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "inlet", "jade", "krill", "lotus")
_NOT_RENAMED = ("gateway", "mysql", "redis", "nacos", "rabbitmq")
"""What a product or a role is known by; such a name keeps that part."""
_PER_REPLICA = (
    "quota",
    "replicas",
    "anti_affinity",
    "capacity",
    "cordon",
    "pv",
    "volume",
    "taint",
    "affinity",
    "selector",
)
"""Kinds of fault in which a second replica would be another fault."""


def told(recorded: Recorded, change: Callable[[str], str]) -> Recorded:
    """The recording with every text in it changed."""
    whole = json.dumps({"objects": recorded.objects, "logs": recorded.logs, "stopped": recorded.stopped})
    body = json.loads(change(whole))
    codes = json.loads(change(json.dumps(recorded.codes)))
    return replace(
        recorded,
        namespace=change(recorded.namespace),
        objects=tuple(body["objects"]),
        logs=body["logs"],
        stopped=tuple(body["stopped"]),
        codes=tuple(codes),
        object=change(recorded.object),
    )


def other_names(recorded: Recorded, chance: random.Random) -> Recorded:
    """Every workload and its service under another name, in every text that holds it."""
    names = {one["metadata"]["name"] for one in recorded.objects if one["kind"] in ("Deployment", "StatefulSet")}
    words = list(_WORDS)
    chance.shuffle(words)
    renamed = {name: f"{words[at % len(words)]}{at or ''}{_kept(name)}" for at, name in enumerate(sorted(names))}
    if recorded.kind == "gateway_misroute":  # there a path bears the name of its service
        renamed = {name: name.replace("ts-", "rail-") for name in names}
    longest = sorted(names, key=len, reverse=True)
    pattern = re.compile("|".join(rf"(?<![A-Za-z0-9_.-]){re.escape(name)}" for name in longest))
    return told(recorded, lambda text: pattern.sub(lambda found: renamed[found[0]], text))


def _kept(name: str) -> str:
    part = next((part for part in _NOT_RENAMED if part in name), "")
    return f"-{part}-service" if part == "gateway" else f"-{part}" if part else "service"


def other_namespace(recorded: Recorded, chance: random.Random) -> Recorded:
    pattern = re.compile(rf"(?<![A-Za-z0-9]){re.escape(recorded.namespace)}(?![A-Za-z0-9])")
    other = f"team-{chance.choice('abc')}"
    return told(recorded, lambda text: pattern.sub(other, text))


def other_addresses(recorded: Recorded, _: random.Random) -> Recorded:
    """Pods, services and nodes in other ranges."""
    moves = (("10.68.", "172.21."), ("10.244.", "100.64."), ("192.168.0.", "10.224.0."))

    def moved(text: str) -> str:
        for old, new in moves:
            text = text.replace(old, new)
        return text

    return told(recorded, moved)


def other_nodes(recorded: Recorded, _: random.Random) -> Recorded:
    """Names as AKS gives them."""
    return told(recorded, lambda text: re.sub(r"worker-0(\d)", r"aks-apps-31415926-vmss00000\1", text))


def other_hashes(recorded: Recorded, chance: random.Random) -> Recorded:
    """The parts that replica sets and pods add to a name."""
    made: dict[str, str] = {}

    def other(found: re.Match[str]) -> str:
        return made.setdefault(found[0], f"-{chance.randbytes(5).hex()[:9]}-{chance.randbytes(3).hex()[:5]}")

    return told(recorded, lambda text: re.sub(r"-[a-z0-9]{8,10}-[a-z0-9]{5}(?![a-z0-9])", other, text))


def later(minutes: int) -> Vary:
    """Looked at some minutes later, with nothing new."""

    def shifted(recorded: Recorded, _: random.Random) -> Recorded:
        return replace(recorded, at=recorded.at + timedelta(minutes=minutes))

    return shifted


def lasting(minutes: int) -> Vary:
    """Begun some minutes earlier: what Kubernetes repeats is as fresh as it was, the rest is older."""

    def aged(recorded: Recorded, _: random.Random) -> Recorded:
        objects = copy.deepcopy(list(recorded.objects))
        for one in objects:
            if one["kind"] == "Event" and int(one.get("count") or 1) > 2:
                one["firstTimestamp"] = _earlier(one.get("firstTimestamp"), minutes)
                one["count"] = int(one["count"]) + minutes
            elif one["kind"] in ("Pod", "ReplicaSet", "Deployment"):
                _age(one, minutes)
        return replace(recorded, objects=tuple(objects))

    return aged


def _age(body: Any, minutes: int) -> None:
    """Every time of an object but those at which a container of it last ended or began."""
    if isinstance(body, dict):
        for key, value in body.items():
            if key in ("creationTimestamp", "lastTransitionTime", "startTime"):
                body[key] = _earlier(value, minutes)
            elif key != "containerStatuses":
                _age(value, minutes)
    elif isinstance(body, list):
        for item in body:
            _age(item, minutes)


def _earlier(value: Any, minutes: int) -> Any:
    if not isinstance(value, str):
        return value
    moment = datetime.fromisoformat(value.replace("Z", "+00:00")) - timedelta(minutes=minutes)
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def other_images(recorded: Recorded, _: random.Random) -> Recorded:
    """From another registry, by another path."""
    objects = copy.deepcopy(list(recorded.objects))
    kinds = ("Pod", "ReplicaSet", "Deployment", "StatefulSet")
    texts = {
        box["image"]
        for one in objects
        if one["kind"] in kinds
        for spec in (one["spec"].get("template", one)["spec"],)
        for box in (*spec.get("containers", ()), *spec.get("initContainers", ()))
    }
    hosts = sorted({image.split("/")[0] for image in texts if "/" in image and "." in image.split("/")[0]})
    if "registry" in recorded.kind or "image" in recorded.kind or not hosts:
        return recorded

    def moved(text: str) -> str:
        for at, host in enumerate(hosts):
            text = text.replace(f"{host}/", f"images{at}.contoso.net/")
        return text

    return told(recorded, moved)


def beside_healthy(recorded: Recorded, _: random.Random) -> Recorded:
    """Beside an old warning, a workload that sleeps, and a policy that nobody is under, in another namespace."""
    ago = recorded.at - timedelta(minutes=50)
    space = "quiet"
    stamp = ago.strftime("%Y-%m-%dT%H:%M:%SZ")
    meta: Body = {"namespace": space, "creationTimestamp": (ago - timedelta(days=9)).strftime("%Y-%m-%dT%H:%M:%SZ")}
    spec = {
        "replicas": 0,
        "selector": {"matchLabels": {"app": "night"}},
        "template": {"metadata": {"labels": {"app": "night"}}, "spec": {"containers": [{"name": "n", "image": "n:1"}]}},
    }
    about = {"kind": "Pod", "name": "gone-5d9c7b8f6-x2x4z", "namespace": space}
    event = {"type": "Warning", "reason": "BackOff", "message": "Back-off restarting failed container", "count": 9}
    more: list[Body] = [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {**meta, "name": "night"},
            "spec": spec,
            "status": {},
        },
        {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {**meta, "name": "gone.1"},
            **event,
            "firstTimestamp": stamp,
            "lastTimestamp": stamp,
            "involvedObject": about,
        },
        {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": {**meta, "name": "deny"},
            "spec": {"podSelector": {"matchLabels": {"app": "nobody"}}, "policyTypes": ["Ingress", "Egress"]},
        },
    ]
    return replace(recorded, objects=(*recorded.objects, *more))


def without_old_events(recorded: Recorded, _: random.Random) -> Recorded:
    """Only what was said in the last ten minutes is still there."""
    since = recorded.at - timedelta(minutes=10)

    def is_kept(one: Body) -> bool:
        last = one.get("lastTimestamp") or one.get("eventTime") or one.get("firstTimestamp")
        return one["kind"] != "Event" or not last or datetime.fromisoformat(last.replace("Z", "+00:00")) >= since

    return replace(recorded, objects=tuple(filter(is_kept, recorded.objects)))


_REJECTED = 'Data source rejected establishment of connection,  message from server: "Too many connections"'
_WORDINGS: tuple[tuple[str, str], ...] = (
    (r"dial tcp ([0-9.]+):(\d+): connect: connection refused", r"connect ECONNREFUSED \1:\2"),
    (r"ConnectException: Connection refused \(Connection refused\)", "ConnectException: Connection refused"),
    (r"java\.net\.UnknownHostException: ([a-z0-9.-]+)", r"getaddrinfo ENOTFOUND \1"),
    (r"dial tcp: lookup ([a-z0-9.-]+) on [0-9.:]+: no such host", r"getaddrinfo EAI_AGAIN \1"),
    (r"(?<=Exception: )Too many connections", _REJECTED),
    (r"dial tcp ([0-9.]+):(\d+): i/o timeout", r"connect ETIMEDOUT \1:\2"),
    (r"listen tcp :(\d+): bind: address already in use", r"Error: listen EADDRINUSE: address already in use :::\1"),
)


def other_wordings(recorded: Recorded, _: random.Random) -> Recorded:
    """The same complaints in the words of other client libraries."""
    logs = {
        pod: {name: _reworded(lines) for name, lines in containers.items()} for pod, containers in recorded.logs.items()
    }
    return replace(recorded, logs=logs)


def _reworded(lines: list[str] | str) -> list[str]:
    text = lines if isinstance(lines, str) else "\n".join(lines)
    for pattern, other in _WORDINGS:
        text = re.sub(pattern, other, text)
    return text.splitlines()


def more_replicas(recorded: Recorded, chance: random.Random) -> Recorded:
    """Every deployment with one replica more, in the same state."""
    if any(part in recorded.kind for part in _PER_REPLICA):
        return recorded
    objects: list[Body] = []
    twins: dict[str, str] = {}
    for one in copy.deepcopy(list(recorded.objects)):
        objects.append(one)
        owners = one["metadata"].get("ownerReferences") or [{}]
        if one["kind"] == "Pod" and owners[0].get("kind") == "ReplicaSet":
            twin = copy.deepcopy(one)
            name = one["metadata"]["name"]
            twins[name] = f"{name.rpartition('-')[0]}-{chance.randbytes(3).hex()[:5]}"
            twin["metadata"] |= {"name": twins[name], "uid": f"{chance.getrandbits(64):x}"}
            if twin.get("status", {}).get("podIP"):
                twin["status"]["podIP"] = f"172.31.{chance.randrange(250)}.{chance.randrange(250)}"
            objects.append(twin)
        elif one["kind"] in ("Deployment", "ReplicaSet") and (one["spec"].get("replicas") or 0):
            _one_more(one)
    objects += [_about(one, twins, chance) for one in list(objects) if _is_about(one, twins)]
    logs = {**recorded.logs, **{twin: recorded.logs[name] for name, twin in twins.items() if name in recorded.logs}}
    for body in objects:
        if body["kind"] == "EndpointSlice":
            ends = body.get("endpoints") or []
            body["endpoints"] = [*ends, *(other for end in ends if (other := _end(end, twins, objects)))]
    return replace(recorded, objects=tuple(objects), logs=logs)


def _one_more(one: Body) -> None:
    one["spec"]["replicas"] += 1
    for name in ("replicas", "readyReplicas", "availableReplicas", "updatedReplicas", "unavailableReplicas"):
        if one.get("status", {}).get(name):
            one["status"][name] += 1


def _is_about(one: Body, twins: dict[str, str]) -> bool:
    return one["kind"] == "Event" and one.get("involvedObject", {}).get("name") in twins


def _about(event: Body, twins: dict[str, str], chance: random.Random) -> Body:
    twin = copy.deepcopy(event)
    name = event["involvedObject"]["name"]
    twin["metadata"]["name"] = f"{twins[name]}.{chance.getrandbits(60):x}"
    twin["involvedObject"]["name"] = twins[name]
    return twin


def _end(end: Body, twins: dict[str, str], objects: list[Body]) -> Body | None:
    name = twins.get((end.get("targetRef") or {}).get("name", ""))
    pod = next((one for one in objects if one["kind"] == "Pod" and one["metadata"]["name"] == name), None)
    if pod is None or not pod.get("status", {}).get("podIP"):
        return None
    return {**end, "addresses": [pod["status"]["podIP"]], "targetRef": {**end["targetRef"], "name": name}}


VARIATIONS: dict[str, Vary] = {
    "other names": other_names,
    "another namespace": other_namespace,
    "other addresses": other_addresses,
    "names of nodes as on AKS": other_nodes,
    "other hashes": other_hashes,
    "three minutes later": later(3),
    "eight minutes later": later(8),
    "begun half an hour earlier": lasting(30),
    "other registries": other_images,
    "beside a quiet namespace": beside_healthy,
    "without older events": without_old_events,
    "other client libraries": other_wordings,
    "one replica more": more_replicas,
}


def varied(recorded: Recorded, name: str) -> Recorded:
    """Repeatable: the same recording is always varied in the same way."""
    return VARIATIONS[name](recorded, random.Random(f"{recorded.name} {name}"))
