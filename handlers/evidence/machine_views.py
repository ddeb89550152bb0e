"""Power state and errors of machines outside of scale sets. A list of a resource group does not hold them.

One list tells the statuses of a whole subscription (`statusOnly=true`: ids and statuses, no tags, no extensions). A
reader that may not list the subscription asks each machine, and so is asked what Failed: its extensions tell why.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from handlers.clients.arm.reader import ArmReader
from handlers.evidence.azure import ended_badly
from handlers.evidence.gather import each
from handlers.evidence.wire import dig, need_text, text, whole
from handlers.model import CannotSee, Unavailable, Why

AT_ONCE = 3
"""Compute counts reads of machines by subscription and minute; others in it need some too."""
MOST_ASKED = 60
"""Three at once and a third of a second each: about as many as end within the deadline of one fact."""


@dataclass(frozen=True, slots=True)
class Views:
    """What was told, by the machine's id in lower case, and what was not asked."""

    by_id: Mapping[str, Any] = field(default_factory=dict)
    gaps: tuple[Unavailable, ...] = ()

    def of(self, machine: str) -> Any:
        return self.by_id.get(machine.lower())


async def machine_views(
    arm: ArmReader, subscription: str, machines: Sequence[Mapping[str, Any]], api: str, *, most: int
) -> Views:
    """The views of these machines (their wire bodies)."""
    if not machines:
        return Views()
    ids = [need_text(machine, "id") for machine in machines]
    states = (text(machine, "properties", "provisioningState") for machine in machines)
    failed = [item for item, state in zip(ids, states, strict=True) if ended_badly(state)]
    try:
        told = await _statuses(arm, subscription, api, most)
    except CannotSee:
        told = {}
    # What is Failed first: if not all can be asked, those are the ones that matter.
    asked = list(dict.fromkeys([*failed, *(item for item in ids if item.lower() not in told)]))
    views, gaps = await _each_view(arm, asked[:MOST_ASKED], api)
    if len(asked) > MOST_ASKED:
        detail = (
            f"{len(asked) - MOST_ASKED} of {len(machines)} were not asked: the subscription's list was not readable"
        )
        gaps = (*gaps, Unavailable("the power states of the virtual machines", Why.FAILED, detail))
    # A machine that is gone meanwhile has no view: that is no gap.
    return Views({**told, **views}, tuple(gap for gap in gaps if gap.why is not Why.ABSENT))


async def _statuses(arm: ArmReader, subscription: str, api: str, most: int) -> dict[str, Any]:
    path = f"/subscriptions/{subscription}/providers/Microsoft.Compute/virtualMachines"
    listing = await arm.list(path, api, params={"statusOnly": "true"}, most=most)
    return {need_text(item, "id").lower(): dig(item, "properties", "instanceView") for item in whole(listing.items)}


async def _each_view(arm: ArmReader, ids: Sequence[str], api: str) -> tuple[dict[str, Any], tuple[Unavailable, ...]]:
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(machine: str) -> tuple[str, Any]:
        async with gate:
            answer = await arm.get(f"{machine}/instanceView", api)
        return machine.lower(), answer.body

    try:
        views, gaps = await each(ids, one)
    except CannotSee as error:
        return {}, (error.unavailable,)
    return dict(views), gaps
