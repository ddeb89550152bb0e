"""What was asked of an API server, by whom, and how it ended. Never a header that carries a secret."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class LoggedRequest:
    """One request. `status` and `ended` stay empty while it runs; `status` also when no answer was sent."""

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
