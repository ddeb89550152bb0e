"""The messages of a proposal: one that changes in place, and one at the end that rings a bell."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

from bot.address import Address
from bot.checks.offered_fix import Fix
from bot.fixes.may import Called, NotAllowed, may_be_offered, whom_to_call
from bot.fixes.proposal import Proposal, State
from bot.fixes.store.executions import Executions
from bot.fixes.store.proposals import Proposals
from bot.fixes.times import Times
from bot.policy.fixes import Fixes
from bot.queue.retry import CannotTell
from bot.slack.api.calls import CallFailed
from bot.slack.api.poster import Poster, Reply
from bot.slack.fixes import view as fixes_view
from bot.slack.fixes.view import Shown
from bot.slack.kit.message import Message
from handlers.remedy.execution import Execution

log = logging.getLogger(__name__)

MESSAGE, OUTCOME, GLASS, ESCALATED = "proposal", "outcome", "glass", "escalated"
_ROUNDS = 5


class Board:
    """A `bot.fixes.reporter.FixReporter`: what everybody in the thread sees. What Slack's handlers alone say (`post`,
    `tell`) raises CallFailed."""

    def __init__(
        self, message_poster: Poster, proposals: Proposals, executions: Executions, policy: Fixes, times: Times
    ) -> None:
        self._message_poster, self._proposals, self._executions = message_poster, proposals, executions
        self._policy, self._times = policy, times

    async def post(self, proposal: Proposal) -> Address:
        """The message itself, once. It calls those whom the policy calls; an edit, which rings no bell, names all who
        may approve."""
        shown = self._shown(proposal, await self._executions.load(proposal.id))
        aloud = fixes_view.message(replace(shown, called=shown.called.aloud))
        posted, new = await self._message_poster.once(where(proposal), MESSAGE, aloud)
        if new and shown.called.quiet:
            await self._message_poster.change_or_repeat(where(proposal), posted, MESSAGE, fixes_view.message(shown))
        return posted

    async def show(self, name: str) -> None:
        """Of several who do so at once the last one shows the latest."""
        with _or_cannot_tell():
            proposal, here = await self._latest(name)
            for _ in range(_ROUNDS):
                if proposal is None or proposal.requester is None:
                    return
                await self._change(proposal, here)
                shown, seen = proposal, here
                # A fresh read: somebody may have moved it while Slack took the message.
                proposal, here = await self._latest(name)
                if proposal is None or (proposal.version == shown.version and _shows_all(seen, here)):
                    return

    async def try_to_show(self, name: str) -> None:
        try:
            await self.show(name)
        except CannotTell as failed:
            log.warning("how far fix %s is could not be shown: %s", name, failed)

    async def escalate(self, proposal: Proposal, called: Called, level: int) -> None:
        message = fixes_view.escalated(proposal, called, self._times.now())
        with _or_cannot_tell():
            await self._message_poster.once(where(proposal), f"{ESCALATED}-{level}", message)

    async def report_outcome(self, proposal: Proposal, fixes: Sequence[Fix] = ()) -> None:
        if proposal.requester is not None:
            with _or_cannot_tell():
                await self._message_poster.once(where(proposal), OUTCOME, fixes_view.outcome(proposal, fixes))

    async def has_reported_outcome(self, proposal: Proposal) -> bool:
        with _or_cannot_tell():
            return await self._message_poster.standing(where(proposal), OUTCOME) is not None

    async def tell(self, proposal: Proposal, part: str, message: Message) -> None:
        """Something else, once."""
        await self._message_poster.once(where(proposal), part, message)

    async def _change(self, proposal: Proposal, here: Execution | None) -> None:
        posted = await self._message_poster.standing(where(proposal), MESSAGE)
        if posted is None:
            posted = await self.post(proposal)
        message = fixes_view.message(self._shown(proposal, here))
        await self._message_poster.change_or_repeat(where(proposal), posted, MESSAGE, message)

    def _shown(self, proposal: Proposal, here: Execution | None) -> Shown:
        now = self._times.now()
        may = may_be_offered(self._policy, proposal.plan, now)
        if proposal.state is not State.OFFERED:
            return Shown(proposal, here, now=now)
        if isinstance(may, NotAllowed):
            return Shown(proposal, here, now=now, barred=may)
        called = whom_to_call(self._policy, may, now, escalated=proposal.escalated)
        return Shown(proposal.under(may.rules), here, called, may.rule.break_glass, now=now)

    async def _latest(self, name: str) -> tuple[Proposal | None, Execution | None]:
        proposal = await self._proposals.load(name)
        return proposal, await self._executions.load(name) if proposal and proposal.requester else None


def _shows_all(seen: Execution | None, now: Execution | None) -> bool:
    """Whether nothing has happened since that people follow."""
    return now is None or (seen is not None and len(now.notes) == len(seen.notes) and now.step == seen.step)


@contextmanager
def _or_cannot_tell() -> Iterator[None]:
    try:
        yield
    except CallFailed as failed:
        raise CannotTell(str(failed)) from failed


def where(proposal: Proposal) -> Reply:
    """The thread in which it was asked for."""
    user = proposal.requester.user if proposal.requester else ""
    place = Address(proposal.team, proposal.spot.channel, user, thread_ts=proposal.spot.thread_ts)
    return Reply(f"fix-{proposal.id}", place, datetime.fromtimestamp(proposal.offered_ms / 1000, UTC))
