"""Whom a fix speaks to. Slack is one reporter, a test another: a fix knows neither.

Each call is safe to repeat: after a crash another worker says the same again, and people see it once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bot.checks.offered_fix import Fix
from bot.fixes.may import Called
from bot.fixes.proposal import Proposal


class FixReporter(Protocol):
    """What everybody sees where a fix was asked for. Raises `CannotTell` where it could not."""

    async def show(self, name: str) -> None:
        """Bring the message of this proposal up to date. One that nobody has asked for has none."""

    async def try_to_show(self, name: str) -> None:
        """The same where nothing hangs on it, because the next step shows it, too. Never raises CannotTell."""

    async def escalate(self, proposal: Proposal, called: Called, level: int) -> None:
        """Nobody has approved it for too long: call these people, too, once for each level."""

    async def report_outcome(self, proposal: Proposal, fixes: Sequence[Fix] = ()) -> None:
        """How it ended, once, with what can be done now."""

    async def has_reported_outcome(self, proposal: Proposal) -> bool:
        """Whether somebody has said already how it ended."""
