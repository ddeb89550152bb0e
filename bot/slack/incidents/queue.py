"""The way of incident tasks through the queue: in, and to the desk that does them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping

from bot.checks.request import CheckRequest
from bot.checks.service import Jobs
from bot.queue.job import Job, Kind
from bot.queue.priority import Priority
from bot.queue.retry import CannotTell
from bot.slack.api.calls import CallFailed
from bot.slack.incidents.tasks import KIND, PEOPLE_WAIT, Do, Task
from handlers.problem import Problem

log = logging.getLogger(__name__)

Work = Mapping[Do, Callable[[Task], Awaitable[None]]]


class IncidentQueue:
    """The way in."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs

    async def submit(self, task: Task, *, after_s: float = 0.0) -> None:
        await self._jobs.submit(Job(task.id, task, Priority.TRIAGE, after_s))

    async def check(self, request: CheckRequest) -> None:
        await self._jobs.check(request, Priority.TRIAGE)


def kind_of(works: Iterable[Work], report_given_up: Callable[[Task, Problem], Awaitable[None]]) -> Kind[Task]:
    """For the queue: who does which task. What nobody waits for is given up without a word but in the log."""
    doing = {do: act for work in works for do, act in work.items()}

    async def run(task: Task, interrupted: asyncio.Event) -> bool:
        try:
            await doing[task.do](task)
        except CallFailed as failed:
            raise CannotTell(str(failed)) from failed
        return True

    async def give_up(task: Task, problem: Problem) -> None:
        log.error("%s %s in %s was given up: %s", task.do, task.id, task.place.channel, problem.why)
        if task.do in PEOPLE_WAIT:
            try:
                await report_given_up(task, problem)
            except (CannotTell, CallFailed) as mute:
                log.error("could not tell that %s was given up: %s", task.id, mute)  # noqa: TRY400

    return Kind(KIND, Task, run, give_up)
