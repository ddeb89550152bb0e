"""Carries an approved proposal out: a chain of short jobs, each of which any worker can take up after any crash.

begin      hold the cluster, check again, compare with what was approved, write the audit, then the first piece
advance    one piece of the executor, as often as it takes
look       after a pause, diagnose again: only that says whether it worked
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any

from bot.audit.store import Audit
from bot.checks.fresh import Check, Telling
from bot.fixes import moves, reasons
from bot.fixes.final_message import FinalMessage
from bot.fixes.moves import NotMoved
from bot.fixes.offering import Offering
from bot.fixes.outcome import is_read_only, outcome_of, without_acts
from bot.fixes.proposal import End, Proposal, State
from bot.fixes.recheck import ApprovalRecheck, CannotAsk, is_word_for_this
from bot.fixes.reporter import FixReporter
from bot.fixes.store import audit_records
from bot.fixes.store.executions import Executions, HeldBy, RedisLedger
from bot.fixes.store.offers import FixesInHand
from bot.fixes.store.proposals import Proposals
from bot.fixes.times import Times
from bot.fixes.verify import what_moved
from bot.fixes.writer_clients import WriterClientFactory
from bot.queue.cancel import end as end_task
from bot.queue.job import Job, Kind
from bot.queue.priority import Priority
from bot.queue.retry import CannotTell
from bot.report.events import Report
from bot.store.away import StoreAway
from bot.store.codec import decode, encode
from handlers.model import Target
from handlers.problem import Problem
from handlers.remedy.execution import Call, Execution, Outcome, Phase
from handlers.remedy.executor import Executor
from handlers.remedy.ledger import NotOurs
from handlers.resource_id import ResourceId

log = logging.getLogger(__name__)

KIND = "run_fix"
LOOKS = 3
"""Azure shows some states a little later than it reports success."""
MOST_CRASHES = 5
_SIGN_OF_LIFE_S = 10.0
_ALIVE_FOR_S = 60.0
_AFTER_A_CRASH_S = 10.0
_EARLY_S = 1.0
"""A worker whose clock is ahead by more takes pieces out of the queue before their pause is over."""
_SEEN_LATELY = timedelta(minutes=2)
"""What was looked at longer ago is looked at again before the first act: no worker may have lived in between."""

Submit = Callable[[Job[Any]], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Piece:
    """One job of the chain. `look` counts the looks afterwards."""

    proposal: str
    number: int = 0
    look: int = 0
    delay_s: float = 0.0
    due_ms: int = 0
    """Not before, by the store's clock; 0 where it may begin at once. The queue goes by the clocks of its workers."""

    @property
    def job(self) -> str:
        return f"fix-{self.proposal}-{self.number}"

    def after(self, delay_s: float = 0.0, *, look: int = 0) -> Piece:
        return Piece(self.proposal, self.number + 1, look, delay_s)


@dataclass(frozen=True)
class Tools:
    """All that the chain needs."""

    still: ApprovalRecheck
    proposals: Proposals
    executions: Executions
    in_hand: FixesInHand
    audit: Audit
    offering: Offering
    reporter: FixReporter
    bench: WriterClientFactory
    check: Check
    """A whole check with fresh answers."""
    seen: Telling
    """What a check has found at the end matters to others, too; they hear of it after the people of the fix."""
    submit: Submit
    times: Times


class Runs:
    """The chain of jobs."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self.last_word = FinalMessage(tools.reporter, tools.offering, tools.in_hand, tools.check)

    @property
    def kind(self) -> Kind[Piece]:
        """For the queue. Where it gives up, the next round of the sweep takes the fix up again."""

        async def give_up(piece: Piece, problem: Problem) -> None:
            log.error("a piece of fix %s was given up for now: %s", piece.proposal, problem)

        return Kind(KIND, Piece, self._run, give_up)

    async def begin(self, name: str, number: int = 0) -> None:
        """Put the first piece of a proposal into the queue. A second time it is the same job."""
        await self._hand_over(Piece(name, number))

    async def _hand_over(self, piece: Piece) -> None:
        """After its pause, or what is left of it."""
        real_s = await self._early_by_s(piece)
        if not piece.due_ms and (real_s := self._tools.times.pause_s(piece.delay_s)):
            piece = replace(piece, due_ms=await self._tools.proposals.now_ms() + int(real_s * 1000))
        await self._tools.in_hand.alive(piece.proposal, real_s + _ALIVE_FOR_S)
        await self._latest(piece)
        await self._tools.submit(Job(piece.job, piece, Priority.CLICK, real_s))

    async def _early_by_s(self, piece: Piece) -> float:
        if not piece.due_ms:
            return 0.0
        return max(piece.due_ms - await self._tools.proposals.now_ms(), 0) / 1000

    async def _latest(self, piece: Piece) -> Piece:
        """This one is noted, unless a later one was."""
        return decode(Piece, await self._tools.in_hand.later_piece(piece.proposal, piece.number, encode(piece)))

    async def _run(self, piece: Piece, interrupted: asyncio.Event) -> bool:
        latest = await self._latest(piece)
        if latest.number != piece.number:
            # It was over when its worker was killed. Two chains would get into each other's way.
            await self._hand_over(latest)
            return True
        if await self._early_by_s(piece) > _EARLY_S:
            # Under another number: while this job runs, the queue takes no other of its name.
            await self._hand_over(replace(piece, number=piece.number + 1))
            return True
        try:
            async with self._shown_alive(piece.proposal):
                following = await self._piece(piece)
        except (StoreAway, CannotTell):
            raise
        except NotOurs as taken:
            log.info("%s", taken)
            return True
        except Exception as error:  # the edge of a job: a fix that cannot go on must end, and be said to have ended
            log.exception("a piece of fix %s failed", piece.proposal)
            following = await self._after_crash(piece, error)
        if following:
            await self._hand_over(following)
        return True

    @asynccontextmanager
    async def _shown_alive(self, name: str) -> AsyncIterator[None]:
        async def live() -> None:
            while True:
                with suppress(StoreAway):
                    await self._tools.in_hand.alive(name, _ALIVE_FOR_S)
                await asyncio.sleep(_SIGN_OF_LIFE_S)

        life = asyncio.create_task(live(), name=f"sign of life of fix {name}")
        try:
            yield
        finally:
            await end_task(life)

    async def _after_crash(self, piece: Piece, error: Exception) -> Piece | None:
        if await self._tools.in_hand.crashed(piece.proposal) < MOST_CRASHES:
            return piece.after(_AFTER_A_CRASH_S)
        proposal = await self._tools.proposals.load(piece.proposal)
        if proposal is None or proposal.state is State.ENDED:
            return None
        here = await self._tools.executions.load(proposal.id)
        why = reasons.crashed(f"{type(error).__name__}: {error}"[:200])
        touched = here and (here.calls or here.step or here.phase is not Phase.READY)
        end = End.UNVERIFIED if touched else End.FAILED
        await self._end(proposal, end, f"{why}. {reasons.LOOK_YOURSELF}", here)
        return None

    # -- one piece --------------------------------------------------------------------------------------------

    async def _piece(self, piece: Piece) -> Piece | None:
        await self._tools.times.agree(self._tools.proposals.now_ms)
        # Read anew for each piece: people may have stopped it, another worker may have carried it on.
        proposal = await self._tools.proposals.load(piece.proposal)
        if proposal is None or proposal.state is State.OFFERED:
            return None
        here = await self._tools.executions.load(proposal.id)
        if proposal.state is State.ENDED:
            # A worker may have died before the cluster was free, or before it was said.
            await self._free(proposal)
            await self._count(proposal)
            if proposal.end is End.EXPIRED:
                await self._tools.audit.write_once(
                    audit_records.ended(proposal, proposal.end, proposal.why, None), f"ended {proposal.id}"
                )
            await self.last_word.post_again(proposal)
            return None
        if here is None or proposal.state is State.APPROVED:
            # What lies ready without having begun was looked at by somebody else, and who knows when.
            return await self._begin(proposal, piece)
        held = await self._tools.executions.hold(here)
        if isinstance(held, HeldBy):
            await self._end(proposal, End.UNVERIFIED, f"{reasons.LOST_HOLD}. {reasons.LOOK_YOURSELF}", here)
            return None
        proposal, here = await self._now_held(proposal, held), await self._tools.executions.load(proposal.id)
        if here is None:
            raise NotOurs(f"how far {proposal.id} is was lost meanwhile")
        if here.ended:
            return await self._look(proposal, here, held, piece)
        if here.plan.digest != proposal.digest or not is_word_for_this(proposal):
            why = f"{reasons.NOT_AS_APPROVED}. {reasons.LOOK_YOURSELF}"
            await self._end(proposal, End.UNVERIFIED, why, here, held)
            return None
        untouched = here.step == 0 and here.phase is Phase.READY and not here.calls
        long_ago = self._tools.times.now() - here.began > _SEEN_LATELY
        if untouched and long_ago and not proposal.cancel_by and not await self._is_as_approved(proposal, held, here):
            return None
        return await self._advance(proposal, here, held, piece)

    # -- before -----------------------------------------------------------------------------------------------

    async def _begin(self, proposal: Proposal, piece: Piece) -> Piece | None:
        tools = self._tools
        if proposal.state is State.RUNNING:
            # It had begun, and how far it was is lost: what was sent cannot be told.
            await self._end(proposal, End.UNVERIFIED, f"{reasons.LOST_PLAN}. {reasons.LOOK_YOURSELF}")
            return None
        if against := await self._against(proposal):
            await self._end(proposal, *against)
            return None
        here = replace(Execution.begin(proposal.id, proposal.plan), began=tools.times.now())
        held = await tools.executions.hold(here)
        if isinstance(held, HeldBy):
            await self._end(proposal, End.CANCELLED, reasons.OTHER_FIX)
            return None
        await self._now_held(proposal, held)
        await tools.reporter.try_to_show(proposal.id)
        if not await self._is_as_approved(proposal, held):
            return None
        return await self._start(proposal, here, held, piece)

    async def _against(self, proposal: Proposal) -> tuple[End, str] | None:
        """What is known to stand against it. Who people are is asked again before the first write in any case."""
        try:
            return await self._tools.still.against(proposal)
        except CannotAsk as mute:
            log.info("whether fix %s may begin is not known yet: %s", proposal.id, mute)
            return None

    async def _is_as_approved(self, proposal: Proposal, held: RedisLedger, here: Execution | None = None) -> bool:
        """The world is as it was when people said yes; if not, it has ended."""
        report = await self._tools.check(proposal.plan.cluster)
        if isinstance(report, Problem):
            why = reasons.no_look(f"{report.what}: {report.why}")
            await self._end(proposal, End.STALE, why, here, held)
            return False
        if changes := what_moved(proposal.plan, report):
            await self._end(proposal, End.STALE, reasons.stale(changes), here, held, report)
            return False
        return True

    async def _start(self, proposal: Proposal, here: Execution, held: RedisLedger, piece: Piece) -> Piece | None:
        """The last moment before the first act: it is written down, or there is no act."""
        tools = self._tools
        verdict = await tools.audit.verify()
        if not verdict.whole:
            await self._end(proposal, End.CANCELLED, reasons.audit_broken(verdict.why), held=held)
            return None
        await tools.audit.write_once(audit_records.started(proposal), f"started {proposal.id}")
        await held.save(here)
        if not await self._is_started(proposal, held):
            return None
        await tools.reporter.try_to_show(proposal.id)
        return piece.after()

    async def _is_started(self, proposal: Proposal, held: RedisLedger) -> bool:
        """Somebody may have withdrawn it in the last moment."""
        moved = await self._tools.proposals.move(proposal.id, moves.start)
        if isinstance(moved, NotMoved):
            await self._tools.executions.free(held)
            return False
        return True

    # -- acting -----------------------------------------------------------------------------------------------

    async def _advance(self, proposal: Proposal, here: Execution, held: RedisLedger, piece: Piece) -> Piece | None:
        tools = self._tools
        if proposal.cancel_by and not here.cancelled:
            here = replace(here, cancelled=True)
        target = Target(ResourceId.parse(proposal.plan.cluster))
        async with tools.bench.write_clients(target) as write_clients:
            after = await Executor(write_clients, now=tools.times.now, permit=tools.still.permit(proposal)).advance(
                here, held
            )
        await self._audit_calls(proposal, after.calls[len(here.calls) :])
        if after.ended:
            # What was acted on needs a moment until a look at it means something.
            await tools.reporter.try_to_show(proposal.id)
            return piece.after(proposal.plan.verify.settle.total_seconds() if after.calls else 0.0, look=1)
        if len(after.notes) > len(here.notes) or after.step != here.step:
            await tools.reporter.try_to_show(proposal.id)
        return piece.after(after.wait_s)

    # -- afterwards -------------------------------------------------------------------------------------------

    async def _look(self, proposal: Proposal, here: Execution, held: RedisLedger, piece: Piece) -> Piece | None:
        if not here.calls and here.outcome is not Outcome.DONE:
            end, why = without_acts(here)
            report = await self._tools.check(proposal.plan.cluster) if end is End.STALE else None
            await self._end(proposal, end, why, here, held, report if isinstance(report, Report) else None)
            return None
        report = await self._tools.check(proposal.plan.cluster)
        end, why = outcome_of(proposal.plan, here, report)
        open_still = end in (End.NOT_FIXED, End.UNVERIFIED) and here.outcome is Outcome.DONE
        if open_still and piece.look < LOOKS:
            return piece.after(proposal.plan.verify.settle.total_seconds(), look=piece.look + 1)
        await self._end(proposal, end, why, here, held, report if isinstance(report, Report) else None)
        return None

    async def _end(
        self,
        proposal: Proposal,
        end: End,
        why: str,
        here: Execution | None = None,
        held: RedisLedger | None = None,
        report: Report | None = None,
    ) -> None:
        """Recorded, moved, freed, said: in this order, and each safe to repeat."""
        tools = self._tools
        await self._must_be_ours(proposal, held)
        # A worker that was killed in between has seen what it has seen: the first verdict stands.
        await self._audit_calls(proposal, here.calls if here else ())
        record = await tools.audit.write_once(
            audit_records.ended(proposal, end.value, why, here), f"ended {proposal.id}"
        )
        end, why = audit_records.ended_as(record)
        # Whoever dies after the move, and whose job nobody takes up, leaves this to the sweep.
        await tools.in_hand.must_report(proposal.id)
        moved = await tools.proposals.move(proposal.id, partial(moves.finish, end=end, why=why))
        # Also what this worker does not hold: one that was killed while it looked may have held it for this fix.
        await self._free(proposal, held)
        if isinstance(moved, NotMoved):
            return
        await self._count(moved)
        await self.last_word.say(moved, report)
        if report:
            await tools.seen(report, proposal.requester.user if proposal.requester else "")

    async def _now_held(self, proposal: Proposal, held: RedisLedger) -> Proposal:
        """As it is since this worker holds the cluster: nobody else can save anything any more.

        What was read before may be from before a stall: another worker may have begun, carried on or ended since."""
        now = await self._tools.proposals.load(proposal.id)
        if now is None or now.state is State.ENDED:
            await self._tools.executions.free(held)
            raise NotOurs(f"{proposal.id} has ended meanwhile")
        if now.state is not proposal.state:
            raise NotOurs(f"another worker has begun {proposal.id}")
        return now

    async def _must_be_ours(self, proposal: Proposal, held: RedisLedger | None) -> None:
        """Who stood still for long may have been replaced: what they saw says nothing about what was done since."""
        if held:
            await held.must_be_ours()
        # A fresh read, as its state is what another worker changes.
        now = await self._tools.proposals.load(proposal.id)
        if proposal.state is State.APPROVED and now and now.state is State.RUNNING:
            raise NotOurs(f"another worker has begun {proposal.id}")

    async def _audit_calls(self, proposal: Proposal, calls: Sequence[Call]) -> None:
        for call in calls:
            await self._tools.audit.write_once(
                audit_records.called(proposal, call), f"called {proposal.id} {call.request_id}"
            )

    async def _count(self, proposal: Proposal) -> None:
        if not is_read_only(proposal.plan):
            await self._tools.proposals.count_ended(proposal)

    async def _free(self, proposal: Proposal, held: RedisLedger | None = None) -> None:
        """It does not run any more, whoever holds the cluster: what it has left relaxed may be put back."""
        if held:
            await self._tools.executions.free(held)
        else:
            # One that was never begun may hold it, too: its worker was killed while it looked.
            await self._tools.executions.let_go(proposal.id, proposal.plan.cluster)
