"""DELETE requests: preconditions, grace period, finalizers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sandbox.kube import controllers, objects, reads, representations, statuses
from sandbox.kube.answers import Answer, Call
from sandbox.kube.kinds import Kind
from sandbox.kube.pages import Pages
from sandbox.kube.world import KubeWorld, stamp

Body = dict[str, Any]

_DEFAULT_GRACE_S = 30


@dataclass(frozen=True, slots=True)
class Options:
    """The DeleteOptions of a request."""

    grace_s: int | None = None
    uid: str | None = None
    version: str | None = None
    orphan: bool = False
    dry: bool = False

    @classmethod
    def of(cls, sent: Body, query_grace: str = "", query_policy: str = "", dry: str = "") -> Options:
        preconditions = sent.get("preconditions") or {}
        grace = sent.get("gracePeriodSeconds")
        if grace is None and query_grace.isdigit():
            grace = int(query_grace)
        policy = sent.get("propagationPolicy") or query_policy
        return cls(
            grace_s=grace,
            uid=preconditions.get("uid"),
            version=preconditions.get("resourceVersion"),
            orphan=policy == "Orphan" or bool(sent.get("orphanDependents")),
            dry="All" in (sent.get("dryRun") or ()) or dry == "All",
        )


def options_of(call: Call) -> Options:
    sent = objects.decoded(call) if call.content else {}
    if not isinstance(sent, dict):
        raise statuses.bad_request("the body is no DeleteOptions")
    query = call.query
    return Options.of(
        sent, query.get("gracePeriodSeconds", ""), query.get("propagationPolicy", ""), query.get("dryRun", "")
    )


def delete(world: KubeWorld, kind: Kind, call: Call) -> Answer:
    representations.negotiate(call.accept)
    options = options_of(call)
    stored = reads.existing(world, kind, call)
    left = remove(world, kind, stored, options)
    if left is not None:
        return Answer(200, reads.as_served(kind, left))
    metadata = stored["metadata"]
    details = {"name": metadata["name"]} | ({"group": kind.group} if kind.group else {})
    return Answer(200, statuses.success(details | {"kind": kind.plural, "uid": metadata["uid"]}))


def delete_collection(world: KubeWorld, pages: Pages, kind: Kind, call: Call) -> Answer:
    """Delete everything that matches the selectors; the response is the list of deleted objects."""
    answer = reads.listed(world, pages, kind, call)
    options = options_of(call)
    chosen = reads.chooser(kind, call)
    for body in list(world.every(kind.plural, call.place.namespace or None, group=kind.group)):
        if chosen is None or chosen(body):
            remove(world, kind, body, options)
    return answer


def remove(world: KubeWorld, kind: Kind, stored: Body, options: Options) -> Body | None:
    """Delete one object. Returns the object to send back, or None if the response is just a Success status."""
    _check_preconditions(kind, stored, options)
    metadata = stored["metadata"]
    namespace = metadata.get("namespace", "")
    grace_s = _grace(kind, stored, options)
    waits = bool(metadata.get("finalizers")) or grace_s > 0 or kind.kind == "Namespace"
    if not waits:
        last = stored if options.dry else world.remove(kind, metadata["name"], namespace)
        if not options.dry:
            controllers.after_removal(world, kind, stored, orphan=options.orphan)
        return last if kind.kind in ("Pod", "Service") else None
    marked = _marked(world, kind, stored, grace_s)
    if not options.dry and marked is not stored:
        world.put(marked)
        controllers.after_write(world, kind, marked)
    return marked


def _check_preconditions(kind: Kind, stored: Body, options: Options) -> None:
    metadata = stored["metadata"]
    if options.uid and options.uid != metadata["uid"]:
        why = (
            f"the UID in the precondition ({options.uid}) does not match the UID in record ({metadata['uid']}). The "
            "object might have been deleted and then recreated"
        )
        raise statuses.conflict(kind.kind, kind, metadata["name"], why)
    if options.version and options.version != metadata["resourceVersion"]:
        why = (
            f"the ResourceVersion in the precondition ({options.version}) does not match the ResourceVersion in record "
            f"({metadata['resourceVersion']}). The object might have been modified"
        )
        raise statuses.conflict(kind.kind, kind, metadata["name"], why)


def _grace(kind: Kind, stored: Body, options: Options) -> int:
    """Only pods that are scheduled to a node have a grace period."""
    spec, status = stored.get("spec", {}), stored.get("status", {})
    if kind.kind != "Pod" or not spec.get("nodeName") or status.get("phase") in ("Succeeded", "Failed"):
        return 0
    asked = options.grace_s
    if asked is None:
        asked = int(spec.get("terminationGracePeriodSeconds", _DEFAULT_GRACE_S))
    already = stored["metadata"].get("deletionGracePeriodSeconds")
    return asked if already is None else min(asked, int(already))


def _marked(world: KubeWorld, kind: Kind, stored: Body, grace_s: int) -> Body:
    metadata = stored["metadata"]
    if metadata.get("deletionTimestamp") and int(metadata.get("deletionGracePeriodSeconds", 0)) <= grace_s:
        return stored
    changed = {
        **metadata,
        "deletionTimestamp": stamp(world.clock() + timedelta(seconds=grace_s)),
        "deletionGracePeriodSeconds": grace_s,
    }
    body = {**stored, "metadata": changed}
    if kind.kind == "Namespace":
        body["status"] = {**stored.get("status", {}), "phase": "Terminating"}
        changed.pop("deletionGracePeriodSeconds")
    return body
