"""What is being collected right now and until when, so that a client can say for whom it calls and when to stop."""

from contextvars import ContextVar

collecting: ContextVar[str] = ContextVar("collecting", default="")

deadline: ContextVar[float | None] = ContextVar("deadline", default=None)
"""The running loop's time at which the collector is cut off."""
