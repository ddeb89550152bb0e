"""The log of Web API calls and their outcome. It never contains tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class LoggedCall:
    """One call. `status` stays empty if no response was sent; `error` is Slack's error code."""

    method: str
    team: str
    args: dict[str, Any]
    started: float
    ended: float | None = None
    status: int | None = None
    error: str | None = None
    scopes: tuple[str, ...] = field(default=())
    """The scopes that this call used."""
