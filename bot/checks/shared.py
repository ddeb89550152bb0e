"""The job behind every check: join those who ask the same, lead if nobody does, and see that all get their answer."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from datetime import timedelta
from types import TracebackType
from typing import Self
from uuid import uuid4

from bot.checks.leader import CheckLeader
from bot.checks.reporter import Answer, Reporter
from bot.checks.request import CheckRequest
from bot.checks.runner import Runner, watched
from bot.checks.store.running import Hold, Joined, Part, RunningChecks, Waiter
from bot.queue.notify_each import notify_in_order
from bot.queue.retry import CannotTell
from bot.report import report_json
from bot.store.away import StoreAway
from bot.store.codec import decode_or_none, encode, prepare
from handlers.problem import Problem

log = logging.getLogger(__name__)

RECENT = timedelta(seconds=60)
"""A report of this age is shown, with its age, rather than made again."""
PATIENCE_S = 15.0
"""How long an answer waits for a Redis that restarts, so that it can be recorded as given."""
JOIN_PATIENCE_S = 2.0
"""A question waits less long: nothing was said to whoever asked."""
_REMEMBERED = 1000


class Checks:
    """The checks of one process. Work that lost its queue goes on here, and still answers."""

    def __init__(
        self,
        running: RunningChecks,
        run: Runner,
        reporter: Reporter,
        *,
        recent: timedelta = RECENT,
        patience_s: float = PATIENCE_S,
    ) -> None:
        prepare(report_json.Kept)
        self.recent, self.patience_s = recent, patience_s
        self.running, self.run, self.reporter = running, run, reporter
        self._works: dict[str, asyncio.Task[None]] = {}
        self._told: dict[str, str] = {}
        self._unrecorded: dict[str, str] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        works = list(self._works.values())
        for work in works:
            work.cancel()
        await asyncio.gather(*works, return_exceptions=True)

    @property
    def busy(self) -> int:
        """How many requests are being worked on."""
        return len(self._works)

    async def perform(self, request: CheckRequest, interrupted: asyncio.Event) -> bool:
        """Answer a request, or see that somebody does. False: interrupted, and the work goes on without us.

        Asked for again while it is worked on, it is the same work.
        """
        work = self._begin(request)
        interruption = asyncio.create_task(interrupted.wait())
        try:
            await asyncio.wait({work, interruption}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            work.cancel()
            raise
        finally:
            interruption.cancel()
        if not work.done():
            return False
        await work
        return True

    async def perform_here(self, request: CheckRequest) -> None:
        """The same without the bot's memory: nobody else can join it, and a restart loses it."""
        with suppress(CannotTell):
            await self.reporter.started(request, timedelta(), durable=False)
        outcome = await watched(request, self.run, self.reporter.progress, lambda: (request,))
        if isinstance(outcome, Problem):
            await self.reporter.failed(request, outcome)
        else:
            await self.reporter.done(request, Answer(outcome, durable=False))
        self.remember(request)

    async def give_up(self, request: CheckRequest, problem: Problem) -> None:
        """The job has failed its last try: tell everyone who relied on it."""
        try:
            await self._give_up(request, problem)
        except StoreAway:
            await self.give_up_here(request, problem)

    async def give_up_here(self, request: CheckRequest, problem: Problem) -> None:
        """The same without the bot's memory, which may take its time to be away."""
        if not self.was_reported(request):
            await self._tell_that_we_gave_up(request, problem)
            self.remember(request)

    async def report(self, request_id: str) -> Answer | None:
        """What a request was answered with, while it is kept: for the buttons under the answer."""
        kept = await self.running.report(request_id)
        report = report_json.load_or_none(kept.text) if kept else None
        return Answer(report) if report else None

    def told(self, request: CheckRequest) -> None:
        """This one has its answer. Known here even while it cannot be recorded."""
        self._told[request.id] = request.question
        if len(self._told) > _REMEMBERED:
            del self._told[next(iter(self._told))]

    def was_reported(self, request: CheckRequest) -> bool:
        return request.id in self._told

    def remember(self, request: CheckRequest) -> None:
        """That this one has its answer is still to be recorded."""
        self.told(request)
        self._unrecorded[request.id] = request.question

    async def record_reported(self) -> None:
        """Make up for what could not be recorded. To be called before work begins on a server that is back."""
        for request_id, question in list(self._unrecorded.items()):
            await self.running.answered(question, request_id)
            self._unrecorded.pop(request_id, None)

    def _begin(self, request: CheckRequest) -> asyncio.Task[None]:
        work = self._works.get(request.id)
        if work is None:
            work = asyncio.create_task(self._perform(request), name=f"check {request.id}")
            self._works[request.id] = work
            work.add_done_callback(lambda ended: self._ended(request.id, ended))
        return work

    def _ended(self, request_id: str, work: asyncio.Task[None]) -> None:
        self._works.pop(request_id, None)
        if not work.cancelled() and (error := work.exception()):
            # Who waits for it sees it too; where the queue was lost, nobody does.
            log.warning("the work on request %s ended with: %s", request_id, error)

    async def _perform(self, request: CheckRequest) -> None:
        if self.was_reported(request):
            await self.running.answered(request.question, request.id)
            return
        token = uuid4().hex
        try:
            joined = await self._joined(request, token)
        except StoreAway as away:
            # It was in the queue, and whoever asked would hear nothing before the memory is back.
            log.warning("request %s is worked on without the memory: %s", request.id, away)
            await self.perform_here(request)
            return
        if joined.part is Part.ANSWERED:
            return
        if joined.part is Part.FOLLOW:
            running_for = timedelta(milliseconds=joined.joined_ms - joined.since_ms)
            with suppress(CannotTell):  # whoever leads tells the answer, and tries harder
                await self.reporter.started(request, max(running_for, timedelta()), durable=True)
            return
        await CheckLeader(self, request, token, joined.joined_ms).run()

    async def _joined(self, request: CheckRequest, token: str) -> Joined:
        """A server that restarts is waited for."""
        loop = asyncio.get_running_loop()
        until = loop.time() + JOIN_PATIENCE_S
        while True:
            try:
                return await self.running.join(request.question, request.id, encode(request), token)
            except StoreAway:
                if loop.time() > until:
                    raise
            await asyncio.sleep(0.05)

    async def _give_up(self, request: CheckRequest, problem: Problem) -> None:
        token = uuid4().hex
        joined = await self.running.join(request.question, request.id, encode(request), token)
        if joined.part is not Part.LEAD:
            return  # answered, or another job answers it
        while True:
            hold, waiters = await self.running.close(request.question, token)
            if hold is not Hold.MINE or not waiters:
                return
            await notify_in_order(self._end(request.question, waiter, problem) for waiter in waiters)

    async def _end(self, question: str, waiter: Waiter, problem: Problem) -> None:
        request = decode_or_none(CheckRequest, waiter.request, f"the request {waiter.id}")
        if request is None:
            await self.running.forget(question, waiter.id)
            return
        if not self.was_reported(request):
            await self._tell_that_we_gave_up(request, problem)
            self.remember(request)
        await self.running.answered(request.question, request.id)
        self._unrecorded.pop(request.id, None)

    async def _tell_that_we_gave_up(self, request: CheckRequest, problem: Problem) -> None:
        try:
            await self.reporter.gave_up(request, problem)
        except CannotTell as mute:
            log.error("could not tell that request %s was given up: %s", request.id, mute)  # noqa: TRY400
