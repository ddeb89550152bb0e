"""Fake requesters, reporters and checks, observed and controlled by the test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from bot.address import Address
from bot.checks.reporter import Answer, Reporter
from bot.checks.request import CheckRequest
from bot.checks.runner import Runner
from bot.checks.service import Jobs, Options, Role
from bot.queue.retry import CannotTell
from bot.report.events import Event, Report, Selection, Started
from bot.report.progress import Progress
from bot.store.connect import Connection
from handlers.engine.run import DiagnosticEnded
from handlers.fleet.cluster_text import ClusterRef
from handlers.problem import Problem
from tests.bot.diagnoses import TARGET, found
from tests.store.servers import PATIENCE_S

CLUSTER = "prod-weu"
IDLE_TIMEOUT_S = 1.0


def request(name: str, cluster: str = CLUSTER, *, fresh: bool = False, area: str | None = None) -> CheckRequest:
    return CheckRequest(
        name, ClusterRef.of(cluster), Address("T1", f"C-{name}", f"U-{name}"), Selection(area), fresh=fresh
    )


@dataclass
class Told:
    """One message and its recipient."""

    how: str
    to: str
    what: Any = None


@dataclass
class Listener:
    """A reporter that records its messages."""

    said: list[Told] = field(default_factory=list)
    mute: set[str] = field(default_factory=set)
    """Requests whose answers cannot be posted: the channel rejects them."""
    holding: dict[str, asyncio.Event] = field(default_factory=dict)
    """Requests whose answers are delayed until the test releases them, as if the channel did not respond."""

    def __post_init__(self) -> None:
        self._heard = asyncio.Condition()

    async def started(self, request: CheckRequest, running_for: timedelta, *, durable: bool) -> None:
        await self._say(Told("started", request.id, durable))

    async def progress(self, requests: Sequence[CheckRequest], progress: Progress) -> None:
        for one in requests:
            await self._say(Told("progress", one.id, progress))

    async def done(self, request: CheckRequest, answer: Answer) -> None:
        await self._say(Told("done", request.id, answer))

    async def failed(self, request: CheckRequest, problem: Problem) -> None:
        await self._say(Told("failed", request.id, problem))

    async def gave_up(self, request: CheckRequest, problem: Problem) -> None:
        await self._say(Told("gave up", request.id, problem))

    async def _say(self, told: Told) -> None:
        if told.to in self.holding and told.how in ("done", "failed", "gave up"):
            await self.holding[told.to].wait()
        if told.to in self.mute and told.how in ("done", "failed"):
            self.said.append(replace(told, how="refused"))
            raise CannotTell(f"{told.to} cannot be told")
        async with self._heard:
            self.said.append(told)
            self._heard.notify_all()

    def answers(self, to: str | None = None) -> list[Told]:
        """The final answers to a request."""
        return [one for one in self.said if one.how in ("done", "failed", "gave up") and to in (None, one.to)]

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_S), self._heard:
            await self._heard.wait_for(holds)

    async def answered(self, *names: str) -> list[Told]:
        """Wait until all requests are answered."""
        await self.until(lambda: all(self.answers(name) for name in names))
        return [one for name in names for one in self.answers(name)]

    async def heard(self, how: str, to: str) -> Told:
        await self.until(lambda: any((one.how, one.to) == (how, to) for one in self.said))
        return next(one for one in self.said if (one.how, one.to) == (how, to))


class SlowCheck:
    """A check that finishes when the test allows it."""

    def __init__(self, *, waits: bool = True) -> None:
        self.began: list[str] = []
        self.problem: Exception | None = None
        self.go = asyncio.Event()
        if not waits:
            self.go.set()

    async def __call__(self, request: CheckRequest) -> AsyncGenerator[Event, None]:
        self.began.append(request.id)
        diagnosis = found()
        yield Started(TARGET, 3, len(diagnosis.checks))
        for check in diagnosis.checks:
            yield DiagnosticEnded(check)
        await self.go.wait()
        if self.problem:
            raise self.problem
        yield Report(diagnosis, 1400.0, 12, 3)


@asynccontextmanager
async def working(
    connection: Connection, check: Runner, listener: Reporter, *, role: Role = Role.ALL, **options: Any
) -> AsyncIterator[Jobs]:
    """A process that accepts and executes requests."""
    options = {"idle_timeout_s": IDLE_TIMEOUT_S, "drain_s": 0.2} | options
    running = Jobs(connection, check, role=role, options=Options(**options))
    async with running.at_work(listener):
        yield running
