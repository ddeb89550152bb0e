"""From what a report offers to buttons: each plan becomes a proposal, or the reasons why nobody can press anything."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from bot.address import Address
from bot.checks.offered_fix import Fix
from bot.checks.reporter import Answer
from bot.checks.request import CheckRequest
from bot.fixes import reasons
from bot.fixes.may import NotAllowed, Open, may_be_offered
from bot.fixes.store.offers import OfferedPlans
from bot.fixes.store.proposals import MOST_TRIES, Proposals
from bot.fixes.times import Times
from bot.policy.fixes import Fixes
from bot.redaction import redacted
from bot.report.events import Report
from bot.store.away import StoreAway
from handlers.remedy.plan import Offer, Plan
from handlers.resource_id import last_name


class Offering:
    """Makes proposals. The same plan of the same answer is one proposal, however often it is told."""

    def __init__(self, policy: Fixes, proposals: Proposals, offered: OfferedPlans, times: Times) -> None:
        self._policy, self._proposals, self._offered, self._times = policy, proposals, offered, times

    async def completed(self, request: CheckRequest, answer: Answer) -> Answer:
        """The answer to a check, with its fixes."""
        place = request.place
        return replace(answer, fixes=await self.of(answer.report, place.team, place.thread, request.id))

    async def of(self, report: Report, team: str, spot: Address, asked: str) -> tuple[Fix, ...]:
        """What stands under the causes of a report. `asked` names the answer that it stands in."""
        return tuple([await self.one(offer, team, spot, asked) for offer in report.offers])

    async def one(self, offer: Offer, team: str, spot: Address, asked: str) -> Fix:
        plan = offer.plan
        if plan is None:
            return Fix(offer, reasons=offer.forbidden)
        if holds_a_secret(plan):
            return Fix(offer, reasons=(reasons.SECRET_IN_PLAN,))
        with suppress(StoreAway):  # then nothing is offered in any case
            await self._times.agree(self._proposals.now_ms)
        may = may_be_offered(self._policy, plan, self._times.now())
        if isinstance(may, NotAllowed):
            return Fix(offer, reasons=(reasons.barred(may, last_name(plan.cluster), plan.remedy),))
        try:
            return await self._proposed(offer, plan, may, team, spot, asked)
        except StoreAway:
            return Fix(offer, reasons=(reasons.MEMORY_AWAY,))

    async def _proposed(self, offer: Offer, plan: Plan, may: Open, team: str, spot: Address, asked: str) -> Fix:
        tries = await self._proposals.failed_tries(plan)
        if tries >= MOST_TRIES:
            return Fix(offer, reasons=(reasons.escalate(tries, plan.title),))
        known = await self._offered.proposal(asked, plan.digest)
        if known is None:
            made = await self._proposals.offer(plan, team, spot, may.rules)
            known = await self._offered.remember(asked, plan.digest, made.id)
        return Fix(offer, known)


def holds_a_secret(plan: Plan) -> bool:
    """Or a mark in a secret's place: what would be kept, shown and sent is not one and the same then."""
    written = plan.as_dict() | {"before": _without_sentences(plan.before)}
    return "[redacted:" in plan.as_json() or redacted(written) is not written


def _without_sentences(before: Mapping[str, Any]) -> dict[str, Any]:
    """A sentence ("eTag of pool token") says nothing about its value; a key without a space may."""
    return {str(number) if " " in name else name: value for number, (name, value) in enumerate(before.items())}
