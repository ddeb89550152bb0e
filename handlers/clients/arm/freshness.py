"""How old a cached Azure answer may be for the current task."""

from __future__ import annotations

from contextvars import ContextVar

from handlers.clients.clock import Clock

_since: ContextVar[float] = ContextVar("since", default=float("-inf"))


def require_fresh_answers(clock: Clock) -> None:
    """In this task and the tasks it starts, do not use answers cached before this moment."""
    _since.set(clock.now())


def oldest_acceptable() -> float:
    """In loop time: answers requested before this are too old."""
    return _since.get()
