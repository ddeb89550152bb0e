"""A teller that also notes what was answered, for App Home."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from bot.checks.reporter import Answer, Teller
from bot.checks.request import CheckRequest
from bot.checks.store.recent import RecentCheck, RecentChecks
from bot.render.clean import one_line
from bot.render.verdict import word
from bot.report.events import Selection
from bot.report.progress import Progress
from bot.report.scope import selection_of
from bot.slack.api.poster import Reply, Speaker
from bot.slack.checks.reporter import HEAD
from bot.store.away import StoreAway
from handlers.model import Diagnosis
from handlers.problem import Problem
from runbooks.library import Library

log = logging.getLogger(__name__)

_LONGEST = 150


class Remembering:
    """Tells as the other does. What cannot be noted is told all the same."""

    def __init__(self, teller: Teller, speaker: Speaker, recent: RecentChecks, library: Library) -> None:
        self._teller, self._speaker, self._recent, self._library = teller, speaker, recent, library

    async def started(self, request: CheckRequest, running_for: timedelta, *, durable: bool) -> None:
        await self._teller.started(request, running_for, durable=durable)

    async def progress(self, requests: Sequence[CheckRequest], progress: Progress) -> None:
        await self._teller.progress(requests, progress)

    async def done(self, request: CheckRequest, answer: Answer) -> None:
        await self._teller.done(request, answer)
        diagnosis = answer.report.diagnosis
        only = selection_of(diagnosis)
        await self._note(request, diagnosis.target.name, word(diagnosis), self._cause(diagnosis), only)

    async def failed(self, request: CheckRequest, problem: Problem) -> None:
        await self._teller.failed(request, problem)
        await self._note(request, request.cluster.name, "", problem.why, request.scope)

    async def gave_up(self, request: CheckRequest, problem: Problem) -> None:
        await self._teller.gave_up(request, problem)
        await self._note(request, request.cluster.name, "", problem.why, request.scope)

    def _cause(self, diagnosis: Diagnosis) -> str:
        code = next((ranked.finding.code for ranked in diagnosis.findings if ranked.root), "")
        runbook = self._library.get(code)
        return runbook.title if runbook else code

    async def _note(self, request: CheckRequest, cluster: str, verdict: str, cause: str, only: Selection) -> None:
        try:
            head = await self._speaker.standing(Reply.of(request), HEAD)
            place = request.place
            noted = RecentCheck(
                request.id,
                one_line(cluster)[:_LONGEST],
                verdict,
                one_line(cause)[:_LONGEST],
                place.user,
                head.channel if head else place.channel,
                datetime.now(UTC),
                ts=head.message_ts if head else "",
                thread_ts=place.thread_ts if head else "",
                area=one_line(only.area or "")[:_LONGEST],
                code=one_line(only.only or "")[:_LONGEST],
            )
            await self._recent.add(place.team, noted)
        except StoreAway as away:
            log.info("the answer to %s is not listed in App Home: %s", request.id, away)
