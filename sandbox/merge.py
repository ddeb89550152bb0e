"""JSON merge patch (RFC 7396), and a variant that merges Kubernetes lists by item name."""

from __future__ import annotations

from copy import deepcopy
from typing import Any


def merged(target: Any, patch: Any) -> Any:
    """A deep copy of `target` with the patch applied: null removes, mappings merge, everything else replaces."""
    if not isinstance(patch, dict):
        return deepcopy(patch)
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


_NAMES = ("type", "name", "key")
"""The fields that identify list items: of conditions, containers, taints."""


def merged_by_name(target: Any, patch: Any) -> Any:
    """Like `merged`, but a mapping applied to a list changes the items it names, or adds them."""
    if isinstance(target, list) and isinstance(patch, dict):
        return _items(target, patch)
    if not isinstance(patch, dict):
        return deepcopy(patch)
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged_by_name(result.get(key), value)
    return result


def _items(items: list[Any], patch: dict[str, Any]) -> list[Any]:
    by = next((name for name in _NAMES if any(name in item for item in items)), "name")
    result = {item.get(by): item for item in items}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged_by_name(result.get(name, {by: name}), value)
    return list(result.values())
