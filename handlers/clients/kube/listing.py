"""The pages of a Kubernetes list."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

import orjson

from handlers.clients.errors import Garbled

T = TypeVar("T")
A = TypeVar("A")


@contextmanager
def without_collector() -> Iterator[None]:
    """For parsing a page: 50,000 objects without reference cycles, which Python's cycle collector would walk again and
    again, taking half of the whole time. Do not await inside.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@dataclass(frozen=True, slots=True)
class KubeListing(Generic[T]):
    """What was kept of a list, and whether it was cut."""

    items: tuple[T, ...]
    source: str
    taken_at: datetime
    truncated: bool


@dataclass(frozen=True, slots=True)
class Folded(Generic[A]):
    """The sum over a list, and whether it was cut."""

    value: A
    source: str
    taken_at: datetime
    truncated: bool


def read_page(content: bytes, wanted: str) -> tuple[list[dict[str, Any]], str]:
    """The objects of one page and the token of the next. An answer without a list is an error, not an empty list."""
    body = parsed(content, wanted)
    rows = body.get("items") if isinstance(body, dict) else None
    if rows is None and isinstance(body, dict) and "items" in body and str(body.get("kind", "")).endswith("List"):
        rows = []
    meta = body.get("metadata", {}) if isinstance(body, dict) else None
    if not isinstance(rows, list) or not isinstance(meta, dict):
        raise Garbled(wanted, "200, but the answer holds no list", status=200)
    if not all(type(row) is dict for row in rows):
        raise Garbled(wanted, "200, but the list holds what is no object", status=200)
    token = meta.get("continue") or ""
    if not isinstance(token, str):
        raise Garbled(wanted, "200, but what should lead to the next page is no text", status=200)
    return rows, token


def parsed(content: bytes, wanted: str) -> Any:
    """Parse JSON strictly."""
    if not content.strip():
        raise Garbled(wanted, "200, but the answer is empty", status=200)
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        start = content[:100].lstrip()
        what = "a web page came instead of JSON" if start.startswith(b"<") else "what came is no JSON"
        raise Garbled(wanted, f"200, but {what}", status=200) from None
