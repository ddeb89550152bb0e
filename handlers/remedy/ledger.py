"""Where an execution is stored between two pieces of work: Redis in the bot, memory in tests."""

from __future__ import annotations

from typing import Protocol

from handlers.remedy.execution import Execution


class NotOurs(Exception):
    """Another worker has taken over this fix: stop without reporting anything."""


class Ledger(Protocol):
    """Stores one execution for one worker."""

    async def save(self, execution: Execution) -> None:
        """Durable when it returns. Raises NotOurs, and changes nothing, if another worker has taken over."""
