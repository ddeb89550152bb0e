"""What can be done about a cluster, what waits for a word, and what was done: `/aks fixes`, `/aks audit`, App Home."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.approvals.proposal import Proposal, Spot
from bot.audit.record import Record
from bot.fixes.board import MESSAGE, where
from bot.fixes.offering import Offering
from bot.fixes.run import Check
from bot.jobs.request import Place
from bot.slack import fixes_lists, words_fixes
from bot.slack.asks import Ask, What
from bot.slack.blocks import AnswerMessages
from bot.slack.gate import Gate, Viewer
from bot.slack.home import OpenApproval
from bot.slack.message import Attachment, Message
from bot.slack.people import People
from bot.slack.replier import Replier
from bot.slack.speaker import Speaker
from bot.store.audit import Audit
from bot.store.proposals import Proposals
from handlers.problem import Problem
from handlers.resource_id import last_name

MOST_RECORDS = 10


@dataclass(frozen=True)
class FixLists:
    """Each shows what the one who asks may see, and no more."""

    proposals: Proposals
    audit: Audit
    offering: Offering
    gate: Gate
    people: People
    speaker: Speaker
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
        spot = Spot(ask.place.channel, ask.place.thread_ts)
        fixes = await self.offering.of(report, ask.place.team, spot, ask.id)
        waiting = [one for one in await self._open(ask.place.team) if same_cluster(one, str(target.id))]
        message = fixes_lists.fixes(target.name, fixes, [await self._row(one) for one in waiting])
        await self.replier.openly(ask, AnswerMessages(message, ()), "fixes")

    async def _open(self, team: str) -> list[Proposal]:
        """Those that somebody has asked for."""
        return [one for one in await self.proposals.open(team) if one.requester is not None]

    async def _row(self, one: Proposal) -> OpenApproval:
        posted = await self.speaker.standing(where(one), MESSAGE)
        link = ""
        address = await self.people.address()
        if posted and address.startswith("https://"):
            link = f"{address.rstrip('/')}/archives/{posted.channel}/p{posted.ts.replace('.', '')}"
        expires_at = datetime.fromtimestamp(one.expires_ms / 1000, UTC)
        user = one.requester.user if one.requester else ""
        return OpenApproval(one.plan.title, last_name(one.plan.cluster), user, expires_at, link)

    async def _audit(self, ask: Ask) -> None:
        viewer = await self.gate.viewer(ask.place)
        if isinstance(viewer, Message):
            await self.replier.privately(ask, AnswerMessages(viewer, ()))
            return
        verdict = await self.audit.verify()
        seen = [one async for one in self.audit.records() if _may_see(viewer, one)]
        state = words_fixes.audit_state(verdict.records, verdict.why)
        head = fixes_lists.audit(state, seen[-MOST_RECORDS:][::-1])
        lines = "".join(json.dumps(one.as_dict()) + "\n" for one in seen)
        file = Attachment("aksbot-audit.jsonl", lines) if len(seen) > MOST_RECORDS else None
        await self.replier.openly(ask, AnswerMessages(head, (), file), "audit")

    # -- App Home ---------------------------------------------------------------------------------------------

    async def open_for(self, team: str, user: str) -> Sequence[OpenApproval]:
        """Those that this person may see, the most urgent first."""
        viewer = await self.gate.viewer(Place(team, user, user))
        if isinstance(viewer, Message):
            return ()
        mine = [one for one in await self._open(team) if viewer.may_see(last_name(one.plan.cluster))]
        return [await self._row(one) for one in mine]


def same_cluster(one: Proposal, cluster: str) -> bool:
    return one.plan.cluster.strip("/").lower() == cluster.strip("/").lower()


def _may_see(viewer: Viewer, record: Record) -> bool:
    try:
        cluster = str(record.entry.get("cluster", ""))
    except ValueError:
        return True  # it was tampered with: nobody is helped by hiding that
    return not cluster or viewer.may_see(last_name(cluster))
