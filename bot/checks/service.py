"""The jobs of one process: what it takes in, what it works on, and what it does when the queue is away."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any, TypeVar

from bot.checks.outstanding import Outstanding
from bot.checks.reporter import Reporter
from bot.checks.request import CheckRequest
from bot.checks.runner import Runner
from bot.checks.shared import Checks
from bot.checks.store.running import RunningChecks
from bot.queue.cancel import end
from bot.queue.job import Job, Kind, Kinds
from bot.queue.priority import Priority
from bot.queue.retry import CannotTell
from bot.queue.worker import CONCURRENCY, IDLE_TIMEOUT_S, MOST_TRIES, Queue
from bot.store.away import StoreAway
from bot.store.connect import Connection
from bot.store.state import State
from bot.store.writes import Writes
from handlers.problem import Problem

log = logging.getLogger(__name__)

P = TypeVar("P")

CHECK = "check_cluster"
_WORKER_ENDS_WITHIN_S = 5.0
_TELLS_WITHIN_S = 5.0
"""How long whoever asked may take to hear that the process ends first."""
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


@dataclass(frozen=True, slots=True)
class Options:
    """How a process works on what it takes in."""

    concurrency: int = CONCURRENCY
    idle_timeout_s: float = IDLE_TIMEOUT_S
    most_tries: int = MOST_TRIES
    drain_s: float = DRAIN_S


@dataclass(frozen=True, slots=True)
class _Opened:
    """What there is once `at_work` has opened it."""

    queue: Queue
    checks: Checks
    outstanding: Outstanding
    group: asyncio.TaskGroup
    other_kinds: Kinds


class Jobs:
    """Takes requests in.

    Many who do the work hand in more of it, so this is made first, without them. They are made with it, and `at_work`
    then opens it with them; before that nothing is taken in.
    """

    def __init__(
        self,
        connection: Connection,
        run: Runner,
        *,
        role: Role = Role.ALL,
        options: Options = Options(),
    ) -> None:
        self.writes = Writes(connection)
        self._connection, self._run, self._role, self._options = connection, run, role, options
        self._opened: _Opened | None = None
        self._here_tasks: dict[str, asyncio.Task[None]] = {}

    @property
    def checks(self) -> Checks:
        return self._open.checks

    @property
    def outstanding(self) -> Outstanding:
        return self._open.outstanding

    @property
    def _open(self) -> _Opened:
        if self._opened is None:
            raise RuntimeError("nothing is taken in before `at_work`")
        return self._opened

    @asynccontextmanager
    async def at_work(self, reporter: Reporter, other_kinds: tuple[Kind[Any], ...] = ()) -> AsyncIterator[None]:
        """Open for as long as the process serves. Leaving drains: what runs may end, the rest stays queued."""
        redis = self._connection.redis
        async with Checks(RunningChecks(redis), self._run, reporter) as checks:
            queue = self._new_queue((_check_kind(checks), *other_kinds), checks)
            outstanding = Outstanding(State(redis), checks)
            async with asyncio.TaskGroup() as group, asyncio.TaskGroup() as own:
                self._opened = _Opened(queue, checks, outstanding, own, Kinds(other_kinds))
                async with self._kept_going(group, queue, outstanding):
                    yield

    def _new_queue(self, kinds: tuple[Kind[Any], ...], checks: Checks) -> Queue:
        return Queue(
            self._connection.url,
            self._connection.redis,
            kinds,
            concurrency=self._options.concurrency,
            idle_timeout_s=self._options.idle_timeout_s,
            most_tries=self._options.most_tries,
            before_work=checks.record_reported,
        )

    @asynccontextmanager
    async def _kept_going(
        self, group: asyncio.TaskGroup, queue: Queue, outstanding: Outstanding
    ) -> AsyncIterator[None]:
        sending = group.create_task(queue.send_until_stopped(), name="queue sender")
        watching = group.create_task(outstanding.watch(self.check), name="outstanding requests")
        working = group.create_task(queue.keep_working(), name="queue worker") if self._role.works else None
        try:
            yield
        finally:
            drain_s = self._options.drain_s
            await asyncio.gather(queue.drain(drain_s), self.drain(drain_s))
            if working:
                await asyncio.wait([working], timeout=_WORKER_ENDS_WITHIN_S)
                working.cancel()
            await end(sending, watching)

    async def check(
        self, request: CheckRequest, priority: Priority = Priority.CHECK, *, patience_s: float = 2.0
    ) -> Taken:
        """See that the request is answered. Safe to repeat: a request is answered once, however often it comes."""
        # Before it is in the queue: the data may be lost, and that be noticed, before the queue's answer is here.
        is_new = self.outstanding.add(request, priority)
        try:
            self.writes.must_be_taken()
            await self._open.queue.submit(Job(request.id, request, priority), patience_s=patience_s)
        except StoreAway as away:
            if is_new:
                self.outstanding.forget(request)
            if not self.checks.was_reported(request):
                self._do_here(
                    request.id,
                    lambda: self._here(request),
                    lambda problem: self.checks.give_up_here(request, problem),
                    away,
                )
            return Taken.HERE
        return Taken.QUEUED

    async def submit(self, job: Job[Any], *, patience_s: float = 2.0) -> Taken:
        """See that a job of another kind is done; raise StoreAway where it cannot be done without the memory."""
        try:
            self.writes.must_be_taken()
            await self._open.queue.submit(job, patience_s=patience_s)
        except StoreAway as away:
            kind = self._open.other_kinds.of(job.payload)
            if not kind.can_be_done_here(job.payload):
                raise
            self._do_here(
                job.id,
                lambda: self._try_here(kind, job),
                lambda problem: kind.give_up(job.payload, problem),
                away,
            )
            return Taken.HERE
        return Taken.QUEUED

    async def drain(self, grace_s: float) -> None:
        """Let checks that only this process knows of end; nobody else will take them up."""
        if not self._here_tasks:
            return
        _, late = await asyncio.wait(self._here_tasks.values(), timeout=grace_s)
        for task in late:
            log.error("%s did not end before the process", task.get_name())
            task.cancel()
        if late:
            await asyncio.wait(late, timeout=_TELLS_WITHIN_S + 1)

    def _do_here(
        self,
        job_id: str,
        work: Callable[[], Coroutine[Any, Any, None]],
        give_up: Callable[[Problem], Awaitable[None]],
        away: StoreAway,
    ) -> None:
        """Asked for again while it is worked on, it is the same work."""
        if job_id in self._here_tasks:
            return
        log.warning("request %s is worked on without the queue: %s", job_id, away)
        task = self._here_tasks[job_id] = self._open.group.create_task(
            _told_of_its_end(job_id, work, give_up), name=f"the work on request {job_id}"
        )
        task.add_done_callback(lambda ended: self._here_tasks.pop(job_id, None))

    async def _try_here(self, kind: Kind[P], job: Job[P]) -> None:
        try:
            await kind.run(job.payload, asyncio.Event())
        except Exception as error:
            # Nobody tries this again: it is the edge of a process that is on its own.
            log.exception("request %s failed", job.id)
            problem = problem_of(error, "cannot finish this")
            await kind.give_up(job.payload, problem)

    async def _here(self, request: CheckRequest) -> None:
        try:
            await self.checks.perform_here(request)
        except CannotTell as mute:
            log.error("the answer to request %s could not be given: %s", request.id, mute)  # noqa: TRY400
        except Exception as error:
            # Nobody tries this again: it is the edge of a process that is on its own.
            log.exception("request %s failed", request.id)
            problem = problem_of(error, f"cannot check {request.cluster.text[:80]}")
            await self.checks.give_up(request, problem)


async def _told_of_its_end(
    job_id: str, work: Callable[[], Coroutine[Any, Any, None]], give_up: Callable[[Problem], Awaitable[None]]
) -> None:
    """Nobody else knows of this work: whoever asked would wait for an answer that never comes."""
    try:
        await work()
    except asyncio.CancelledError:
        try:
            async with asyncio.timeout(_TELLS_WITHIN_S):
                await give_up(Problem("cannot finish this", "aksbot is restarting", "ask again"))
        except Exception as untold:  # noqa: BLE001 - the edge of a process that ends
            log.error("that request %s is not finished could not be told: %s", job_id, untold)  # noqa: TRY400
        raise


def problem_of(error: Exception, what: str) -> Problem:
    """What a person is told of an error that nobody expected; a problem has words of its own."""
    return error if isinstance(error, Problem) else Problem(what, f"aksbot failed: {error}"[:300], "try again")


def _check_kind(checks: Checks) -> Kind[CheckRequest]:
    return Kind(CHECK, CheckRequest, checks.perform, checks.give_up)
