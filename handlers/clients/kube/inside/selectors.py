"""Applies field selectors to projected objects, of which only a part is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

KNOWN = frozenset(
    {
        "involvedObject.kind",
        "involvedObject.name",
        "involvedObject.namespace",
        "metadata.name",
        "metadata.namespace",
        "reason",
        "spec.nodeName",
        "status.phase",
        "type",
    }
)
"""The fields that a server can select by and every projection holds."""


class NotAnswered(Exception):
    """No fixed question returns what was asked for."""


def by_fields(selector: str) -> Callable[[Mapping[str, Any]], bool]:
    """Whether an object matches `status.phase=Pending,metadata.namespace!=shop`."""
    tests = [_test(part.strip()) for part in selector.split(",") if part.strip()]
    return lambda body: all(test(body) for test in tests)


def requires(selector: str, wish: str) -> bool:
    """Whether a selector contains this condition (`type=Warning`)."""
    return wish in {part.strip().replace("==", "=") for part in selector.split(",")}


def _test(part: str) -> Callable[[Mapping[str, Any]], bool]:
    field, sign, value = part.partition("!=") if "!=" in part else part.replace("==", "=").partition("=")
    if field not in KNOWN or not sign:
        raise NotAnswered
    return lambda item: (_at(item, field) == value) is (sign == "=")


def _at(item: Any, field: str) -> str:
    for key in field.split("."):
        item = item.get(key) if isinstance(item, Mapping) else None
    return "" if item is None else str(item)
