"""The response types that handlers return, and each provider's JSON formatting."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

EMPTY = object()
"""No body at all, which is not the same as `null` (some providers send those four bytes)."""


@dataclass(slots=True)
class Answer:
    """A response, before the common headers are added."""

    status: int
    body: Any = EMPTY
    headers: dict[str, str] = field(default_factory=dict)
    aks: bool = False
    """Made by the AKS provider itself: printed with one-space indents, without a charset."""


class Refusal(Exception):
    """An error response, raised as an exception from anywhere in a handler."""

    def __init__(
        self,
        status: int,
        body: Mapping[str, Any],
        headers: Mapping[str, str] | None = None,
        *,
        aks: bool = False,
    ) -> None:
        super().__init__(f"{status} {body}")
        self.answer = Answer(status, dict(body), dict(headers or {}), aks)


def to_bytes(answer: Answer) -> bytes:
    """The body as sent over the wire."""
    if answer.body is EMPTY:
        return b""
    if answer.aks:
        return json.dumps(answer.body, indent=1, ensure_ascii=False).encode()
    return orjson.dumps(answer.body)


def content_type(answer: Answer) -> str | None:
    if answer.body is EMPTY:
        return None
    return "application/json" if answer.aks else "application/json; charset=utf-8"
