"""Calls the next group where a request waits for too long: after how many minutes, and whom, the policy says.

The sweep asks once a minute. What was said is kept in the proposal, and a message is posted once, so that a restart
neither forgets nor repeats it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from bot.audit.record import What
from bot.audit.store import Audit
from bot.fixes import moves
from bot.fixes.may import Called, NotAllowed, may_be_offered, whom_to_call
from bot.fixes.moves import NotMoved
from bot.fixes.proposal import Proposal, State
from bot.fixes.reporter import FixReporter
from bot.fixes.store import audit_records
from bot.fixes.store.proposals import Proposals
from bot.fixes.times import Times
from bot.policy.fixes import Fixes


@dataclass(frozen=True)
class Escalating:
    """Raises CannotTell where nobody could be called: the next round tries again."""

    policy: Fixes
    proposals: Proposals
    audit: Audit
    reporter: FixReporter
    times: Times

    async def look(self, proposal: Proposal) -> None:
        """Of a request that still waits for approval: call those whose turn has come."""
        await self.times.agree(self.proposals.now_ms)
        called, level = self._due(proposal, await self.proposals.now_ms())
        if not level:
            return
        await self.reporter.escalate(proposal, called, level)
        moved = await self.proposals.move(proposal.id, partial(moves.escalate, level=level))
        if isinstance(moved, NotMoved):
            return
        entry = audit_records.entry(
            What.ESCALATED, proposal, details={"called": list(called.approvers), "level": level}
        )
        await self.audit.write_once(entry, f"escalated {proposal.id} {level}")
        await self.reporter.try_to_show(proposal.id)

    def _due(self, proposal: Proposal, now_ms: int) -> tuple[Called, int]:
        """Those who have not been called yet and are due, and how many levels of the policy that makes; 0: none."""
        now = self.times.now()
        may = may_be_offered(self.policy, proposal.plan, now)
        waits = proposal.state is State.OFFERED and proposal.requester is not None and now_ms < proposal.expires_ms
        # In a freeze nobody of them could approve it.
        if not waits or isinstance(may, NotAllowed) or not whom_to_call(self.policy, may, now).anybody_may_approve:
            return Called(), 0
        waited = (now_ms - proposal.waits_since_ms) / 60_000
        due = [step for step in may.rule.escalate if step.after_minutes <= waited]
        new = [name for step in due[proposal.escalated :] for name in step.ping]
        return (Called(tuple(dict.fromkeys(new))), len(due)) if new else (Called(), 0)
