"""What a check means for incidents: before its answer is told, and after."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from bot.checks.fresh import Telling
from bot.checks.reporter import Answer
from bot.checks.request import CheckRequest
from bot.queue.retry import CannotTell
from bot.report.events import EVERYTHING, Report
from bot.report.scope import selection_of
from bot.slack.api.calls import CallFailed
from bot.slack.incidents.service import JOB, IncidentService
from bot.store.away import StoreAway
from handlers.problem import Problem

log = logging.getLogger(__name__)

_PATIENCE_S = 20.0
"""A check must not wait for longer until Slack says what it means for incidents."""


def seen_by_incidents(
    incident_service: IncidentService,
    team: Callable[[], Awaitable[str]],
    looked: Callable[[str, Report, str], Awaitable[None]],
) -> Telling:
    """For whole checks that nobody asked for, such as those after a fix: they count for incidents, too.

    `looked` brings older answers up to date.
    """

    async def seen(report: Report, by: str) -> None:
        await looked(name := await team(), report, by)
        await _observed(incident_service, name, report)

    return seen


async def _observed(
    incident_service: IncidentService, team: str, report: Report, by: str = "", *, only_changed: bool = False
) -> None:
    """A check that was narrowed says nothing about what it did not look at: no incident begins or ends by it. What it
    has named is this cluster's all the same."""
    if report.recorded_at:
        return
    try:
        async with asyncio.timeout(_PATIENCE_S):
            if selection_of(report.diagnosis) == EVERYTHING:
                await incident_service.observed(team, report.diagnosis, by, only_changed=only_changed)
            else:
                await incident_service.note_named(team, report.diagnosis)
    except (StoreAway, CallFailed, TimeoutError) as failed:
        # The answer stands; the next look at the cluster makes good for its incidents.
        log.warning("the incidents of %s were not brought up to date: %s", report.diagnosis.target.name, failed)


class IncidentHooks:
    """Answers that nobody wants to hear any more are not told, and each answer brings its incidents up to date."""

    def __init__(self, incident_service: IncidentService) -> None:
        self._incident_service = incident_service

    async def wanted(self, request: CheckRequest) -> bool:
        try:
            return not await self._incident_service.is_silenced(request)
        except StoreAway:
            return True

    def is_announced(self, request: CheckRequest) -> bool:
        """Whether a message says that the check has begun. An incident has a sign on what was said, and its card."""
        return not request.id.startswith(JOB)

    async def before(self, request: CheckRequest, answer: Answer) -> None:
        """The verdict comes first: what was proved of an incident, then the answer with all its details."""
        if self.is_announced(request):
            return
        try:
            await _observed(self._incident_service, request.place.team, answer.report, only_changed=True)
        except Exception:  # its card must not cost people the answer; `observe` enters the check once more
            log.exception("the incidents of %s were not brought up to date", request.id)

    async def observe(self, request: CheckRequest, outcome: Answer | Problem, told: bool) -> None:
        """An `AfterAnswer`."""
        if isinstance(outcome, Answer):
            by = request.place.user if self.is_announced(request) else ""
            await _observed(self._incident_service, request.place.team, outcome.report, by)
        elif request.scope.whole:
            await self._not_observed(request)

    async def _not_observed(self, request: CheckRequest) -> None:
        try:
            await self._incident_service.not_observed(request.place.team, request.cluster.name)
        except (StoreAway, CallFailed, CannotTell) as failed:
            log.warning("the incidents of %s were not brought up to date: %s", request.cluster.text[:80], failed)
