"""What makes the queue try a job again."""

from __future__ import annotations


class CannotTell(Exception):
    """The answer could not be delivered, and may be tried again."""
