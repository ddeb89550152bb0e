"""A teller after whose answers the incidents of the cluster are brought up to date."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

from bot.checks.reporter import Answer, Teller
from bot.checks.request import CheckRequest
from bot.queue.retry import CannotTell
from bot.report.events import EVERYTHING, Report
from bot.report.progress import Progress
from bot.report.scope import selection_of
from bot.slack.api.calls import CallFailed
from bot.slack.incidents.service import IncidentKeeper
from bot.store.away import StoreAway
from handlers.problem import Problem

log = logging.getLogger(__name__)

_PATIENCE_S = 20.0
"""A check must not wait for longer until Slack says what it means for incidents."""


def seen_by_incidents(
    keeper: IncidentKeeper, team: Callable[[], Awaitable[str]]
) -> Callable[[Report], Awaitable[None]]:
    """For whole checks whose answers no teller tells, such as those after a fix: they count for incidents, too."""

    async def seen(report: Report) -> None:
        await _observed(keeper, await team(), report)

    return seen


async def _observed(keeper: IncidentKeeper, team: str, report: Report) -> None:
    """A check that was narrowed says nothing about what it did not look at: no incident begins or ends by it."""
    if report.recorded_at or selection_of(report.diagnosis) != EVERYTHING:
        return
    try:
        async with asyncio.timeout(_PATIENCE_S):
            await keeper.observed(team, report.diagnosis)
    except (StoreAway, CallFailed, TimeoutError) as failed:
        # The answer stands; the next look at the cluster makes good for its incidents.
        log.warning("the incidents of %s were not brought up to date: %s", report.diagnosis.target.name, failed)


class IncidentTeller:
    """Tells as the other does, but for answers that nobody wants to hear any more."""

    def __init__(self, teller: Teller, keeper: IncidentKeeper) -> None:
        self._teller, self._keeper = teller, keeper

    async def started(self, request: CheckRequest, running_for: timedelta, *, durable: bool) -> None:
        if not await self._is_silenced(request):
            await self._teller.started(request, running_for, durable=durable)

    async def progress(self, requests: Sequence[CheckRequest], progress: Progress) -> None:
        await self._teller.progress(requests, progress)

    async def done(self, request: CheckRequest, answer: Answer) -> None:
        if not await self._is_silenced(request):
            await self._teller.done(request, answer)
        await _observed(self._keeper, request.place.team, answer.report)

    async def failed(self, request: CheckRequest, problem: Problem) -> None:
        if not await self._is_silenced(request):
            await self._teller.failed(request, problem)
        await self._not_observed(request)

    async def gave_up(self, request: CheckRequest, problem: Problem) -> None:
        if not await self._is_silenced(request):
            await self._teller.gave_up(request, problem)
        await self._not_observed(request)

    async def _not_observed(self, request: CheckRequest) -> None:
        if request.scope != EVERYTHING:
            return
        try:
            await self._keeper.not_observed(request.place.team, request.cluster.name)
        except (StoreAway, CallFailed, CannotTell) as failed:
            log.warning("the incidents of %s were not brought up to date: %s", request.cluster.text[:80], failed)

    async def _is_silenced(self, request: CheckRequest) -> bool:
        try:
            return await self._keeper.is_silenced(request)
        except StoreAway:
            return False
