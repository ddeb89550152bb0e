"""The queue: streaQ on the bot's Redis, kept alive by us.

What streaQ leaves open is closed here: it would pickle (we send JSON); it ends when Redis restarts (we start it again,
and its functions are loaded anew); a job that was killed too often ends silently there (here it always comes to
`give_up`, so streaQ itself must not count).
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from datetime import timedelta
from typing import Any

from anyio import TASK_STATUS_IGNORED, CancelScope, CapacityLimiter
from anyio.abc import TaskStatus
from anyio.streams.memory import MemoryObjectReceiveStream
from redis.asyncio import Redis
from streaq import StreaqRetry, Worker
from streaq.types import StreamMessage
from streaq.utils import now_ms

from bot.queue.job import Job, Kind, Kinds
from bot.queue.priority import LOWEST_FIRST
from bot.queue.retry import CannotTell
from bot.store import keys
from bot.store.away import NO_CONNECTION, QUEUE_REFUSES, StoreAway, TakesNoWrites, store_away
from bot.store.codec import kept_aside
from handlers.problem import Problem

log = logging.getLogger(__name__)

MOST_TRIES = 5
"""A restart of Redis or of a worker in the middle of a job costs a try, too."""
IDLE_TIMEOUT_S = 6.0
"""After this long without a sign of life a job is taken up by another worker."""
CONCURRENCY = 16
_LONGEST_PAUSE_S = 8
_STREAM_SLACK_S = 5.0


class _Publishing:
    """streaQ's step that puts a job into the queue, over the bot's own connections. Somebody waits for it, and over
    streaQ's it takes twice as long."""

    _KEYS = 6

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def publish_task(self, *keys_and_values: str | int) -> Awaitable[Any]:
        return self._redis.fcall("publish_task", self._KEYS, *keys_and_values)


class JobWorker(Worker[None]):
    """streaQ's worker, stopped by us instead of by signals. One object lives as long as one connection."""

    def __init__(
        self,
        url: str,
        redis: Redis,
        kinds: Iterable[Kind[Any]],
        *,
        concurrency: int,
        idle_timeout_s: float,
        most_tries: int,
    ) -> None:
        super().__init__(
            redis_url=url,
            # It blocks for up to the idle timeout while it waits for jobs.
            redis_kwargs={"stream_timeout": idle_timeout_s + _STREAM_SLACK_S, "connect_timeout": 2.0},
            queue_name=keys.QUEUE,
            priorities=[str(priority) for priority in LOWEST_FIRST],
            concurrency=concurrency,
            prefetch=1,  # what lies here already cannot be overtaken by a click
            serializer=_to_json,
            deserializer=json.loads,
            idle_timeout=idle_timeout_s,
        )
        self._most_tries = most_tries
        self._publishing: Any = _Publishing(redis)
        self._stopping = asyncio.Event()
        self._let_go = asyncio.Event()
        self._busy = 0
        self.idle = asyncio.Event()
        """Whether no job runs."""
        self.idle.set()
        self._tasks = {kind.name: self._register(kind) for kind in kinds}

    async def signal_handler(self, scope: CancelScope) -> None:
        """streaQ would take SIGTERM for itself; the process decides here."""
        await self._stopping.wait()
        scope.cancel("the process stops")

    async def run_consumers(
        self,
        receive: MemoryObjectReceiveStream[StreamMessage],
        renew_scope: CancelScope,
        produce_scope: CancelScope,
        *,
        task_status: TaskStatus[CapacityLimiter] = TASK_STATUS_IGNORED,
    ) -> None:
        """Each consumer closes its copy of the stream; streaQ leaves the first one open."""
        with receive:
            await super().run_consumers(receive, renew_scope, produce_scope, task_status=task_status)

    async def schedule_delayed_tasks(self) -> None:
        """It speaks to Redis twice a second, and ends when the connection or the worker does."""
        try:
            await super().schedule_delayed_tasks()
        finally:
            if not self._stopping.is_set():
                self._let_go.set()

    def stop(self) -> None:
        """Take nothing new. Jobs that run go on."""
        self._stopping.set()

    def release_leases(self) -> None:
        """Running jobs go back to the queue."""
        self._let_go.set()

    async def send(self, kind: str, job_id: str, text: str, priority: str, delay_s: float = 0.0) -> None:
        """Put a job into the queue. One with the same id that waits or runs there already stays as it is."""
        delay = timedelta(seconds=delay_s) if delay_s > 0 else None
        task = self._tasks[kind].enqueue(text).start(priority=priority, delay=delay)
        task.id = job_id
        now = now_ms()
        await self.publish_task(self.redis, task, await task.serialize(now), now, lib=self._publishing)

    def _register(self, kind: Kind[Any]) -> Any:
        async def run(text: str) -> None:
            self._busy += 1
            self.idle.clear()
            try:
                await self._try(kind, text, registered.context.tries)
            finally:
                self._busy -= 1
                if not self._busy:
                    self.idle.set()

        # No limits of streaQ's own: where one is hit, it ends a job without a word to us.
        registered = self.task(name=kind.name, max_tries=None, timeout=None, ttl=0, silent=True)(run)
        return registered

    async def _try(self, kind: Kind[Any], text: str, number: int) -> None:
        payload = self._read(kind, text, number)
        if payload is None:
            return
        if number > self._most_tries:
            why = f"it was started {self._most_tries} times, and the worker stopped each time"
            await kind.give_up(payload, _given_up(why))
            return
        try:
            finished = await kind.run(payload, self._let_go)
        except Exception as error:  # the edge of a job: whatever it was, somebody waits for an answer
            known = isinstance(error, StoreAway | CannotTell | Problem)
            log.log(logging.WARNING, "try %d of %s failed: %s", number, kind.name, error, exc_info=not known)
            if number >= self._most_tries:
                await kind.give_up(payload, _given_up(_why(error)))
                return
            raise StreaqRetry(delay=min(number**2, _LONGEST_PAUSE_S)) from error
        if not finished:
            raise StreaqRetry("let go", delay=timedelta(0))

    def _read(self, kind: Kind[Any], text: str, number: int) -> Any:
        """While an upgrade rolls out, a worker of the other version may know what this one does not."""
        try:
            return kind.read(text)
        except ValueError as error:
            if number < self._most_tries:
                log.warning("try %d of %s: it cannot be read", number, kind.name, exc_info=error)
                raise StreaqRetry(delay=min(number**2, _LONGEST_PAUSE_S)) from error
            log.exception("a job of the kind %s was given up: it cannot be read", kind.name)
            return None


class Queue:
    """The way into the queue, and, with `work`, the worker that does the jobs. Both come back after Redis does."""

    def __init__(
        self,
        url: str,
        redis: Redis,
        kinds: Iterable[Kind[Any]],
        *,
        concurrency: int = CONCURRENCY,
        idle_timeout_s: float = IDLE_TIMEOUT_S,
        most_tries: int = MOST_TRIES,
        before_work: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._url, self._redis, self._kinds = url, redis, Kinds(kinds)
        self._concurrency, self._idle_timeout_s = concurrency, idle_timeout_s
        self._most_tries, self._before_work = most_tries, before_work
        self._sender: asyncio.Future[JobWorker] | None = None
        self._broken = asyncio.Event()
        self._worker: JobWorker | None = None
        self._stopping = False
        self._away = StoreAway(NO_CONNECTION)
        """Why there is no way into the queue, while there is none."""

    async def submit(self, job: Job[Any], *, patience_s: float = 2.0) -> None:
        """Put a job into the queue, or raise StoreAway. A server that restarts is waited for, not one that is full."""
        kind, away = self._kinds.of(job.payload), self._away
        clean = await kept_aside(kind.write(job.payload))
        try:
            async with asyncio.timeout(patience_s):
                while True:
                    sender = await self._open_sender()
                    try:
                        await sender.send(kind.name, job.id, clean, job.priority, job.delay_s)
                    except Exception as lost:
                        log.info("the queue did not take a job, once more: %s", lost)
                        away = store_away(lost) or StoreAway(QUEUE_REFUSES)
                        if isinstance(away, TakesNoWrites):
                            raise away from lost
                        self._renew(sender)
                    else:
                        return
        except TimeoutError as late:
            raise away from late

    async def _open_sender(self) -> JobWorker:
        if self._sender is None:
            self._sender = asyncio.get_running_loop().create_future()
        return await asyncio.shield(self._sender)

    def _renew(self, sender: JobWorker) -> None:
        if self._sender and self._sender.done() and self._sender.result() is sender:
            self._sender = asyncio.get_running_loop().create_future()
            self._broken.set()

    async def send_until_stopped(self) -> None:
        """Keep a way into the queue open, until cancelled."""
        self._sender = self._sender or asyncio.get_running_loop().create_future()
        while True:
            self._broken.clear()
            try:
                async with self._new() as sender:
                    self._sender.set_result(sender)
                    await self._broken.wait()
            except Exception as lost:  # noqa: BLE001 - a supervisor: whatever it was, try again
                log.info("no way into the queue: %s", _words(lost))
                self._away = store_away(_first(lost)) or StoreAway(QUEUE_REFUSES)
                if self._sender.done():
                    self._sender = asyncio.get_running_loop().create_future()
            await asyncio.sleep(0.1)

    async def keep_working(self) -> None:
        """Do jobs, until `drain`. When the worker ends in any other way, a new one begins."""
        pause_s = 0.1
        while not self._stopping:
            self._worker = self._new()
            started = asyncio.get_running_loop().time()
            try:
                if self._before_work:
                    await self._before_work()
                await self._worker.run_async()
            except Exception as lost:  # noqa: BLE001 - a supervisor: whatever it was, try again
                log.warning("the worker lost the queue and begins again: %s", _words(lost))
            if asyncio.get_running_loop().time() - started > 10:
                pause_s = 0.1
            if not self._stopping:
                await asyncio.sleep(pause_s)
                pause_s = min(pause_s * 2, 2.0)

    async def drain(self, grace_s: float) -> None:
        """Take nothing new; what runs may end within the grace, then goes back to the queue for another worker."""
        self._stopping = True
        worker = self._worker
        if worker is None:
            return
        worker.stop()
        with suppress(TimeoutError):
            async with asyncio.timeout(grace_s):
                await worker.idle.wait()
        worker.release_leases()

    def _new(self) -> JobWorker:
        return JobWorker(
            self._url,
            self._redis,
            self._kinds,
            concurrency=self._concurrency,
            idle_timeout_s=self._idle_timeout_s,
            most_tries=self._most_tries,
        )


def _to_json(value: Any) -> str:
    return json.dumps(value, default=lambda other: f"{type(other).__name__}: {other}", separators=(",", ":"))


def _given_up(why: str) -> Problem:
    what = "cannot finish: the last try has failed"
    return Problem(what, why[:500], "ask again; if it fails again, look at aksbot's log")


def _why(error: Exception) -> str:
    """For people: a problem says it in words."""
    return f"{error.what}: {error.why}" if isinstance(error, Problem) else _words(error)


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _words(error: BaseException) -> str:
    """What a group of parallel tasks ended with, in one line."""
    error = _first(error)
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
