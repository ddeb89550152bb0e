"""Worker side: once an incident is over, its course stands in its thread as a picture. Never worth a second try."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bot.address import Address
from bot.checks.check import find
from bot.incidents.course import BEFORE, course
from bot.incidents.history import Histories
from bot.incidents.model import Incident
from bot.incidents.store import Incidents
from bot.slack.api.poster import PICTURE, Poster, Reply
from bot.slack.inbound.outside import Outside
from bot.slack.incidents.tasks import Do, Task
from handlers.changes.change import Changes
from handlers.changes.read import read_changes
from handlers.clients.arm.reader import ArmReader
from handlers.clients.errors import ArmError
from handlers.model import Target
from handlers.problem import Problem
from runbooks.library import Library

log = logging.getLogger(__name__)

WITHIN_S = 60.0
"""A busy node resource group is ten pages, each of which Azure takes seconds for. Nobody waits for it."""


@dataclass(frozen=True)
class CourseHandlers:
    """Raises StoreAway. Where people read along who may not look, no details are shown."""

    outside: Outside
    incidents: Incidents
    histories: Histories
    message_poster: Poster
    arm: ArmReader
    library: Library

    @property
    def work(self) -> dict[Do, Callable[[Task], Awaitable[None]]]:
        return {Do.COURSE: self._show}

    async def _show(self, task: Task) -> None:
        incident = (await self.incidents.book(task.place.team, task.cluster)).get(task.incident)
        if incident is None or not incident.is_closed or incident.silenced or incident.merged_into:
            return
        home = incident.home
        place = Address(task.place.team, home.channel, thread_ts=home.thread_ts)
        where = Reply(f"{task.id}-{incident.rounds}", place, datetime.now(UTC))
        if await self.message_poster.standing(where, PICTURE) or await self.outside.covers(place):
            return
        try:
            target = await find(incident.cluster, self.arm)
        except Problem as problem:
            log.info("the course of incident %s is not shown: %s", incident.id, problem.why)
            return
        history = await self.histories.of(target, task.place.team)
        picture = course(incident, history, await self._changes(target, incident), self.library)
        if picture:
            await self.message_poster.pictures(where, home, (picture,))

    async def _changes(self, target: Target, incident: Incident) -> Changes | None:
        since = datetime.fromtimestamp(incident.opened_ms / 1000, UTC) - BEFORE
        try:
            async with asyncio.timeout(WITHIN_S):
                return await read_changes(target, self.arm, max(target.asked_at - since, timedelta(hours=1)))
        except (TimeoutError, ArmError) as unread:
            log.info("the activity log of %s was not read for a picture: %s", target.name, unread)
            return None
