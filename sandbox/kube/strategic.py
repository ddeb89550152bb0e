"""Strategic merge patch: a merge patch that merges certain lists by key."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

Body = dict[str, Any]

_KEYS = {
    "containers": "name",
    "initContainers": "name",
    "ephemeralContainers": "name",
    "volumes": "name",
    "env": "name",
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
    "imagePullSecrets": "name",
    "secrets": "name",
    "hostAliases": "ip",
    "topologySpreadConstraints": "topologyKey",
    "schedulingGates": "name",
    "ownerReferences": "uid",
    "conditions": "type",
    "addresses": "type",
    "podIPs": "ip",
    "webhooks": "name",
}
_MERGED_PRIMITIVES = ("finalizers",)
_DIRECTIVE, _ORDER, _DELETE_ONES, _RETAIN = "$patch", "$setElementOrder/", "$deleteFromPrimitiveList/", "$retainKeys"


def merge(stored: Mapping[str, Any], patch: Mapping[str, Any]) -> Body:
    """The object with the patch applied. Lists without a merge key are replaced."""
    if patch.get(_DIRECTIVE) == "replace":
        return {name: deepcopy(value) for name, value in patch.items() if name != _DIRECTIVE}
    if patch.get(_DIRECTIVE) == "delete":
        return {}
    result: Body = dict(deepcopy(stored))
    if _RETAIN in patch:
        result = {name: value for name, value in result.items() if name in patch[_RETAIN]}
    for name, value in patch.items():
        if name in (_DIRECTIVE, _RETAIN) or name.startswith(_ORDER):
            continue
        if name.startswith(_DELETE_ONES):
            field = name.removeprefix(_DELETE_ONES)
            result[field] = [item for item in result.get(field) or () if item not in value]
        elif value is None:
            result.pop(name, None)
        elif isinstance(value, dict):
            before = result.get(name)
            result[name] = merge(before if isinstance(before, dict) else {}, value)
        elif isinstance(value, list):
            result[name] = _merge_list(name, result.get(name), value)
        else:
            result[name] = value
    return result


def _merge_list(name: str, stored: Any, patch: list[Any]) -> list[Any]:
    before = list(stored) if isinstance(stored, list) else []
    if name in _MERGED_PRIMITIVES:
        return before + [item for item in patch if item not in before]
    key = _key_of(name, patch)
    if key is None or any(isinstance(item, dict) and item.get(_DIRECTIVE) == "replace" for item in patch):
        return [deepcopy(item) for item in patch if not (isinstance(item, dict) and _DIRECTIVE in item)]
    for entry in patch:
        at = next((index for index, old in enumerate(before) if old.get(key) == entry.get(key)), None)
        if entry.get(_DIRECTIVE) == "delete":
            if at is not None:
                del before[at]
        elif at is None:
            before.append(merge({}, entry))
        else:
            before[at] = merge(before[at], entry)
    return before


def _key_of(name: str, patch: list[Any]) -> str | None:
    if not all(isinstance(item, dict) for item in patch):
        return None
    if name == "ports":
        # Container ports are merged by containerPort, service ports by port.
        return "containerPort" if any("containerPort" in item for item in patch) else "port"
    return _KEYS.get(name)
