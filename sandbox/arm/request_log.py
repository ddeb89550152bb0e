"""The request log: request, caller and outcome. It never contains headers with secrets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class LoggedRequest:
    """One request. `status` and `ended` are empty while it runs; `status` stays empty if no response was sent."""

    method: str
    path: str
    route: str
    action: str
    principal: str | None
    client_request_id: str | None
    is_write: bool
    started: float
    ended: float | None = None
    status: int | None = None
    query: str = ""
    """As sent, without the signature of a polling URL."""
