"""What can be done about a cluster, what waits for a word, and what was done: `/aks fixes`, `/aks audit`, App Home."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.address import Address
from bot.audit.aside import account_of
from bot.audit.aside_store import AuditAside
from bot.audit.store import Audit
from bot.checks.fresh import Check
from bot.fixes.offering import Offering
from bot.fixes.proposal import Proposal, State
from bot.fixes.store.proposals import Proposals
from bot.slack.api.calls import CallFailed
from bot.slack.api.people import People
from bot.slack.api.poster import Poster
from bot.slack.fixes.board import MESSAGE, where
from bot.slack.fixes.lists import audit_pages as audit_pages
from bot.slack.fixes.lists import text as lists_text
from bot.slack.fixes.lists import view as lists_view
from bot.slack.fixes.lists.view import AuditState, OpenApproval
from bot.slack.inbound.asks import Ask, What
from bot.slack.inbound.gate import Gate
from bot.slack.inbound.outside import Outside
from bot.slack.inbound.replier import Replier
from bot.slack.kit.message import AnswerMessages, Attachment, Message
from handlers.problem import Problem
from handlers.resource_id import last_name


@dataclass(frozen=True)
class FixLists:
    """Each shows what the one who asks may see, and no more."""

    proposals: Proposals
    audit: Audit
    aside: AuditAside
    offering: Offering
    gate: Gate
    outside: Outside
    people: People
    message_poster: Poster
    replier: Replier
    check: Check

    @property
    def work(self) -> dict[What, Callable[[Ask], Awaitable[None]]]:
        return {What.FIXES: self._fixes, What.AUDIT: self._audit}

    async def _fixes(self, ask: Ask) -> None:
        """`text` names the cluster."""
        refused = await self.gate.refusal(ask.place, ask.text)
        if refused:
            await self.replier.privately(ask, AnswerMessages(refused, ()))
            return
        report = await self.check(ask.text)
        if isinstance(report, Problem):
            raise report
        target = report.diagnosis.target
        spot = ask.place.thread
        fixes = await self.offering.of(report, ask.place.team, spot, ask.id)
        waiting = [proposal for proposal in await self._open(ask.place.team) if same_cluster(proposal, str(target.id))]
        rows = [await self._row(proposal) for proposal in waiting]
        if await self.outside.covers(ask.place):
            await self.replier.privately(ask, lists_view.fixes_outside(target.name, fixes, rows))
        else:
            await self.replier.openly(ask, lists_view.fixes(target.name, fixes, rows), "fixes")

    async def _open(self, team: str) -> list[Proposal]:
        """Those that somebody has asked for."""
        return [proposal for proposal in await self.proposals.open(team) if proposal.requester is not None]

    async def _row(self, proposal: Proposal) -> OpenApproval:
        posted = await self.message_poster.standing(where(proposal), MESSAGE)
        link, address = "", ""
        with suppress(CallFailed):
            address = await self.people.address()
        if posted and address.startswith("https://"):
            link = f"{address.rstrip('/')}/archives/{posted.channel}/p{posted.message_ts.replace('.', '')}"
        expires_at = datetime.fromtimestamp(proposal.expires_ms / 1000, UTC)
        user = proposal.requester.user if proposal.requester else ""
        return OpenApproval(
            proposal.plan.title, last_name(proposal.plan.cluster), user, expires_at, link, proposal.state
        )

    async def _audit(self, ask: Ask) -> None:
        viewer = await self.gate.viewer(ask.place)
        if isinstance(viewer, Message):
            await self.replier.privately(ask, AnswerMessages(viewer, ()))
            return
        direct = ask.place.channel.startswith("D")
        shown = await audit_pages.page(self.audit, viewer, ask.pressed)
        message = lists_view.audit(await self._audit_state(ask), shown, direct=direct)
        if not direct:
            await self.replier.privately(ask, AnswerMessages(message, ()))
            return
        # Nobody else is there, so it can hold a file.
        lines = await audit_pages.whole(self.audit, viewer) if shown.older and not ask.pressed else ""
        file = Attachment("aksbot-audit.jsonl", lines) if lines else None
        await self.replier.openly(ask, AnswerMessages(message, (), file), "audit")

    async def _audit_state(self, ask: Ask) -> AuditState:
        """Whether it is whole: said on the first page."""
        if ask.pressed:
            return AuditState(lists_text.OLDER_RECORDS)
        verdict, aside = await self.audit.verify(), await self.aside.all()
        return AuditState(
            lists_text.audit_state(verdict.records, verdict.why), tuple(account_of(each_aside) for each_aside in aside)
        )

    # -- App Home ---------------------------------------------------------------------------------------------

    async def open_for(self, team: str, user: str) -> Sequence[OpenApproval] | Message:
        """What waits for approval and this person may see, the most urgent first; or why nobody can tell."""
        viewer = await self.gate.viewer(Address(team, user, user))
        if isinstance(viewer, Message):
            return viewer
        waiting = [proposal for proposal in await self._open(team) if proposal.state is State.OFFERED]
        mine = [proposal for proposal in waiting if viewer.may_see(last_name(proposal.plan.cluster))]
        return [await self._row(proposal) for proposal in mine]


def same_cluster(proposal: Proposal, cluster: str) -> bool:
    return proposal.plan.cluster.strip("/").lower() == cluster.strip("/").lower()
