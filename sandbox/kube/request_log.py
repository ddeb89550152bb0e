"""The request log: request, user and outcome. It never contains headers with secrets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class LoggedRequest:
    """One request. `status` and `ended` are empty while it runs; `status` stays empty if no response was sent."""

    method: str
    path: str
    query: str
    route: str
    verb: str
    resource: str
    namespace: str
    name: str
    user: str
    is_write: bool
    started: float
    ended: float | None = None
    status: int | None = None
