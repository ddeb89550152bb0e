"""Where an execution is kept between two pieces of work: Redis in the bot, whatever a test likes in a test."""

from __future__ import annotations

from typing import Protocol

from handlers.remedy.execution import Execution


class NotOurs(Exception):
    """Another worker carries on with this fix: let go of it without a word."""


class Ledger(Protocol):
    """Kept for one execution by one worker."""

    async def save(self, execution: Execution) -> None:
        """Durable when it returns. Raises NotOurs, and changes nothing, when another worker has taken it over."""
