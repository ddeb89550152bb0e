"""The protobuf bodies that `kubectl` sends through its typed client: reviews, deletions, and a few small objects.

Only these are supported; the real server supports every built-in kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Body = dict[str, Any]

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\x00"


class NotUnderstood(ValueError):
    """The body is not protobuf, or of an unsupported kind."""


@dataclass(frozen=True, slots=True)
class _Field:
    """One field: `kind` is text, number, flag, map, or another message."""

    name: str
    kind: str | Mapping[int, _Field] = "text"
    repeated: bool = False


_META: Mapping[int, _Field] = {
    1: _Field("name"),
    2: _Field("generateName"),
    3: _Field("namespace"),
    5: _Field("uid"),
    6: _Field("resourceVersion"),
    11: _Field("labels", "map"),
    12: _Field("annotations", "map"),
    14: _Field("finalizers", repeated=True),
}
_RESOURCE = dict(
    enumerate(
        (_Field(name) for name in ("namespace", "verb", "group", "version", "resource", "subresource", "name")), start=1
    )
)
_PATH = {1: _Field("path"), 2: _Field("verb")}
_ASKED = {1: _Field("resourceAttributes", _RESOURCE), 2: _Field("nonResourceAttributes", _PATH)}
_ASKED_OF = {**_ASKED, 3: _Field("user"), 4: _Field("groups", repeated=True)}
_DELETE_OPTIONS = {
    1: _Field("gracePeriodSeconds", "number"),
    2: _Field("preconditions", {1: _Field("uid"), 2: _Field("resourceVersion")}),
    3: _Field("orphanDependents", "flag"),
    4: _Field("propagationPolicy"),
    5: _Field("dryRun", repeated=True),
}
_METADATA = _Field("metadata", _META)
_MESSAGES: Mapping[str, Mapping[int, _Field]] = {
    "SelfSubjectAccessReview": {1: _METADATA, 2: _Field("spec", _ASKED)},
    "SubjectAccessReview": {1: _METADATA, 2: _Field("spec", _ASKED_OF)},
    "LocalSubjectAccessReview": {1: _METADATA, 2: _Field("spec", _ASKED_OF)},
    "SelfSubjectRulesReview": {1: _METADATA, 2: _Field("spec", {1: _Field("namespace")})},
    "SelfSubjectReview": {1: _METADATA},
    "DeleteOptions": _DELETE_OPTIONS,
    "Eviction": {1: _METADATA, 2: _Field("deleteOptions", _DELETE_OPTIONS)},
    "Namespace": {1: _METADATA, 2: _Field("spec", {1: _Field("finalizers", repeated=True)})},
    "ConfigMap": {1: _METADATA, 2: _Field("data", "map")},
    "ServiceAccount": {1: _METADATA},
}


def decode(content: bytes) -> Body:
    """The object in an envelope of type and raw bytes."""
    if not content.startswith(_MAGIC):
        raise NotUnderstood("no Kubernetes protobuf")
    try:
        envelope = dict(_fields(content[len(_MAGIC) :]))
        named = dict(_fields(envelope[1]))
        kind = named[2].decode()
        if kind not in _MESSAGES:
            raise NotUnderstood(kind)
        return {"apiVersion": named[1].decode(), "kind": kind, **_message(envelope.get(2, b""), _MESSAGES[kind])}
    except (IndexError, KeyError, AttributeError, UnicodeDecodeError) as error:
        raise NotUnderstood(str(error)) from error


def _message(content: bytes, known: Mapping[int, _Field]) -> Body:
    found: Body = {}
    for number, value in _fields(content):
        field = known.get(number)
        # Go also encodes empty strings in protobuf; in JSON they are omitted.
        if field is None or (value == b"" and field.kind == "text"):
            continue
        if field.kind == "map":
            pair = dict(_fields(value))
            found.setdefault(field.name, {})[pair.get(1, b"").decode()] = pair.get(2, b"").decode()
        elif field.repeated:
            found.setdefault(field.name, []).append(value.decode())
        else:
            found[field.name] = _value(field, value)
    return found


def _value(field: _Field, value: Any) -> Any:
    if isinstance(field.kind, Mapping):
        return _message(value, field.kind)
    match field.kind:
        case "number":
            return int(value)
        case "flag":
            return bool(value)
    return value.decode()


def _fields(content: bytes) -> Iterator[tuple[int, Any]]:
    at = 0
    while at < len(content):
        key, at = _varint(content, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = _varint(content, at)
            yield number, value
        elif wire == 2:
            length, at = _varint(content, at)
            yield number, content[at : at + length]
            at += length
        else:
            at += {1: 8, 5: 4}[wire]


def _varint(content: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = content[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return value, at
