"""PATCH: JSON patch, JSON merge patch, and the strategic merge patch of the built-in kinds."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from sandbox.kube import objects, statuses, strategic
from sandbox.kube.answers import Call
from sandbox.kube.kinds import Kind
from sandbox.merge import merged

Body = dict[str, Any]

_JSON, _MERGE = "application/json-patch+json", "application/merge-patch+json"
_STRATEGIC, _APPLY = "application/strategic-merge-patch+json", "application/apply-patch+yaml"


class Rejected(ValueError):
    """A JSON patch that cannot be applied."""


def patched(kind: Kind, call: Call, stored: Body) -> Body:
    """A copy of the object with the patch applied."""
    media = call.content_type.partition(";")[0].strip().lower()
    accepted = (_JSON, _MERGE, _STRATEGIC, _APPLY) if kind.built_in else (_JSON, _MERGE, _APPLY)
    if media not in accepted or media == _APPLY:
        # Server-side apply is not supported: it would need field ownership (managedFields).
        raise statuses.unsupported_media_type(accepted)
    patch = objects.decoded(call)
    if media == _JSON:
        try:
            return _applied(patch, stored)
        except Rejected as rejected:
            raise statuses.refusal(
                422, "Invalid", "the server rejected our request due to an error in our request", {}
            ) from rejected
    if not isinstance(patch, dict):
        raise statuses.bad_request("json: cannot unmarshal array into Go value of type map[string]interface {}")
    return strategic.merge(stored, patch) if media == _STRATEGIC else merged(stored, patch)


def _applied(patch: Any, stored: Body) -> Body:
    if not isinstance(patch, list):
        raise statuses.bad_request("json: cannot unmarshal object into Go value of type jsonpatch.Patch")
    document: Any = deepcopy(stored)
    for step in patch:
        document = _step(document, step)
    if not isinstance(document, dict):
        raise Rejected("the document is no object any more")
    return document


def _step(document: Any, step: Body) -> Any:
    path = _pointer(step.get("path", ""))
    match step.get("op"):
        case "test":
            if _at(document, path) != step.get("value"):
                raise Rejected("test failed")
            return document
        case "add":
            return _add(document, path, step.get("value"))
        case "remove":
            return _remove(document, path)
        case "replace":
            _at(document, path)
            return _add(_remove(document, path), path, step.get("value"))
        case "move":
            source = _pointer(step["from"])
            value = _at(document, source)
            return _add(_remove(document, source), path, value)
        case "copy":
            return _add(document, path, deepcopy(_at(document, _pointer(step["from"]))))
    raise Rejected(f"unexpected kind: {step.get('op')}")


def _pointer(text: str) -> list[str]:
    if text and not text.startswith("/"):
        raise Rejected(f"not a pointer: {text}")
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


def _at(document: Any, path: list[str]) -> Any:
    for part in path:
        if isinstance(document, dict) and part in document:
            document = document[part]
        elif isinstance(document, list) and part.isdigit() and int(part) < len(document):
            document = document[int(part)]
        else:
            raise Rejected(f"no such path: {'/'.join(path)}")
    return document


def _add(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    above = _at(document, path[:-1])
    if isinstance(above, dict):
        above[path[-1]] = value
    elif isinstance(above, list) and path[-1] == "-":
        above.append(value)
    elif isinstance(above, list) and path[-1].isdigit() and int(path[-1]) <= len(above):
        above.insert(int(path[-1]), value)
    else:
        raise Rejected(f"cannot add at {'/'.join(path)}")
    return document


def _remove(document: Any, path: list[str]) -> Any:
    if not path:
        return None
    _at(document, path)
    above = _at(document, path[:-1])
    if isinstance(above, list):
        del above[int(path[-1])]
    else:
        del above[path[-1]]
    return document
