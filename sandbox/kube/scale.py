"""The `scale` subresource of workloads."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from sandbox.kube import labels, objects, reads, statuses, writes
from sandbox.kube.answers import Answer, Call
from sandbox.kube.kinds import Kind
from sandbox.kube.printing.cells import selector_text
from sandbox.kube.world import KubeWorld
from sandbox.merge import merged

Body = dict[str, Any]


def get(world: KubeWorld, kind: Kind, call: Call) -> Answer:
    return Answer(200, _scale(reads.existing(world, kind, call)))


def update(world: KubeWorld, kind: Kind, call: Call) -> Answer:
    return _store(world, kind, call, objects.decoded(call))


def patch(world: KubeWorld, kind: Kind, call: Call) -> Answer:
    stored = _scale(reads.existing(world, kind, call))
    sent = objects.decoded(call)
    if not isinstance(sent, dict):
        raise statuses.unsupported_media_type(("application/merge-patch+json",))
    return _store(world, kind, call, merged(stored, sent))


def _store(world: KubeWorld, kind: Kind, call: Call, sent: Body) -> Answer:
    stored = reads.existing(world, kind, call)
    replicas = sent.get("spec", {}).get("replicas", 0)
    if not isinstance(replicas, int) or replicas < 0:
        message = f"Invalid value: {replicas}: must be greater than or equal to 0"
        raise statuses.invalid(kind, call.place.name, [("FieldValueInvalid", message, "spec.replicas")])
    changed = deepcopy(stored)
    changed["spec"]["replicas"] = replicas
    version = sent.get("metadata", {}).get("resourceVersion")
    if version:
        changed["metadata"]["resourceVersion"] = version
    writes.store(world, kind, call, stored, changed)
    return get(world, kind, call)


def _scale(body: Body) -> Body:
    metadata, spec = body["metadata"], body.get("spec", {})
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    status: Body = {"replicas": body.get("status", {}).get("replicas", 0)}
    selector = spec.get("selector")
    if labels.of_spec(selector):
        status["selector"] = selector_text(selector)
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {field: metadata[field] for field in kept if field in metadata},
        "spec": {"replicas": spec.get("replicas", 1)},
        "status": status,
    }
