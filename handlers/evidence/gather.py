"""Ask for several things of one kind at once; one that cannot be seen is a gap, not the end of the others."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from handlers.model import CannotSee, Unavailable

Item = TypeVar("Item")
Result = TypeVar("Result")


async def each(
    items: Sequence[Item], fetch: Callable[[Item], Awaitable[Result]]
) -> tuple[list[Result], tuple[Unavailable, ...]]:
    """Results in the order of the items, and what could not be seen. When nothing could, that is raised."""

    async def one(item: Item) -> Result | CannotSee:
        try:
            return await fetch(item)
        except CannotSee as error:
            return error

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(item)) for item in items]
    answers = [task.result() for task in tasks]
    refused = [answer for answer in answers if isinstance(answer, CannotSee)]
    if refused and len(refused) == len(answers):
        raise refused[0]
    results = [answer for answer in answers if not isinstance(answer, CannotSee)]
    return results, tuple(dict.fromkeys(error.unavailable for error in refused))
