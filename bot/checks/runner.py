"""One check, followed to its end; what it says on the way is passed on as fast as somebody can tell it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, suppress

from bot.checks.check import check, engine_for
from bot.checks.clients import Clients
from bot.checks.request import CheckRequest
from bot.queue.cancel import end
from bot.queue.retry import CannotTell
from bot.report.events import Event, Report
from bot.report.progress import Progress
from handlers.problem import Problem
from runbooks.library import Library

LIMIT_S = 120.0
"""A check has its own deadlines; this one holds where even they do not."""

Runner = Callable[[CheckRequest], AsyncGenerator[Event, None]]
"""Starts a check: `azure_runner`, or a test's own."""

Outcome = Report | Problem
"""How a check ended: with a report, or with the reason why there is none."""


def azure_runner(clients: Clients, library: Library, timeout_s: float) -> Runner:
    """Checks clusters with these clients. An engine is made once for each scope."""
    engines = {}

    async def run(request: CheckRequest) -> AsyncGenerator[Event, None]:
        about, detectors = request.scope.about, request.scope.detectors
        kind = (request.scope.area, request.scope.only, about.word if about else None)
        if kind not in engines:
            engines[kind] = engine_for(library, request.scope, timeout_s)
        asked = check(
            request.cluster,
            clients,
            engines[kind],
            timeout_s=timeout_s,
            fresh=request.fresh,
            detectors=detectors,
            about=about,
        )
        async with aclosing(asked) as events:
            async for event in events:
                yield event

    return run


Tell = Callable[[Sequence[CheckRequest], Progress], Awaitable[None]]
"""Says how far a check is: `Reporter.progress`."""


async def watched(
    request: CheckRequest, run: Runner, tell: Tell, waiting: Callable[[], Sequence[CheckRequest]]
) -> Outcome:
    """The outcome; `waiting` names those who are told about the progress, which may become more."""
    return await _Watch(request, run, tell, waiting).outcome()


async def unwatched(request: CheckRequest, run: Runner) -> Outcome:
    """The outcome of a check on the way of which nobody hears anything."""
    return await watched(request, run, _say_nothing, lambda: ())


async def _say_nothing(requests: Sequence[CheckRequest], progress: Progress) -> None: ...


class _Watch:
    def __init__(
        self, request: CheckRequest, run: Runner, tell: Tell, waiting: Callable[[], Sequence[CheckRequest]]
    ) -> None:
        self._request, self._run, self._tell, self._waiting = request, run, tell, waiting
        self._progress = Progress(request.cluster.text)
        self._changed = asyncio.Event()

    async def outcome(self) -> Outcome:
        async with asyncio.TaskGroup() as group:
            message_poster = group.create_task(self._speak(), name="progress")
            try:
                return await self._followed()
            finally:
                await end(message_poster)

    async def _followed(self) -> Outcome:
        try:
            async with asyncio.timeout(LIMIT_S), aclosing(self._run(self._request)) as events:
                async for event in events:
                    if isinstance(event, Report):
                        return event
                    self._progress = self._progress.after(event)
                    self._changed.set()
        except Problem as problem:
            return problem
        except TimeoutError:
            what = f"cannot check {self._request.cluster.text[:80]}"
            return Problem(what, f"the check took longer than {LIMIT_S:g} s", "try again in a minute")
        raise AssertionError("a check ends with a report")

    async def _speak(self) -> None:
        """A slow reporter skips what is outdated, and never holds the check up."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            with suppress(CannotTell):  # the answer itself is tried again; a step on the way is not worth it
                await self._tell(self._waiting(), self._progress)
