"""One event of the activity log with what a change is told by: who called, and what the request said."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from handlers.evidence.monitor import DENY_EVENT, OPERATIONS, Event, Request, read_event
from handlers.evidence.wire import dig, text

HEALTH = "microsoft.resourcehealth/healthevent/"
_SCALARS = (
    ("kubernetesVersion", "Kubernetes {}"),
    ("orchestratorVersion", "Kubernetes {}"),
    ("count", "count {}"),
    ("minCount", "at least {}"),
    ("maxCount", "at most {}"),
    ("vmSize", "size {}"),
    ("level", "{}"),
    ("notes", "{}"),
)
"""What a request may say under `properties`, and how it is told."""
_LONGEST = 80


@dataclass(frozen=True, slots=True)
class Row:
    """An event, who called, what Azure calls the operation, and the request's body where the log holds it."""

    event: Event
    caller: str
    title: str
    request: Mapping[str, Any]
    properties: Mapping[str, Any]

    @property
    def operation(self) -> str:
        return self.event.operation.lower()

    @property
    def changes_something(self) -> bool:
        """Whether it is a write, a denial, or Azure's own word on health; listing keys and audits are none."""
        operation = self.operation
        if operation == DENY_EVENT or operation.startswith(HEALTH):
            return True
        return operation.endswith(("/write", "/delete")) or "/".join(operation.split("/")[-2:]) in OPERATIONS

    def said(self) -> Iterator[str]:
        """What the request changed, as far as the record says so."""
        asked = dig(self.request, "properties") or self.request
        for key, form in _SCALARS:
            value = dig(asked, key)
            if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
                yield form.format(str(value)[:_LONGEST])


def read_rows(items: Collection[Mapping[str, Any]]) -> tuple[Row, ...]:
    """The rows of one log, as it returned them."""
    begun = {_request(item) for item in items if text(item, "status", "value").lower() == "accepted"}
    return tuple(_row(item, begun) for item in items)


def _row(item: Mapping[str, Any], begun: Collection[Request]) -> Row:
    operation, title = text(item, "operationName", "value"), text(item, "operationName", "localizedValue")
    properties = dig(item, "properties")
    return Row(
        read_event(item, begun),
        text(item, "caller"),
        "" if title == operation else title,
        _body(dig(item, "properties", "requestbody")),
        properties if isinstance(properties, Mapping) else {},
    )


def _body(text_of_request: Any) -> Mapping[str, Any]:
    """It is JSON in a string, and may be cut in the middle."""
    try:
        body = json.loads(text_of_request) if isinstance(text_of_request, str) else None
    except ValueError:
        return {}
    return body if isinstance(body, Mapping) else {}


def _request(item: Mapping[str, Any]) -> Request:
    request = text(item, "operationId") or text(item, "correlationId")
    return request, text(item, "operationName", "value").lower(), text(item, "resourceId").lower()
