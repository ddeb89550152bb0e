"""One long-running operation, polled by the rules of its resource provider.

    Azure-AsyncOperation   its URL always answers with a `status`: Succeeded, Failed and Canceled are final; any other
                           text (there are dozens, and new ones are added) means that it is running
    Location               202 means running; 200, 201 or 204 means done; each answer may name a new URL
    neither                the resource's own provisioningState, read again

An `error` beside a running or Succeeded status is a retry inside the provider, not a failure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from handlers.clients.refusals import code_and_message, in_short, retry_after_s


class State(StrEnum):
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELED = "canceled"


class Via(StrEnum):
    """Where the progress of an operation is read."""

    STATUS = "status"
    LOCATION = "location"
    RESOURCE = "resource"
    DONE = "done"


_ENDS = {
    "succeeded": State.SUCCEEDED,
    "failed": State.FAILED,
    "canceled": State.CANCELED,
    "cancelled": State.CANCELED,
}


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of an operation. `url` and `via` are all that another process needs to continue polling.

    `said` is the provider's own status text, `error` the code and message of a failure (redacted), `body` the last
    answer.
    """

    state: State
    url: str
    via: Via
    request_id: str
    said: str = ""
    error: str = ""
    retry_after_s: float | None = None
    body: Any = None

    @property
    def ended(self) -> bool:
        return self.state is not State.RUNNING


def begun(url: str, status: int, headers: Mapping[str, str], body: Any, request_id: str) -> Progress:
    """The progress that the answer to a write reports."""
    wait = retry_after_s(headers)
    if link := headers.get("azure-asyncoperation"):
        return Progress(State.RUNNING, link, Via.STATUS, request_id, retry_after_s=wait, body=body)
    if status == 202 and (link := headers.get("location")):
        return Progress(State.RUNNING, link, Via.LOCATION, request_id, retry_after_s=wait, body=body)
    if status in (200, 201) and _resource_state(body):
        return of_resource(url, body, request_id, wait)
    return Progress(State.SUCCEEDED, url, Via.DONE, request_id, body=body)


def polled(before: Progress, status: int, headers: Mapping[str, str], body: Any) -> Progress:
    """The progress that one poll reports."""
    wait = retry_after_s(headers)
    if before.via is Via.LOCATION:
        link = headers.get("location") or before.url
        state = State.RUNNING if status == 202 else State.SUCCEEDED
        return Progress(state, link, Via.LOCATION, before.request_id, retry_after_s=wait, body=body)
    if before.via is Via.RESOURCE:
        return of_resource(before.url, body, before.request_id, wait)
    text = str(body.get("status") or "") if isinstance(body, dict) else ""
    state = _ENDS.get(text.lower(), State.RUNNING)
    error = _error(state, status, body)
    return Progress(state, before.url, Via.STATUS, before.request_id, text, error, wait, body)


def of_resource(url: str, body: Any, request_id: str, wait: float | None) -> Progress:
    text = _resource_state(body)
    state = _ENDS.get(text.lower(), State.RUNNING if text else State.SUCCEEDED)
    error = f"provisioningState {text}" if state in (State.FAILED, State.CANCELED) else ""
    return Progress(state, url, Via.RESOURCE, request_id, text, error, wait, body)


def _resource_state(body: Any) -> str:
    properties = body.get("properties") if isinstance(body, dict) else None
    return str(properties.get("provisioningState") or "") if isinstance(properties, dict) else ""


def _error(state: State, status: int, body: Any) -> str:
    if state not in (State.FAILED, State.CANCELED):
        return ""
    code, message = code_and_message(body)
    text = in_short(status, code, message).removeprefix(f"{status} ")
    return text if code or message else f"{state}, and no reason was given"
