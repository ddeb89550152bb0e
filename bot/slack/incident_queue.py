"""The way of incident tasks through the queue: in, and to the desk that does them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

from bot.jobs.queue import Kind
from bot.jobs.request import CheckRequest, Priority
from bot.jobs.service import Jobs
from bot.jobs.teller import CannotTell
from bot.slack.calls import CallFailed
from bot.slack.incident_tasks import KIND, PEOPLE_WAIT, Do, Task
from handlers.problem import Problem

log = logging.getLogger(__name__)

Work = Mapping[Do, Callable[[Task], Awaitable[None]]]


class IncidentQueue:
    """`use` gives it the jobs, `do` the work, once there are such."""

    def __init__(self, tell_given_up: Callable[[Task, Problem], Awaitable[None]]) -> None:
        self._tell_given_up = tell_given_up
        self._work: dict[Do, Callable[[Task], Awaitable[None]]] = {}
        self._jobs: asyncio.Future[Jobs] = asyncio.get_running_loop().create_future()

    def do(self, *works: Work) -> None:
        for work in works:
            self._work.update(work)

    def use(self, jobs: Jobs) -> None:
        self._jobs.set_result(jobs)

    async def submit(self, task: Task, *, after_s: float = 0.0) -> None:
        jobs = await asyncio.shield(self._jobs)
        await jobs.submit(KIND, task.id, task.as_json(), Priority.TRIAGE, delay_s=after_s)

    async def check(self, request: CheckRequest) -> None:
        jobs = await asyncio.shield(self._jobs)
        await jobs.check(request, Priority.TRIAGE)

    @property
    def kind(self) -> Kind:
        """For the queue. What nobody waits for is given up without a word but in the log."""

        async def run(text: str, interrupted: asyncio.Event) -> bool:
            task = Task.from_json(text)
            try:
                await self._work[task.do](task)
            except CallFailed as failed:
                raise CannotTell(str(failed)) from failed
            return True

        async def give_up(text: str, problem: Problem) -> None:
            task = Task.from_json(text)
            log.error("%s %s in %s was given up: %s", task.do, task.id, task.place.channel, problem.why)
            if task.do in PEOPLE_WAIT:
                try:
                    await self._tell_given_up(task, problem)
                except (CannotTell, CallFailed) as mute:
                    log.error("could not tell that %s was given up: %s", task.id, mute)  # noqa: TRY400

        return Kind(KIND, run, give_up)
