"""The jobs of one process: what it takes in, what it works on, and what it does when the queue is away."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from enum import Enum, StrEnum
from typing import Any

from bot.jobs.checks import Checks
from bot.jobs.ending import end
from bot.jobs.outstanding import Outstanding
from bot.jobs.queue import CONCURRENCY, IDLE_TIMEOUT_S, MOST_TRIES, Kind, Queue
from bot.jobs.request import CheckRequest, Priority
from bot.jobs.teller import CannotTell, Teller
from bot.jobs.watch import Runner
from bot.store.away import StoreAway
from bot.store.connect import Connection
from bot.store.running import RunningChecks
from bot.store.state import State
from bot.store.writes import Writes
from handlers.problem import Problem

log = logging.getLogger(__name__)

CHECK = "check_cluster"
_WORKER_ENDS_WITHIN_S = 5.0
DRAIN_S = 25.0
"""Kubernetes kills after 30 s; a check takes seconds."""


class Role(StrEnum):
    """What a process is for: one does all, or several share the work on one Redis."""

    ALL = "all"
    WEB = "web"
    WORKER = "worker"

    @property
    def listens(self) -> bool:
        return self is not Role.WORKER

    @property
    def works(self) -> bool:
        return self is not Role.WEB


class Taken(Enum):
    """How a request was taken in."""

    QUEUED = "any worker may do it, and does it again if that one dies"
    HERE = "the memory is away: this process does it, and says so"


class Jobs:
    """Takes requests in. Made by `jobs`."""

    def __init__(
        self,
        queue: Queue,
        checks: Checks,
        outstanding: Outstanding,
        group: asyncio.TaskGroup,
        writes: Writes,
        other_kinds: tuple[Kind, ...] = (),
    ) -> None:
        self.checks, self.outstanding, self.writes = checks, outstanding, writes
        self._queue, self._group = queue, group
        self._other_kinds = {kind.name: kind for kind in other_kinds}
        self._here_tasks: dict[str, asyncio.Task[None]] = {}

    async def check(
        self, request: CheckRequest, priority: Priority = Priority.CHECK, *, patience_s: float = 2.0
    ) -> Taken:
        """See that the request is answered. Safe to repeat: a request is answered once, however often it comes."""
        try:
            self.writes.must_be_taken()
            await self._queue.submit(CHECK, request.id, request.as_json(), priority, patience_s=patience_s)
        except StoreAway as away:
            if not self.checks.was_told(request):
                self._do_here(request.id, lambda: self._here(request), away)
            return Taken.HERE
        self.outstanding.add(request, priority)
        return Taken.QUEUED

    async def submit(
        self, kind: str, job_id: str, text: str, priority: Priority, *, patience_s: float = 2.0, delay_s: float = 0.0
    ) -> Taken:
        """See that a job of another kind is done; raise StoreAway where it cannot be done without the memory."""
        try:
            self.writes.must_be_taken()
            await self._queue.submit(kind, job_id, text, priority, patience_s=patience_s, delay_s=delay_s)
        except StoreAway as away:
            job = self._other_kinds[kind]
            if not job.can_be_done_here(text):
                raise
            self._do_here(job_id, lambda: self._try_here(job, job_id, text), away)
            return Taken.HERE
        return Taken.QUEUED

    async def drain(self, grace_s: float) -> None:
        """Let checks that only this process knows of end; nobody else will take them up."""
        if not self._here_tasks:
            return
        _, late = await asyncio.wait(self._here_tasks.values(), timeout=grace_s)
        for task in late:
            log.error("%s did not end before the process; its question stays unanswered", task.get_name())
            task.cancel()

    def _do_here(self, job_id: str, work: Callable[[], Coroutine[Any, Any, None]], away: StoreAway) -> None:
        """Asked for again while it is worked on, it is the same work."""
        if job_id in self._here_tasks:
            return
        log.warning("request %s is worked on without the queue: %s", job_id, away)
        task = self._here_tasks[job_id] = self._group.create_task(work(), name=f"the work on request {job_id}")
        task.add_done_callback(lambda ended: self._here_tasks.pop(job_id, None))

    async def _try_here(self, kind: Kind, job_id: str, text: str) -> None:
        try:
            await kind.run(text, asyncio.Event())
        except Exception as error:
            # Nobody tries this again: it is the edge of a process that is on its own.
            log.exception("request %s failed", job_id)
            problem = problem_of(error, "cannot finish this")
            await kind.give_up(text, problem)

    async def _here(self, request: CheckRequest) -> None:
        try:
            await self.checks.perform_here(request)
        except CannotTell as mute:
            log.error("the answer to request %s could not be given: %s", request.id, mute)  # noqa: TRY400
        except Exception as error:
            # Nobody tries this again: it is the edge of a process that is on its own.
            log.exception("request %s failed", request.id)
            problem = problem_of(error, f"cannot check {request.cluster[:80]}")
            await self.checks.give_up(request, problem)


def problem_of(error: Exception, what: str) -> Problem:
    """What a person is told of an error that nobody expected; a problem has words of its own."""
    return error if isinstance(error, Problem) else Problem(what, f"aksbot failed: {error}"[:300], "try again")


@asynccontextmanager
async def jobs(
    connection: Connection,
    run: Runner,
    teller: Teller,
    *,
    role: Role = Role.ALL,
    other_kinds: tuple[Kind, ...] = (),
    concurrency: int = CONCURRENCY,
    idle_timeout_s: float = IDLE_TIMEOUT_S,
    most_tries: int = MOST_TRIES,
    drain_s: float = DRAIN_S,
) -> AsyncIterator[Jobs]:
    """The jobs of a process, for as long as it serves. Leaving drains: what runs may end, the rest stays queued."""
    running = RunningChecks(connection.redis)
    async with Checks(running, run, teller) as checks:
        queue = Queue(
            connection.url,
            connection.redis,
            (_check_kind(checks), *other_kinds),
            concurrency=concurrency,
            idle_timeout_s=idle_timeout_s,
            most_tries=most_tries,
            before_work=checks.record_told,
        )
        outstanding = Outstanding(State(connection.redis), checks)
        async with asyncio.TaskGroup() as group, asyncio.TaskGroup() as own:
            taken = Jobs(queue, checks, outstanding, own, Writes(connection), other_kinds)
            sending = group.create_task(queue.keep_sending(), name="queue sender")
            watching = group.create_task(outstanding.watch(taken.check), name="outstanding requests")
            working = group.create_task(queue.keep_working(), name="queue worker") if role.works else None
            try:
                yield taken
            finally:
                await asyncio.gather(queue.drain(drain_s), taken.drain(drain_s))
                if working:
                    await asyncio.wait([working], timeout=_WORKER_ENDS_WITHIN_S)
                if working:
                    working.cancel()
                await end(sending, watching)


def _check_kind(checks: Checks) -> Kind:
    async def run(text: str, interrupted: asyncio.Event) -> bool:
        return await checks.perform(CheckRequest.from_json(text), interrupted)

    async def give_up(text: str, problem: Problem) -> None:
        await checks.give_up(CheckRequest.from_json(text), problem)

    return Kind(CHECK, run, give_up)
