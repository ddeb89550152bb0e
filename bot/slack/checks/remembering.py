"""Notes what was answered, for App Home."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

from bot.checks.reporter import Answer
from bot.checks.request import CheckRequest
from bot.checks.store.recent import RecentCheck, RecentChecks
from bot.render.clean import one_line
from bot.render.headline import beside_name, first_lines, plain
from bot.render.verdict import word
from bot.report.events import Selection
from bot.report.scope import selection_of
from bot.slack.api.poster import Poster, Reply
from bot.slack.checks.reporter import HEAD
from bot.store.away import StoreAway
from handlers.model import Diagnosis
from handlers.problem import Problem
from runbooks.library import Library

log = logging.getLogger(__name__)

_LONGEST = 150


class Remembering:
    """An `AfterAnswer`. What cannot be noted was told all the same."""

    def __init__(self, message_poster: Poster, recent: RecentChecks, library: Library) -> None:
        self._message_poster, self._recent, self._library = message_poster, recent, library

    async def note(self, request: CheckRequest, outcome: Answer | Problem, told: bool) -> None:
        if not told:
            return
        if isinstance(outcome, Problem):
            await self._note(request, request.cluster.name, "", outcome.why, request.scope)
            return
        diagnosis = outcome.report.diagnosis
        only = selection_of(diagnosis)
        await self._note(request, diagnosis.target.name, word(diagnosis), self._cause(diagnosis), only, diagnosis)

    def _cause(self, diagnosis: Diagnosis) -> str:
        said = first_lines(diagnosis, self._library)
        return plain(beside_name(said.effect, diagnosis.target.name)) if said else ""

    async def _note(
        self,
        request: CheckRequest,
        cluster: str,
        verdict: str,
        cause: str,
        only: Selection,
        diagnosis: Diagnosis | None = None,
    ) -> None:
        try:
            head = await self._message_poster.standing(Reply.of(request), HEAD)
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
                code=one_line(only.only or str(only.about or ""))[:_LONGEST],
                id=str(diagnosis.target.id) if diagnosis else "",
                roots=tuple(ranked.finding.key for ranked in diagnosis.findings if ranked.root) if diagnosis else (),
                findings=tuple(ranked.finding.key for ranked in diagnosis.findings) if diagnosis else (),
            )
            await self._recent.add(place.team, noted)
        except StoreAway as away:
            log.info("the answer to %s is not listed in App Home: %s", request.id, away)
