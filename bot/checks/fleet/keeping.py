"""Keeps the verdict of every whole check, whoever asked for it: people, incidents, fixes, watches, the digest."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import Protocol

from bot.checks.reporter import Answer
from bot.checks.request import CheckRequest
from bot.checks.store.verdicts import PastVerdict, Verdicts
from bot.render.verdict import not_checked
from bot.report.events import EVERYTHING, Report
from bot.report.scope import selection_of
from bot.store.away import StoreAway
from handlers.problem import Problem

log = logging.getLogger(__name__)


class Seen(Protocol):
    """Hears of a check in a workspace, for which `by` asked or the bot itself."""

    async def __call__(self, team: str, report: Report, by: str = "") -> None: ...


class KeepingVerdicts:
    """What cannot be kept was told all the same."""

    def __init__(self, verdicts: Verdicts) -> None:
        self._verdicts = verdicts

    async def note(self, request: CheckRequest, outcome: Answer | Problem, told: bool) -> None:
        """An `AfterAnswer`. One report may answer many who asked: it was checked when it was read."""
        if isinstance(outcome, Answer):
            await self.keep(outcome.report, datetime.now(UTC) - outcome.age)

    async def keep(self, report: Report, at: datetime | None = None) -> None:
        diagnosis = report.diagnosis
        if report.recorded_at or selection_of(diagnosis) != EVERYTHING:
            return
        verdict = PastVerdict.of(diagnosis, at or datetime.now(UTC), checked=not not_checked(diagnosis))
        try:
            await self._verdicts.add(verdict)
        except StoreAway as away:
            log.info("the verdict on %s is not kept: %s", verdict.cluster, away)

    def and_then(self, seen: Seen) -> Seen:
        """Keeps it, then tells whoever else wants to hear of it."""

        async def both(team: str, report: Report, by: str = "") -> None:
            await self.keep(report)
            await seen(team, report, by)

        return both
