"""POST, PUT and PATCH: optimistic concurrency, generation, and the status subresource."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from sandbox.kube import controllers, objects, patches, representations, statuses, validation
from sandbox.kube.answers import Answer, Call
from sandbox.kube.kinds import Kind
from sandbox.kube.reads import as_served, existing
from sandbox.kube.world import KubeWorld, object_key

Body = dict[str, Any]

_CONDITIONAL_ONLY = ("PodDisruptionBudget",)
"""Kinds for which a PUT must have a resourceVersion, as it must for custom kinds."""
_KEPT = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "selfLink")


def create(world: KubeWorld, kind: Kind, call: Call) -> Answer:
    representations.negotiate(call.accept)
    body = objects.sent_object(kind, call)
    objects.check_new(world, kind, body)
    if object_key(kind, body) in world.objects.get(kind.storage_key, {}):
        raise statuses.already_exists(kind, body["metadata"]["name"])
    validation.check(kind, body)
    objects.begin_life(world, kind, body)
    if not is_dry(call):
        world.put(_as_stored(kind, body))
        controllers.after_write(world, kind, body)
        body = world.get(kind, body["metadata"]["name"], body["metadata"].get("namespace", "")) or body
    return _shown(world, kind, call, body, 201)


def update(world: KubeWorld, kind: Kind, call: Call) -> Answer:
    representations.negotiate(call.accept)
    sent = objects.sent_object(kind, call)
    stored = existing(world, kind, call)
    _check_name(call, sent)
    if not sent["metadata"].get("resourceVersion") and (not kind.built_in or kind.kind in _CONDITIONAL_ONLY):
        cause = (
            "FieldValueInvalid",
            "Invalid value: 0x0: must be specified for an update",
            "metadata.resourceVersion",
        )
        raise statuses.invalid(kind, call.place.name, [cause])
    return store(world, kind, call, stored, sent)


def patch(world: KubeWorld, kind: Kind, call: Call) -> Answer:
    representations.negotiate(call.accept)
    stored = existing(world, kind, call)
    sent = patches.patched(kind, call, as_served(kind, stored))
    _check_name(call, sent)
    return store(world, kind, call, stored, sent)


def store(world: KubeWorld, kind: Kind, call: Call, stored: Body, sent: Body) -> Answer:
    """Replace an object with the request body, limited to the fields that the request may change."""
    _check_current(kind, stored, sent)
    body = _merged(kind, stored, sent, status=call.place.subresource == "status")
    if _same(stored, body):
        return _shown(world, kind, call, stored, 200)
    validation.check(kind, body, stored)
    if objects.has_generation(kind) and body.get("spec") != stored.get("spec"):
        body["metadata"]["generation"] = int(stored["metadata"].get("generation", 1)) + 1
    if is_dry(call):
        return _shown(world, kind, call, body, 200)
    world.put(_as_stored(kind, body))
    controllers.after_write(world, kind, body)
    # Removing the last finalizer deletes the object.
    return _shown(world, kind, call, body, 200)


def is_dry(call: Call) -> bool:
    return call.query.get("dryRun", "") == "All"


def _check_name(call: Call, sent: Body) -> None:
    name = sent["metadata"].get("name")
    if name != call.place.name:
        raise statuses.bad_request(
            f"the name of the object ({name or ''}) does not match the name on the URL ({call.place.name})"
        )


def _check_current(kind: Kind, stored: Body, sent: Body) -> None:
    """409 if the resourceVersion is outdated or the uid belongs to another object."""
    name, metadata = stored["metadata"]["name"], sent["metadata"]
    uid, version = metadata.get("uid"), metadata.get("resourceVersion")
    if uid and uid != stored["metadata"]["uid"]:
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {stored['metadata']['uid']}"
        raise statuses.conflict(kind.qualified, kind, name, why)
    if version and version != stored["metadata"]["resourceVersion"]:
        raise statuses.modified_meanwhile(kind, name)


def _merged(kind: Kind, stored: Body, sent: Body, *, status: bool) -> Body:
    if status:
        body = deepcopy(stored)
        body["status"] = deepcopy(sent.get("status", {}))
        return body
    body = deepcopy(sent)
    if "status" in kind.subresources:
        body.pop("status", None)
        if "status" in stored:
            body["status"] = deepcopy(stored["status"])
    for field in _KEPT:
        if field in stored["metadata"]:
            body["metadata"][field] = stored["metadata"][field]
        else:
            body["metadata"].pop(field, None)
    return body


def _same(stored: Body, body: Body) -> bool:
    """Whether a write changes nothing, in which case there is no new resourceVersion."""
    version = stored["metadata"]["resourceVersion"]
    now = {**body, "apiVersion": stored["apiVersion"], "metadata": {**body["metadata"], "resourceVersion": version}}
    return now == stored


def _as_stored(kind: Kind, body: Body) -> Body:
    if kind.stored_as and kind.stored_as != kind.version:
        body["apiVersion"] = f"{kind.group}/{kind.stored_as}"
    return body


def _shown(world: KubeWorld, kind: Kind, call: Call, body: Body, status: int) -> Answer:
    form = representations.negotiate(call.accept)
    include = call.query.get("includeObject", "")
    return Answer(status, representations.one(form, kind, as_served(kind, body), include, world.clock()))
