"""How a fix ended, said where it was asked for: once, and sooner or later also where nobody could be told at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.checks.offered_fix import Fix
from bot.fixes.offering import Offering
from bot.fixes.proposal import End, Proposal
from bot.fixes.reporter import FixReporter
from bot.fixes.store.offers import FixesInHand
from bot.fixes.verify import offer_now
from bot.report.events import Report
from handlers.problem import Problem

_OFFERED_ANEW = (End.STALE, End.NOT_FIXED)


@dataclass(frozen=True)
class FinalMessage:
    """Raises CannotTell; the sweep then sees to it that it is said later."""

    reporter: FixReporter
    offering: Offering
    in_hand: FixesInHand
    check: Callable[[str], Awaitable[Report | Problem]]

    async def say(self, proposal: Proposal, report: Report | None = None) -> None:
        """`report`: what the look afterwards has found, for what can be done now."""
        await self.in_hand.must_report(proposal.id)
        offer = offer_now(proposal.plan, report) if report and proposal.end in _OFFERED_ANEW else None
        fixes: tuple[Fix, ...] = ()
        if offer:
            fixes = (await self.offering.one(offer, proposal.team, proposal.spot, f"after-{proposal.id}"),)
        await self.reporter.show(proposal.id)
        await self.reporter.report_outcome(proposal, fixes)
        await self.in_hand.outcome_is_reported(proposal.id)

    async def post_again(self, proposal: Proposal) -> None:
        """For a worker that takes up what another one may have said: what can be done now is looked for anew."""
        if proposal.end not in _OFFERED_ANEW or await self.reporter.has_reported_outcome(proposal):
            await self.say(proposal)
            return
        report = await self.check(proposal.plan.cluster)
        await self.say(proposal, report if isinstance(report, Report) else None)
