"""Once a minute: fixes whose worker is gone go on, requests that wait call the next group, offers that nobody took up
expire, and what was left relaxed is put back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial

from bot.fixes import moves
from bot.fixes.escalating import Escalating
from bot.fixes.moves import NotMoved
from bot.fixes.proposal import End, Proposal, State
from bot.fixes.runner import Runs, Tools
from bot.fixes.store import audit_records
from bot.queue.retry import CannotTell
from bot.store.away import StoreAway

log = logging.getLogger(__name__)

EVERY_S = 60.0
LEFTOVERS_EVERY_S = 600.0
"""It asks every cluster that a fix may act in."""

Look = Callable[[], Awaitable[None]]


class Sweep:
    """Each worker has one; they do not get into each other's way."""

    def __init__(
        self, tools: Tools, runs: Runs, restore: Look, escalating: Escalating, *, every_s: float = EVERY_S
    ) -> None:
        self._tools, self._runs, self._restore, self._every_s = tools, runs, restore, every_s
        self._escalating = escalating

    async def keep_on(self) -> None:
        """Until cancelled."""
        await self._repeat(self.once, self._every_s)

    async def keep_restoring(self) -> None:
        """Until cancelled. Beside it: clusters that do not answer keep no fix waiting."""
        await self._repeat(self._restore, LEFTOVERS_EVERY_S)

    async def _repeat(self, look: Look, every_s: float) -> None:
        while True:
            await self._safely(look)
            await asyncio.sleep(every_s)

    async def _safely(self, look: Look) -> None:
        try:
            await look()
        except StoreAway as away:
            log.info("no look after the fixes for now: %s", away)
        except Exception:  # the edge of a loop: one fix or cluster that cannot be looked at must not cost the others
            log.exception("looking after the fixes failed this time")

    async def once(self) -> None:
        async for team in self._tools.proposals.teams():
            for proposal in await self._tools.proposals.open(team):
                await self._safely(partial(self._look_after, proposal))
        for name in await self._tools.in_hand.unreported_outcomes():
            await self._safely(partial(self._go_on, name, "has ended, and nobody was told"))

    async def _look_after(self, proposal: Proposal) -> None:
        if proposal.state is not State.OFFERED:
            await self._go_on(proposal.id, "has no worker, and goes on")
            return
        if await self._tools.proposals.now_ms() >= proposal.expires_ms:
            await self._expire(proposal)
            return
        with suppress(CannotTell):
            await self._escalating.look(proposal)

    async def _expire(self, proposal: Proposal) -> None:
        in_hand = self._tools.in_hand
        if proposal.requester is not None:
            # No job stands behind this: whoever dies here leaves it to the next round.
            await in_hand.must_report(proposal.id)
        moved = await self._tools.proposals.move(proposal.id, moves.expire)
        if isinstance(moved, NotMoved):
            # Of one that somebody else has ended they may still have to tell.
            if moved.proposal is None or moved.proposal.state is not State.ENDED:
                await in_hand.outcome_is_reported(proposal.id)
        elif moved.requester is not None:
            await self._tools.audit.write_once(
                audit_records.ended(moved, End.EXPIRED, "", None), f"ended {proposal.id}"
            )
            with suppress(CannotTell):
                await self._runs.last_word.say(moved)

    async def _go_on(self, name: str, why: str) -> None:
        if not await self._tools.in_hand.is_alive(name):
            log.warning("fix %s %s", name, why)
            # Another number than any piece that may still lie in the queue.
            await self._runs.begin(name, int(datetime.now(UTC).timestamp()))
