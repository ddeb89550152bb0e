"""Whether a fix may still begin: what people said to it is weighed again, by today's policy and who they are now.

Asked when it begins, and once more right before its first write: a check lies in between, and half a day where no
worker lived.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from bot.fixes import reasons
from bot.fixes.may import NotAllowed, Open, may_approve, may_be_offered, may_break_glass
from bot.fixes.proposal import Approval, End, Proposal
from bot.fixes.store.proposals import MOST_TRIES, Proposals
from bot.fixes.times import Times
from bot.policy.fixes import Fixes
from bot.policy.look import Asker
from handlers.remedy.permit import NotKnown, Permit, Withdrawn


class CannotAsk(Exception):
    """Who people are could not be asked now."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """There is nobody of this id, by the word of whoever was asked."""

    why: str


class Askers(Protocol):
    """Knows who people are. A yes of an hour ago must still be one now, so nothing that is remembered will do."""

    async def askers_now(self, team: str, users: Iterable[str], groups: Iterable[str]) -> Mapping[str, Asker | Unknown]:
        """Each of these people, and which of these groups they are in. Raises CannotAsk."""


@dataclass(frozen=True)
class ApprovalRecheck:
    """The stricter counts: the rules that it was offered under, or those of now. Raises CannotAsk."""

    policy: Fixes
    proposals: Proposals
    askers: Askers
    times: Times

    async def against(self, proposal: Proposal) -> tuple[End, str] | None:
        """How it ends instead of beginning, and why; None if nothing stands against it."""
        if not is_word_for_this(proposal):
            return End.CANCELLED, reasons.NOT_AS_APPROVED
        may = may_be_offered(self.policy, proposal.plan, self.times.now())
        if isinstance(may, NotAllowed):
            frozen = may.freeze and reasons.frozen_since(may.freeze)
            return End.CANCELLED, frozen or f"{reasons.NOBODY_MAY_NOW}: {may.barrier.value}"
        now_as = proposal.under(may.rules)
        if await self.proposals.now_ms() >= now_as.stands_until_ms:
            return End.EXPIRED, reasons.approved_long_ago(now_as.rules.lasts_ms // 60_000)
        lost = await self._lost(proposal, may)
        left = replace(now_as, approvals=tuple(word for word in proposal.approvals if word not in lost))
        freeze = self.policy.freeze_on(may.rule, self.times.now())
        if freeze and not any(word.broke_glass for word in left.approvals):
            return End.CANCELLED, reasons.frozen_since(freeze)
        if not is_word_for_this(left):
            whys = [reasons.lost_word(word.person, why) for word, why in lost.items()]
            return End.CANCELLED, reasons.not_enough_now(left.missing, left.rules.needed, whys)
        tries = await self.proposals.failed_tries(proposal.plan)
        return (End.CANCELLED, reasons.tried_enough(tries, proposal.plan)) if tries >= MOST_TRIES else None

    def permit(self, proposal: Proposal) -> Permit:
        """For the executor. Nothing is sent where nobody says who has approved it."""
        return partial(self._permit, proposal)

    async def _permit(self, proposal: Proposal) -> Withdrawn | NotKnown | None:
        try:
            against = await self.against(proposal)
        except CannotAsk as mute:
            return NotKnown(reasons.approvers_not_known(str(mute)))
        return Withdrawn(against[1]) if against else None

    async def _lost(self, proposal: Proposal, may: Open) -> dict[Approval, str]:
        """Whose word counts no more, and why."""
        rule = may.rule
        of_words = (rule.glass_groups if word.broke_glass else rule.approving_groups for word in proposal.approvals)
        groups = sorted({group for groups in of_words for group in groups})
        now = await self.askers.askers_now(proposal.team, [word.person.user for word in proposal.approvals], groups)
        whys = {word: self._why_lost(word, proposal, now[word.person.user]) for word in proposal.approvals}
        return {word: why for word, why in whys.items() if why}

    def _why_lost(self, word: Approval, proposal: Proposal, asker: Asker | Unknown) -> str:
        """Why whoever said it could not say it now. That it is frozen is looked at for all words at once."""
        if isinstance(asker, Unknown):
            return reasons.lost_account(asker.why)
        unfrozen = self.policy.model_copy(update={"freezes": ()})
        ask = may_break_glass if word.broke_glass else may_approve
        said = ask(unfrozen, proposal.plan, asker, self.times.now())
        return reasons.lost_say(said.barrier) if isinstance(said, NotAllowed) else ""


def is_word_for_this(proposal: Proposal) -> bool:
    """Each approval is for exactly this plan, and there are enough of them."""
    if not proposal.approvals or any(word.digest != proposal.digest for word in proposal.approvals):
        return False
    return any(word.broke_glass for word in proposal.approvals) or not proposal.missing
