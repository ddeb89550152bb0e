"""Several people told in turn, where one whose place takes no answer holds up nobody else's for long."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

log = logging.getLogger(__name__)

T = TypeVar("T")

_PATIENCE_S = 0.25
"""So long one is waited for before the next begins. Hundreds told at once keep the process from acknowledging what
comes meanwhile: that took several times as long."""


async def notify_in_order(tellings: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """What each returned, in their order. Where one raises, the others still come to their end; then the first is
    raised, and the others are logged. Give it a generator: what has not begun when all is cancelled never does."""
    tasks: list[asyncio.Task[T | Exception]] = []
    async with asyncio.TaskGroup() as group:
        for telling in tellings:
            tasks.append(group.create_task(_ended(telling)))
            await asyncio.wait({tasks[-1]}, timeout=_PATIENCE_S)
    ended = [task.result() for task in tasks]
    failed = [item for item in ended if isinstance(item, Exception)]
    for error in failed[1:]:
        log.warning("telling someone failed, too: %r", error)
    if failed:
        raise failed[0]
    return [item for item in ended if not isinstance(item, Exception)]


async def _ended(telling: Coroutine[Any, Any, T]) -> T | Exception:
    try:
        return await telling
    except Exception as error:  # noqa: BLE001 raised when all have ended
        return error
