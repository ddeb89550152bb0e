"""The request and response types of handlers, and the error responses that they raise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from sandbox.kube.kinds import Kind
from sandbox.kube.place import Place

Body = dict[str, Any]

JSON = "application/json"
TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class User:
    """The authenticated user."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    alias: str = ""
    """The sandbox principal's name, if the user is one."""


ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))


@dataclass(frozen=True, slots=True)
class Call:
    """One authenticated request."""

    method: str
    place: Place
    query: Mapping[str, str]
    accept: str
    content_type: str
    content: bytes
    user: User

    def flag(self, name: str) -> bool:
        return self.query.get(name, "").lower() in ("1", "true", "t")


@dataclass(frozen=True, slots=True)
class WatchRequest:
    """An authorized, valid watch request, which the Door streams."""

    kind: Kind
    namespace: str
    name: str
    call: Call


@dataclass(frozen=True, slots=True)
class Answer:
    """A response. `body` is JSON, pre-encoded bytes or a watch."""

    status: int
    body: Any
    content_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        if isinstance(self.body, str):
            return self.body.encode()
        return orjson.dumps(self.body) + b"\n"


class Refusal(Exception):
    """An error response."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(f"{answer.status} {answer.body}")
        self.answer = answer
