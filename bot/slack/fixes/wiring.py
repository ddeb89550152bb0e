"""Puts the parts of fixes together, for `bot/app.py`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from bot.audit.aside import HOW_ON, account_of
from bot.audit.aside_store import AuditAside
from bot.audit.store import Audit
from bot.checks.fresh import Telling, fresh_checks, progress_of_fix
from bot.checks.runner import Runner
from bot.checks.service import Jobs
from bot.fixes.cleanup import Cleanup
from bot.fixes.escalating import Escalating
from bot.fixes.offering import Offering
from bot.fixes.recheck import ApprovalRecheck
from bot.fixes.runner import Piece, Runs, Tools
from bot.fixes.store.executions import Executions
from bot.fixes.store.offers import FixesInHand, OfferedPlans
from bot.fixes.store.proposals import Proposals
from bot.fixes.sweep import Sweep
from bot.fixes.times import RealTimes, Times
from bot.fixes.writer_clients import WriterClientFactory
from bot.policy.fixes import Fixes
from bot.queue.cancel import end
from bot.queue.job import Kind
from bot.slack.api.messages import SlackMessages
from bot.slack.api.people import People
from bot.slack.api.poster import Poster
from bot.slack.fixes.approvers import SlackAskers
from bot.slack.fixes.board import Board
from bot.slack.fixes.handlers import FixHandlers
from bot.slack.fixes.lists.handlers import FixLists
from bot.slack.inbound.asks import Ask, What
from bot.slack.inbound.gate import Gate
from bot.slack.inbound.outside import Outside
from bot.slack.inbound.replier import Replier
from bot.store.away import StoreAway
from bot.store.connect import Connection
from handlers.clients.arm.reader import ArmReader

log = logging.getLogger(__name__)


class Fixing:
    """All about fixes in one process."""

    def __init__(
        self,
        policy: Fixes,
        connection: Connection,
        jobs: Jobs,
        people: People,
        slack_messages: SlackMessages,
        message_poster: Poster,
        replier: Replier,
        gate: Gate,
        outside: Outside,
        run: Runner,
        arm: ArmReader,
        bench: WriterClientFactory,
        seen: Telling,
        times: Times | None = None,
    ) -> None:
        clock, redis = times or RealTimes(), connection.redis
        proposals, executions, self.audit = Proposals(redis), Executions(redis), Audit(redis)
        self._aside = AuditAside(redis)
        self.offering = Offering(policy, proposals, OfferedPlans(redis), clock)
        board = Board(message_poster, proposals, executions, policy, clock)
        check = fresh_checks(run)
        tools = Tools(
            ApprovalRecheck(policy, proposals, SlackAskers(people), clock),
            proposals,
            executions,
            FixesInHand(redis),
            self.audit,
            self.offering,
            board,
            bench,
            check,
            seen,
            jobs.submit,
            clock,
        )
        self._runs = Runs(tools)
        self._desk = FixHandlers(
            policy,
            proposals,
            executions,
            self.audit,
            people,
            gate,
            outside,
            board,
            self._runs,
            slack_messages,
            replier,
            clock,
        )
        self.lists = FixLists(
            proposals,
            self.audit,
            self._aside,
            self.offering,
            gate,
            outside,
            people,
            message_poster,
            replier,
            progress_of_fix(check, seen),
        )
        restore = Cleanup(policy, arm, bench, executions, self.audit).restore
        self._sweep = Sweep(tools, self._runs, restore, Escalating(policy, proposals, self.audit, board, clock))

    @property
    def work(self) -> dict[What, Callable[[Ask], Awaitable[None]]]:
        """For the desk that all asks come to."""
        return {**self._desk.work, **self.lists.work}

    @property
    def kind(self) -> Kind[Piece]:
        """For the queue."""
        return self._runs.kind

    @asynccontextmanager
    async def looked_after(self, *, works: bool) -> AsyncIterator[None]:
        """Open while the process serves."""
        if not works:
            yield
            return
        await self._say_whether_whole()
        fixes = asyncio.create_task(self._sweep.keep_on(), name="looking after the fixes")
        left = asyncio.create_task(self._sweep.keep_restoring(), name="looking for what fixes have left")
        try:
            yield
        finally:
            await end(fixes, left)

    async def _say_whether_whole(self) -> None:
        try:
            standing = await self._aside.standing()
        except StoreAway as away:
            log.warning("cannot tell whether the audit is whole: %s", away)
            return
        for aside in standing.aside:
            log.warning("an earlier audit was set aside %s", account_of(aside))
        for aside in standing.changed:
            log.error("an audit that was set aside is not as it was: its digest should be %s", aside.digest)
        if standing.verdict.whole:
            log.info("the audit is whole: %d records", standing.verdict.records)
        else:
            log.error("the audit is broken: %s; %s", standing.verdict.why, HOW_ON)
