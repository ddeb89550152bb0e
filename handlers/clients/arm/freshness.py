"""How old an answer of Azure may be for the piece of work that asks."""

from __future__ import annotations

from contextvars import ContextVar

from handlers.clients.clock import Clock

_since: ContextVar[float] = ContextVar("since", default=float("-inf"))


def only_answers_from_now_on(clock: Clock) -> None:
    """For this task and those that it starts: what was asked before this moment will not do."""
    _since.set(clock.now())


def oldest_wanted() -> float:
    """Loop time; what was asked earlier is too old."""
    return _since.get()
