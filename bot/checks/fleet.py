"""Checks many clusters within a budget: some at a time, each whole, and one that fails costs only itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from bot.address import Address
from bot.checks.request import CheckRequest
from bot.checks.runner import Outcome, Runner, unwatched
from bot.queue.cancel import end
from bot.report.events import EVERYTHING, Selection
from handlers.fleet.cluster_text import ClusterRef
from handlers.fleet.clusters import FleetMember

AT_ONCE = 3
"""Each asks Azure some dozens of questions, and people ask meanwhile, too."""
MOST = 100
"""Of one question. Azure counts the reads of each subscription and hour."""


@dataclass(frozen=True, slots=True)
class Checked:
    """One cluster of the fleet, and how its check ended."""

    member: FleetMember
    outcome: Outcome


async def checked_fleet(
    members: Sequence[FleetMember], run: Runner, job: str, scope: Selection = EVERYTHING, at_once: int = AT_ONCE
) -> AsyncGenerator[Checked, None]:
    """Each as it ends. Close the iterator to cancel what still runs."""
    gate = asyncio.Semaphore(at_once)

    async def check(member: FleetMember) -> Checked:
        async with gate:
            name = f"{job}-{member.id.lower()}"
            request = CheckRequest(name, ClusterRef.of(member.id), Address(), scope)
            return Checked(member, await unwatched(request, run))

    tasks = [asyncio.create_task(check(member), name=f"check {member.name}") for member in members]
    try:
        for ended in asyncio.as_completed(tasks):
            yield await ended
    finally:
        await end(*tasks)
