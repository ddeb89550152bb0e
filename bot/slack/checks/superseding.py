"""Older answers about a cluster say how it is now: over, checked again, or answered anew elsewhere."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum

from bot.address import Address
from bot.checks.reporter import Answer
from bot.checks.request import CheckRequest
from bot.checks.store.recent import RecentCheck, RecentChecks
from bot.report.events import EVERYTHING, Report
from bot.report.scope import selection_of
from bot.slack.api.calls import CallFailed, Refused
from bot.slack.api.messages import Mark, SlackMessages
from bot.slack.api.pace import Pace
from bot.slack.api.people import People
from bot.slack.checks import superseded_view
from bot.slack.checks.reporter import HEAD
from bot.slack.inbound.gate import Gate
from bot.slack.inbound.outside import Outside
from bot.slack.kit import limits
from bot.slack.kit.links import thread_link
from bot.slack.kit.message import Pressed
from bot.store.away import StoreAway
from handlers.model import Diagnosis, Outcome, Severity, State
from handlers.problem import Problem
from runbooks.library import Library

log = logging.getLogger(__name__)

_AT_ONCE, _PER_MINUTE = 10, limits.CALLS_PER_MINUTE[3] * 0.3
"""Edits of older answers; new ones go first."""
_UNSURE = frozenset({Outcome.INCONCLUSIVE, Outcome.CRASHED})


class Now(StrEnum):
    """What an older answer says since."""

    OVER = "over"
    AGAIN = "again"
    """Somebody checked again under it."""
    NEWER = "newer"


class Superseding:
    """What cannot be edited stays as it is: each of them says when it was made."""

    def __init__(
        self,
        slack_messages: SlackMessages,
        recent: RecentChecks,
        people: People,
        gate: Gate,
        outside: Outside,
        library: Library,
    ) -> None:
        self._slack_messages, self._recent, self._people = slack_messages, recent, people
        self._gate, self._outside, self._library = gate, outside, library
        self._edits = Pace(_AT_ONCE, _PER_MINUTE)

    async def note(self, request: CheckRequest, outcome: Answer | Problem, told: bool) -> None:
        """An `AfterAnswer`."""
        if isinstance(outcome, Answer):
            await self._seen(request.place.team, outcome.report, request if told else None)

    async def seen(self, team: str, report: Report, by: str = "") -> None:
        """A check of which no answer is told: after a fix, for which `by` asked, or a look whether it is over."""
        await self._seen(team, report, None, by)

    async def _seen(self, team: str, report: Report, request: CheckRequest | None, by: str = "") -> None:
        diagnosis = report.diagnosis
        if report.recorded_at or selection_of(diagnosis) != EVERYTHING:
            return
        try:
            all_of_them = await self._recent.latest(team, datetime.now(UTC))
            newer = next((check for check in all_of_them if request and check.request == request.id), None)
            older = [check for check in all_of_them if _is_older(check, diagnosis)]
            due = [(check, now) for check in older if (now := _now(check, diagnosis, newer, request))]
            # Slack takes so many edits in a minute: first what is over and still looks wrong.
            for check, now in sorted(due, key=lambda item: item[1] is not Now.OVER):
                if not await self._gate.may_be_shown(_place(team, check), diagnosis.target.name):
                    continue
                if not self._edits.of(team).take_now():
                    return
                await self._edit(team, check, now, diagnosis, newer, request, by)
        except (StoreAway, CallFailed) as failed:
            log.info("the older answers about %s were not brought up to date: %s", diagnosis.target.name, failed)

    async def _edit(
        self,
        team: str,
        check: RecentCheck,
        now: Now,
        diagnosis: Diagnosis,
        newer: RecentCheck | None,
        request: CheckRequest | None,
        by: str,
    ) -> None:
        over, moment = now is Now.OVER, datetime.now(UTC)
        # Whoever reads along may have come in since it was said.
        if await self._outside.covers(_place(team, check)):
            message = superseded_view.outside(check, over, diagnosis, self._library, moment)
        else:
            link, who = await self._link(check, newer) if newer else "", request.place.user if request else by
            pressed = Pressed(request.id, request.cluster.text) if request and not over else None
            message = superseded_view.superseded(check, over, diagnosis, self._library, moment, who, link, pressed)
        posted = Address(channel=check.channel, message_ts=check.ts)
        try:
            await self._slack_messages.change(posted, message, Mark(check.request, HEAD), longest_wait_s=0)
        except Refused as refused:
            if refused.error == "ratelimited":
                raise  # the next check brings it up to date
            log.info("the older answer %s cannot be changed: %s", check.request, refused)
        # After the edit: whoever is killed in between edits it once more.
        shown = tuple(ranked.finding.key for ranked in diagnosis.findings if ranked.root)
        findings = tuple(ranked.finding.key for ranked in diagnosis.findings) or check.findings
        await self._recent.change(team, check, replace(check, now=now.value, shown=shown, findings=findings))

    async def _link(self, check: RecentCheck, newer: RecentCheck) -> str:
        """To the newer answer, where those who read this one can open it: not to somebody's direct messages."""
        if newer.channel != check.channel and not await self._people.is_public(newer.channel):
            return ""
        return thread_link(newer, await self._people.address())


def _place(team: str, check: RecentCheck) -> Address:
    return Address(team, check.channel, check.user, thread_ts=check.thread_ts)


def _is_older(check: RecentCheck, diagnosis: Diagnosis) -> bool:
    """Whether it is an answer about this very cluster from before this check began, and may still look current."""
    same = check.id.lower() == str(diagnosis.target.id).lower()
    return same and bool(check.ts) and check.of_the_whole and check.at < diagnosis.target.asked_at


def _now(
    check: RecentCheck, diagnosis: Diagnosis, newer: RecentCheck | None, request: CheckRequest | None
) -> Now | None:
    """What it says from now on; nothing where it stays as it is."""
    if check.now == Now.OVER:
        return None
    if _is_over(check, diagnosis):
        return Now.OVER
    if newer is None or diagnosis.state is State.INCONCLUSIVE:
        return None
    if request and request.place.thread_ts and request.place.thread_ts in (check.ts, check.thread_ts):
        return Now.AGAIN
    return None if check.now else Now.NEWER


def _is_over(check: RecentCheck, diagnosis: Diagnosis) -> bool:
    """Nothing of what it says is found any more, neither causes nor consequences, and every check that would know could
    look. Of an answer of an earlier version the causes alone are known: what is broken now may be one of the others.
    """
    said = check.findings or check.shown or check.roots
    found = {ranked.finding.key for ranked in diagnosis.findings}
    if not check.findings and any(ranked.finding.severity is Severity.ERROR for ranked in diagnosis.findings):
        return False
    codes = {code for code, _ in said}
    sure = {code for ended in diagnosis.checks for code in ended.codes}
    sure -= {code for ended in diagnosis.checks if ended.outcome in _UNSURE or ended.unseen for code in ended.codes}
    return bool(said) and found.isdisjoint(said) and codes <= sure
