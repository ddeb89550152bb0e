"""Whether a fix may still begin: what people said to it is weighed again, by today's policy and who they are today.

Between a word and the first act lie seconds as a rule, and half a day where no worker lived.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.approvals.may import Barred, Open, may_approve, may_be_offered, may_break_glass
from bot.approvals.proposal import Approval, End, Proposal
from bot.fixes.times import Times
from bot.policy.fixes import Fixes
from bot.slack import words_fixes_ended
from bot.slack.calls import Refused
from bot.slack.people import People
from bot.store.proposals import MOST_TRIES, Proposals


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
        left = replace(now_as, approvals=tuple([word for word in one.approvals if await self._stands(word, one, may)]))
        freeze = self.policy.freeze_on(may.rule, self.times.now())
        if freeze and not any(word.broke_glass for word in left.approvals):
            return End.CANCELLED, f"{words_fixes_ended.NOBODY_MAY_NOW}: {freeze.name}"
        if not is_word_for_this(left):
            return End.CANCELLED, words_fixes_ended.not_enough_now(left.missing, left.rules.needed)
        tries = await self.proposals.failed_tries(one.plan)
        return (End.CANCELLED, words_fixes_ended.tried_enough(tries, one.plan)) if tries >= MOST_TRIES else None

    async def _stands(self, word: Approval, one: Proposal, may: Open) -> bool:
        """Whether whoever said it could say it now. That something is frozen is looked at for all words at once."""
        groups = sorted({name for name in (*may.rule.approvers, *may.rule.break_glass) if name.startswith("S")})
        try:
            asker = await self.people.asker(word.person.team, word.person.user, groups)
        except Refused as refused:
            if refused.error == "ratelimited":
                raise
            return False
        unfrozen = self.policy.model_copy(update={"freezes": ()})
        ask = may_break_glass if word.broke_glass else may_approve
        return isinstance(ask(unfrozen, one.plan, asker, self.times.now()), Open)


def is_word_for_this(one: Proposal) -> bool:
    """Each approval is for exactly this plan, and there are enough of them."""
    if not one.approvals or any(word.digest != one.digest for word in one.approvals):
        return False
    return any(word.broke_glass for word in one.approvals) or not one.missing
