"""Whether a fix may still begin: what people said to it is weighed again, by today's policy and who they are now.

Asked when it begins, and once more right before its first write: a check lies in between, and half a day where no
worker lived.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from bot.fixes.may import Barred, Open, may_approve, may_be_offered, may_break_glass
from bot.fixes.proposal import Approval, End, Proposal
from bot.fixes.times import Times
from bot.policy.fixes import Fixes
from bot.policy.look import Asker
from bot.slack import words_fixes_ended
from bot.slack.calls import CallFailed, Refused
from bot.slack.people import People
from bot.store.proposals import MOST_TRIES, Proposals
from handlers.remedy.permit import NotKnown, Permit, Withdrawn


@dataclass(frozen=True)
class StillApproved:
    """The stricter counts: the rules that it was offered under, or those of now. Raises CallFailed where Slack does
    not say who somebody is."""

    policy: Fixes
    proposals: Proposals
    people: People
    times: Times

    async def against(self, one: Proposal) -> tuple[End, str] | None:
        """How it ends instead of beginning, and why; None if nothing stands against it."""
        if not is_word_for_this(one):
            return End.CANCELLED, words_fixes_ended.NOT_AS_APPROVED
        may = may_be_offered(self.policy, one.plan, self.times.now())
        if isinstance(may, Barred):
            return End.CANCELLED, f"{words_fixes_ended.NOBODY_MAY_NOW}: {may.barrier.value}"
        now_as = one.under(may.rules)
        if await self.proposals.now_ms() >= now_as.stands_until_ms:
            return End.EXPIRED, words_fixes_ended.approved_long_ago(now_as.rules.lasts_ms // 60_000)
        lost = await self._lost(one, may)
        left = replace(now_as, approvals=tuple(word for word in one.approvals if word not in lost))
        freeze = self.policy.freeze_on(may.rule, self.times.now())
        if freeze and not any(word.broke_glass for word in left.approvals):
            return End.CANCELLED, f"{words_fixes_ended.NOBODY_MAY_NOW}: {freeze.name}"
        if not is_word_for_this(left):
            whys = [words_fixes_ended.lost_word(word.person, why) for word, why in lost.items()]
            return End.CANCELLED, words_fixes_ended.not_enough_now(left.missing, left.rules.needed, whys)
        tries = await self.proposals.failed_tries(one.plan)
        return (End.CANCELLED, words_fixes_ended.tried_enough(tries, one.plan)) if tries >= MOST_TRIES else None

    def permit(self, one: Proposal) -> Permit:
        """For the executor. Nothing is sent where Slack does not say who has approved it."""
        return partial(self._permit, one)

    async def _permit(self, one: Proposal) -> Withdrawn | NotKnown | None:
        try:
            against = await self.against(one)
        except CallFailed as mute:
            return NotKnown(words_fixes_ended.approvers_not_known(str(mute)))
        return Withdrawn(against[1]) if against else None

    async def _lost(self, one: Proposal, may: Open) -> dict[Approval, str]:
        """Whose word counts no more, and why."""
        rule = may.rule
        of_words = (rule.glass_groups if word.broke_glass else rule.approving_groups for word in one.approvals)
        groups = sorted({group for groups in of_words for group in groups})
        now = await self.people.askers_now(one.team, [word.person.user for word in one.approvals], groups)
        whys = {word: self._why_lost(word, one, now[word.person.user]) for word in one.approvals}
        return {word: why for word, why in whys.items() if why}

    def _why_lost(self, word: Approval, one: Proposal, asker: Asker | Refused) -> str:
        """Why whoever said it could not say it now. That it is frozen is looked at for all words at once."""
        if isinstance(asker, Refused):
            return words_fixes_ended.lost_account(str(asker))
        unfrozen = self.policy.model_copy(update={"freezes": ()})
        ask = may_break_glass if word.broke_glass else may_approve
        said = ask(unfrozen, one.plan, asker, self.times.now())
        return words_fixes_ended.lost_say(said.barrier) if isinstance(said, Barred) else ""


def is_word_for_this(one: Proposal) -> bool:
    """Each approval is for exactly this plan, and there are enough of them."""
    if not one.approvals or any(word.digest != one.digest for word in one.approvals):
        return False
    return any(word.broke_glass for word in one.approvals) or not one.missing
