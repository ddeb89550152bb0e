"""What was asked of the Web API, and how it ended. Tokens are never in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class LoggedCall:
    """One call. `status` stays empty when no answer was sent; `error` is Slack's word for a refusal."""

    method: str
    team: str
    args: dict[str, Any]
    started: float
    ended: float | None = None
    status: int | None = None
    error: str | None = None
    scopes: tuple[str, ...] = field(default=())
    """The scopes this call made use of."""
