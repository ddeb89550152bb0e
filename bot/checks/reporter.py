"""Whom a check reports to. Slack is one reporter, a test another: a check knows neither.

A reporter may be called again with the same request after a crash: what it has said it must not say twice. `started`
and `progress` say what is replaced later; `done`, `failed` and `gave_up` are the answer, and one of them always comes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from bot.checks.offered_fix import Fix
from bot.checks.request import CheckRequest
from bot.report.events import Report
from bot.report.progress import Progress
from handlers.problem import Problem


@dataclass(frozen=True, slots=True)
class Answer:
    """A report, and what a person must know about how it came."""

    report: Report
    age: timedelta = timedelta()
    """How long before the question the check had ended; nothing for a check that ran for it."""
    durable: bool = True
    """False where the bot's memory was away: a restart would have lost this check."""
    fixes: tuple[Fix, ...] = ()
    """What stands under the causes: a button for a plan, or the reasons why there is none."""


class Reporter(Protocol):
    """Says things in the place where somebody asked. Raises CannotTell when it could not."""

    async def started(self, request: CheckRequest, running_for: timedelta, *, durable: bool) -> None:
        """The check runs; where another question began it, for so long already."""

    async def progress(self, requests: Sequence[CheckRequest], progress: Progress) -> None:
        """How far it is, for all who wait. Called at each event: the reporter knows how often it may speak."""

    async def done(self, request: CheckRequest, answer: Answer) -> None:
        """The answer."""

    async def failed(self, request: CheckRequest, problem: Problem) -> None:
        """There is no answer, and why: no such cluster, no access."""

    async def gave_up(self, request: CheckRequest, problem: Problem) -> None:
        """The last try has failed. Nobody will try again."""


AfterAnswer = Callable[[CheckRequest, Answer | Problem, bool], Awaitable[None]]
"""What else follows from an answer, or from the reason why there is none, and whether it was told."""


@dataclass(frozen=True)
class WithHooks:
    """A reporter for one bot: what others want to do before and after an answer is told hangs here, side by side."""

    reporter: Reporter
    wanted: Callable[[CheckRequest], Awaitable[bool]]
    """Whether anybody still wants to hear of it."""
    completed: Callable[[CheckRequest, Answer], Awaitable[Answer]]
    """The answer with all that stands under it."""
    after: tuple[AfterAnswer, ...] = ()
    before: Callable[[CheckRequest, Answer], Awaitable[None]] | None = None
    """What is told before an answer."""
    is_announced: Callable[[CheckRequest], bool] | None = None
    """Whether people are told that the check runs; where that is not given, they are."""

    async def started(self, request: CheckRequest, running_for: timedelta, *, durable: bool) -> None:
        if (self.is_announced is None or self.is_announced(request)) and await self.wanted(request):
            await self.reporter.started(request, running_for, durable=durable)

    async def progress(self, requests: Sequence[CheckRequest], progress: Progress) -> None:
        await self.reporter.progress(requests, progress)

    async def done(self, request: CheckRequest, answer: Answer) -> None:
        if told := await self.wanted(request):
            if self.before:
                await self.before(request, answer)
            await self.reporter.done(request, await self.completed(request, answer))
        await self._followed(request, answer, told)

    async def failed(self, request: CheckRequest, problem: Problem) -> None:
        if told := await self.wanted(request):
            await self.reporter.failed(request, problem)
        await self._followed(request, problem, told)

    async def gave_up(self, request: CheckRequest, problem: Problem) -> None:
        if told := await self.wanted(request):
            await self.reporter.gave_up(request, problem)
        await self._followed(request, problem, told)

    async def _followed(self, request: CheckRequest, outcome: Answer | Problem, told: bool) -> None:
        """Only for an answer that has arrived: one that could not be told is tried again as a whole."""
        for hook in self.after:
            await hook(request, outcome, told)
