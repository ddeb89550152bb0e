"""The sentences about a gap in the connection to Slack."""

from __future__ import annotations

from datetime import UTC, datetime


def not_read(since: float, until: float, read_from: float) -> str:
    """For a channel or thread in which something was written before the part that was read."""
    day = f" ({_at(since):%d %B})" if _at(since).date() != _at(until).date() else ""
    return (
        f"I was not connected to Slack from {_at(since):%H:%M}{day} to {_at(until):%H:%M} UTC, and I have not read "
        f"what was written here before {_at(read_from):%H:%M}. If it still matters, post it again or mention me."
    )


def cut_off(since: float, until: float) -> str:
    """For a thread whose end was not read."""
    return (
        f"I was not connected to Slack from {_at(since):%H:%M} to {_at(until):%H:%M} UTC, and more was written in this "
        "thread meanwhile than I read. If it still matters, post it again or mention me."
    )


def not_taken_in(at: float) -> str:
    """For a channel or thread in which one message could not be read."""
    return (
        f"I could not process a message that was posted here at {_at(at):%H:%M} UTC while I was not connected to "
        "Slack; aksbot's log says why. If it still matters, post it again in other words."
    )


def _at(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
