"""Request bodies of writes: decoding, checks against the path, server-side defaults."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from typing import Any

import orjson
import yaml

from sandbox.kube import protobuf, statuses
from sandbox.kube.answers import Call
from sandbox.kube.kinds import Kind
from sandbox.kube.world import KubeWorld, stamp

Body = dict[str, Any]

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_MEDIA_TYPES = ("application/json", "application/yaml", protobuf.MEDIA_TYPE)
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_FREE_NAMES = "rbac.authorization.k8s.io"
"""Role kinds, whose object names may contain colons."""


def decoded(call: Call) -> Any:
    """The decoded request body; 400 if it cannot be decoded."""
    kind = call.content_type.partition(";")[0].strip().lower()
    try:
        if kind in ("application/yaml", "application/apply-patch+yaml"):
            return yaml.safe_load(call.content)
        if kind == protobuf.MEDIA_TYPE:
            return protobuf.decode(call.content)
        return orjson.loads(call.content)
    except protobuf.NotUnderstood as unknown:
        raise statuses.unsupported_media_type(_MEDIA_TYPES) from unknown
    except (orjson.JSONDecodeError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise statuses.bad_request(f"error decoding: {error}") from error


def sent_object(kind: Kind, call: Call) -> Body:
    """A complete object of this kind from the request body."""
    media = call.content_type.partition(";")[0].strip().lower()
    if media not in ("", "*/*", *_MEDIA_TYPES):
        raise statuses.unsupported_media_type(_MEDIA_TYPES)
    body = decoded(call)
    if not isinstance(body, dict):
        raise statuses.bad_request("the body is not an object")
    named = (body.get("apiVersion") or kind.api_version, body.get("kind") or kind.kind)
    if named != (kind.api_version, kind.kind):
        raise statuses.bad_request(
            f'{named[1]} in version "{named[0]}" cannot be handled as a {kind.kind}: converting '
            f"({named[0]}.{named[1]}) to ({kind.api_version}.{kind.kind}): unknown conversion"
        )
    body["apiVersion"], body["kind"] = named
    if not isinstance(body.setdefault("metadata", {}), dict):
        raise statuses.bad_request("metadata is not an object")
    _check_namespace(kind, call, body["metadata"])
    return body


def _check_namespace(kind: Kind, call: Call, metadata: Body) -> None:
    if not kind.namespaced:
        metadata.pop("namespace", None)
        return
    if metadata.get("namespace") not in (None, "", call.place.namespace):
        why = "the namespace of the provided object does not match the namespace sent on the request"
        raise statuses.bad_request(why)
    metadata["namespace"] = call.place.namespace


def check_new(world: KubeWorld, kind: Kind, body: Body) -> None:
    """Check that a new object has a valid name and an existing namespace."""
    metadata = body["metadata"]
    if metadata.get("resourceVersion"):
        raise statuses.bad_request("resourceVersion should not be set on objects to be created")
    if not metadata.get("name"):
        if not metadata.get("generateName"):
            cause = ("FieldValueRequired", "Required value: name or generateName is required", "metadata.name")
            raise statuses.invalid(kind, "", [cause])
        metadata["name"] = metadata["generateName"] + "".join(secrets.choice(_LETTERS) for _ in range(5))
    _check_name(kind, str(metadata["name"]))
    if kind.namespaced:
        _check_namespace_exists(world, kind, metadata)


def _check_name(kind: Kind, name: str) -> None:
    if kind.group == _FREE_NAMES or (_SUBDOMAIN.fullmatch(name) and len(name) <= 253):
        return
    message = (
        f'Invalid value: "{name}": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '
        "'-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for "
        r"validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
    )
    raise statuses.invalid(kind, name, [("FieldValueInvalid", message, "metadata.name")])


def _check_namespace_exists(world: KubeWorld, kind: Kind, metadata: Body) -> None:
    space = world.find("namespaces", metadata["namespace"], group="")
    if space is None:
        namespaces = world.kinds.find("", "v1", "namespaces")
        if namespaces:
            raise statuses.not_found(namespaces, metadata["namespace"])
    elif space.get("status", {}).get("phase") == "Terminating":
        name = metadata["name"]
        why = f"unable to create new content in namespace {metadata['namespace']} because it is being terminated"
        details = {"name": name, "kind": kind.plural, "causes": [{"reason": "NamespaceTerminating", "message": why}]}
        raise statuses.refusal(403, "Forbidden", f'{kind.qualified} "{name}" is forbidden: {why}', details)


def begin_life(world: KubeWorld, kind: Kind, body: Body) -> None:
    """Fill in the fields that the server sets on a new object."""
    metadata = body["metadata"]
    for managed in ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"):
        metadata.pop(managed, None)
    metadata["creationTimestamp"] = stamp(world.clock())
    if has_generation(kind):
        metadata["generation"] = 1
    if "status" in kind.subresources and kind.kind != "Node":
        body.pop("status", None)
    fill = _DEFAULTS.get(kind.kind)
    if fill and kind.built_in:
        fill(body)


def has_generation(kind: Kind) -> bool:
    return kind.group in ("apps", "batch", "policy", "networking.k8s.io", "apiextensions.k8s.io") or not kind.built_in


def _pod(body: Body) -> None:
    spec = body.setdefault("spec", {})
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("terminationGracePeriodSeconds", 30)
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("schedulerName", "default-scheduler")
    spec.setdefault("serviceAccountName", "default")
    body["status"] = {"phase": "Pending", "qosClass": "BestEffort"}


def _namespace(body: Body) -> None:
    body.setdefault("spec", {}).setdefault("finalizers", ["kubernetes"])
    body["status"] = {"phase": "Active"}
    labels = body["metadata"].setdefault("labels", {})
    labels["kubernetes.io/metadata.name"] = body["metadata"]["name"]


def _definition(body: Body) -> None:
    names = {"listKind": f"{body['spec']['names']['kind']}List", **body["spec"]["names"]}
    body["spec"]["names"] = names
    body["status"] = {
        "acceptedNames": names,
        "storedVersions": [version["name"] for version in body["spec"]["versions"] if version.get("storage")],
        "conditions": [
            {"type": word, "status": "True", "reason": reason, "message": message}
            for word, reason, message in (
                ("NamesAccepted", "NoConflicts", "no conflicts found"),
                ("Established", "InitialNamesAccepted", "the initial names have been accepted"),
            )
        ],
    }


def _budget(body: Body) -> None:
    body["status"] = {"currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 0, "expectedPods": 0}


_DEFAULTS: dict[str, Callable[[Body], None]] = {
    "Pod": _pod,
    "Namespace": _namespace,
    "CustomResourceDefinition": _definition,
    "PodDisruptionBudget": _budget,
}
