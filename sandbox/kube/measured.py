"""metrics.k8s.io: metrics from the metrics server, which may be missing or not responding."""

from __future__ import annotations

from typing import Any

from sandbox.kube import fields, labels, statuses
from sandbox.kube.answers import Answer, Call
from sandbox.kube.kinds import Kind
from sandbox.kube.world import KubeWorld, Usage, stamp

Body = dict[str, Any]

GROUP, VERSION = "metrics.k8s.io", "v1beta1"
_READ = ("get", "list")
NODES = Kind(GROUP, VERSION, "nodes", "NodeMetrics", "", namespaced=False, verbs=_READ)
PODS = Kind(GROUP, VERSION, "pods", "PodMetrics", "", namespaced=True, verbs=_READ)
KINDS = {"nodes": NODES, "pods": PODS}


def answer(world: KubeWorld, call: Call) -> Answer:
    """A list or a single object from the metrics server."""
    if world.usage is None:
        raise statuses.no_such_path()
    if not world.usage.answering:
        raise statuses.plain(503, "service unavailable")
    place = call.place
    kind = KINDS.get(place.resource)
    if kind is None or place.subresource:
        raise statuses.no_such_resource()
    if place.verb not in kind.verbs:
        raise statuses.method_not_allowed()
    if place.verb == "get":
        found = _one(world, world.usage, kind, place.name, place.namespace)
        if found is None:
            raise statuses.not_found(kind, f"{place.namespace}/{place.name}" if place.namespace else place.name)
        return Answer(200, found)
    items = _chosen(call, kind, _every(world, world.usage, kind, place.namespace))
    return Answer(200, {"kind": kind.list_kind, "apiVersion": kind.api_version, "metadata": {}, "items": items})


def _chosen(call: Call, kind: Kind, items: list[Body]) -> list[Body]:
    try:
        wanted = labels.parse(call.query.get("labelSelector", ""))
        terms = fields.parse(kind, call.query.get("fieldSelector", ""))
    except (labels.BadSelector, fields.BadFieldSelector) as bad:
        raise statuses.bad_request(str(bad)) from bad
    return [
        item for item in items if wanted.matches(item["metadata"].get("labels")) and fields.matches(kind, terms, item)
    ]


def _every(world: KubeWorld, usage: Usage, kind: Kind, namespace: str) -> list[Body]:
    if kind is NODES:
        made = [_one(world, usage, kind, name, "") for name in sorted(usage.nodes)]
    else:
        keys = [key.split("/", 1) for key in sorted(usage.pods)]
        made = [_one(world, usage, kind, name, space) for space, name in keys if namespace in ("", space)]
    return [page for page in made if page is not None]


def _one(world: KubeWorld, usage: Usage, kind: Kind, name: str, namespace: str) -> Body | None:
    """The metrics of one object, if it still exists."""
    subject = world.find(kind.plural, name, namespace, group="")
    measured: Any = usage.nodes.get(name) if kind is NODES else usage.pods.get(f"{namespace}/{name}")
    if subject is None or measured is None:
        return None
    now = stamp(world.clock())
    metadata: Body = {"name": name, "creationTimestamp": now}
    if namespace:
        metadata["namespace"] = namespace
    if subject["metadata"].get("labels"):
        metadata["labels"] = subject["metadata"]["labels"]
    body: Body = {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": metadata, "timestamp": now}
    body["window"] = "15.123s"
    if kind is NODES:
        return body | {"usage": measured}
    return body | {"containers": [{"name": container, "usage": used} for container, used in measured.items()]}
