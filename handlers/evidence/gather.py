"""Ask for several things of one kind at once; one that cannot be seen is a gap, not the end of the others."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from handlers.model import CannotSee, Unavailable, Why
from handlers.resource_id import last_name

Item = TypeVar("Item")
Result = TypeVar("Result")

_SUBSCRIPTION, _GROUP, _ITSELF = 3, 5, None
"""How many parts of an id name its subscription, its resource group, and itself."""


async def each(
    items: Sequence[Item], fetch: Callable[[Item], Awaitable[Result]]
) -> tuple[list[Result], tuple[Unavailable, ...]]:
    """Results in the order of the items, and what could not be seen. When nothing could, that is raised."""
    answers = await _all(items, fetch)
    refused = [answer for answer in answers if isinstance(answer, CannotSee)]
    if refused and len(refused) == len(answers):
        raise refused[0]
    results = [answer for answer in answers if not isinstance(answer, CannotSee)]
    return results, tuple(dict.fromkeys(error.unavailable for error in refused))


async def narrowing(
    wanted: Sequence[str], fetch: Callable[[str], Awaitable[Result]]
) -> tuple[dict[str, Result], tuple[Unavailable, ...]]:
    """Ask at the subscriptions of some resources; where that is denied, at their groups, and then at each of them.

    For lists that show at every scope what holds there from above, too: whoever may look at a group misses nothing of
    it. Answers come by the scope that was asked, in lower case. What is denied at every width is a gap. When nothing
    could be seen, the first refusal is raised.
    """
    answers: dict[str, Result | CannotSee] = {}
    left = list(wanted)
    for width in (_SUBSCRIPTION, _GROUP, _ITSELF):
        scopes = {scope.lower(): scope for item in left if (scope := _cut(item, width)).lower() not in answers}
        answers |= dict(zip(scopes, await _all([*scopes.values()], fetch), strict=True))
        left = [item for item in left if _is_denied(answers[_cut(item, width).lower()])]
    results = {scope: answer for scope, answer in answers.items() if not isinstance(answer, CannotSee)}
    refused = {scope: answer for scope, answer in answers.items() if isinstance(answer, CannotSee)}
    if refused and not results:
        raise next(iter(refused.values()))
    gaps = [error.unavailable for error in refused.values() if not _is_denied(error)]
    unseen = [replace(refused[item.lower()].unavailable, wanted=f"what holds {last_name(item)}") for item in left]
    return results, tuple(dict.fromkeys((*gaps, *unseen)))


async def from_subscription(subscription: str, answer: Awaitable[Result]) -> Result:
    """Await what Azure answers for a whole subscription only; where it is denied, say on which it is missing."""
    try:
        return await answer
    except CannotSee as error:
        seen = error.unavailable
        if seen.why is not Why.DENIED:
            raise
        where = f"missing on /subscriptions/{subscription}: a role on resource groups does not show it"
        raise CannotSee(replace(seen, detail=f"{where}; {seen.detail}")) from error


async def _all(items: Sequence[Item], fetch: Callable[[Item], Awaitable[Result]]) -> list[Result | CannotSee]:
    async def one(item: Item) -> Result | CannotSee:
        try:
            return await fetch(item)
        except CannotSee as error:
            return error

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(item)) for item in items]
    return [task.result() for task in tasks]


def _cut(resource: str, parts: int | None) -> str:
    return "/".join(resource.split("/")[:parts])


def _is_denied(answer: object) -> bool:
    return isinstance(answer, CannotSee) and answer.unavailable.why is Why.DENIED
