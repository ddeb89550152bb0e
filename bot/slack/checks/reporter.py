"""A check reported in Slack: a head message with live progress, and the answer in its thread. Each said once.

Reply the bot is not a member it answers over the response URL, and where that is gone too, in a direct message.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Self

from bot.address import Address
from bot.checks.reporter import Answer
from bot.checks.request import CheckRequest
from bot.metrics import Metrics
from bot.queue.retry import CannotTell
from bot.render.links import NO_LINKS, Links
from bot.report.progress import Progress
from bot.slack.api.calls import CallFailed, Refused
from bot.slack.api.messages import BLOCKS_REFUSED, Mark, SlackMessages
from bot.slack.api.pace import Pace
from bot.slack.api.poster import NO_PLACE, Poster, Reply
from bot.slack.checks import view as checks_view
from bot.slack.kit import limits
from bot.slack.kit.message import AnswerMessages, Message, Pressed
from handlers.problem import Problem
from runbooks.library import Library

log = logging.getLogger(__name__)

HEAD = "head"
DIRECT = "D"
"""How the id of a direct conversation begins, where every message rings."""
FIRST_EDIT_S = 1.0
"""Most checks end soon after; their first edit is the answer."""
EDITS_PER_MINUTE = limits.CALLS_PER_MINUTE[3] * 0.6
"""For progress; the rest is for answers."""
_EDITS_AT_ONCE = 10
_REMEMBERED = 1000


@dataclass
class _Head:
    posted: Address
    next_edit: float
    final: bool = False
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """One edit at a time: one that is late must not come after the answer."""


class SlackReporter:
    """Tells people in Slack. Open for as long as jobs run."""

    def __init__(
        self,
        slack_messages: SlackMessages,
        message_poster: Poster,
        library: Library,
        metrics: Metrics,
        links: Links = NO_LINKS,
    ) -> None:
        self._links = links
        self._slack_messages, self._message_poster, self._library, self._metrics = (
            slack_messages,
            message_poster,
            library,
            metrics,
        )
        self._heads: dict[str, _Head] = {}
        self._edits: set[asyncio.Task[None]] = set()
        self._drawings: set[asyncio.Task[None]] = set()
        self._budget = Pace(_EDITS_AT_ONCE, EDITS_PER_MINUTE)
        self._without_plans: set[str] = set()
        self._quiet_until: dict[str, float] = {}
        """Workspaces that have asked for fewer edits: steps on the way make room for answers."""
        self._no_place: dict[str, str] = {}
        """Requests whose place was refused at the start, and why: the answer need not try it again."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for drawing in self._drawings:
            drawing.cancel()
        await asyncio.gather(*self._edits, *self._drawings, return_exceptions=True)

    # -- on the way -------------------------------------------------------------------------------------------

    async def started(self, request: CheckRequest, running_for: timedelta, *, durable: bool) -> None:
        said = checks_view.started(request.cluster.text, running_for, durable=durable)
        try:
            await self._stand(request, said)
        except Refused as refused:
            if refused.error not in NO_PLACE:
                raise CannotTell(str(refused)) from refused
            self._no_place[request.id] = refused.error
            if len(self._no_place) > _REMEMBERED:
                del self._no_place[next(iter(self._no_place))]
        except CallFailed as failed:
            raise CannotTell(str(failed)) from failed

    async def progress(self, requests: Sequence[CheckRequest], progress: Progress) -> None:
        """Edit what is due, then hold the caller until something may be due again: it comes back with the latest."""
        heads = [
            (check_request, head)
            for check_request in requests
            if (head := await self._head(check_request)) and not head.final
        ]
        now = asyncio.get_running_loop().time()
        soonest = min((head.next_edit for _, head in heads), default=now + limits.EDIT_EVERY_S)
        if soonest > now:
            await asyncio.sleep(soonest - now)
        for request, head in heads:
            team = request.place.team
            head.next_edit = max(head.next_edit, self._quiet_until.get(team, 0.0))
            if head.next_edit <= asyncio.get_running_loop().time() and self._budget.of(team).take_now():
                await self._edit(request, head, progress)

    async def _head(self, request: CheckRequest) -> _Head | None:
        """One that another process has posted is known by its record."""
        known = self._heads.get(request.id)
        if known is None and (posted := await self._message_poster.standing(Reply.of(request), HEAD)):
            known = self._remember(request, posted)
        return known

    def _remember(self, request: CheckRequest, posted: Address) -> _Head:
        head = self._heads[request.id] = _Head(posted, asyncio.get_running_loop().time() + FIRST_EDIT_S)
        if len(self._heads) > _REMEMBERED:
            del self._heads[next(iter(self._heads))]
        return head

    async def _edit(self, request: CheckRequest, head: _Head, progress: Progress) -> None:
        """Sent to its end even if the check ends meanwhile: nobody could tell otherwise when it arrives."""
        edit = asyncio.create_task(self._show(request, head, progress), name=f"progress of {request.id}")
        self._edits.add(edit)
        edit.add_done_callback(self._edits.discard)
        await asyncio.shield(edit)

    async def _show(self, request: CheckRequest, head: _Head, progress: Progress) -> None:
        async with head.lock:
            if head.final:
                return
            head.next_edit = asyncio.get_running_loop().time() + limits.EDIT_EVERY_S
            team = request.place.team
            plan = team not in self._without_plans
            try:
                await self._step(request, head, progress, plan=plan)
            except Refused as refused:
                self._quiet_until[team] = asyncio.get_running_loop().time() + refused.again_in_s
                if plan and refused.error in BLOCKS_REFUSED:
                    self._without_plans.add(team)
                    with suppress(CallFailed):
                        await self._step(request, head, progress, plan=False)
            except CallFailed as failed:
                log.info("a step on the way was not shown: %s", failed)

    async def _step(self, request: CheckRequest, head: _Head, progress: Progress, *, plan: bool) -> None:
        """Never waited for: the answer stands in line behind it, and the next step says more."""
        said, mark = checks_view.progress(progress, plan=plan), Mark(request.id, HEAD)
        await self._slack_messages.change(head.posted, said, mark, fallback=not plan, longest_wait_s=0)

    # -- the answer -------------------------------------------------------------------------------------------

    async def done(self, request: CheckRequest, answer: Answer) -> None:
        in_thread = bool(request.place.thread_ts)
        said = checks_view.answer(answer, _pressed(request), self._library, in_thread=in_thread, links=self._links)
        await self._answer(request, said)
        self._count(request, answer.report.diagnosis.state.value)

    async def failed(self, request: CheckRequest, problem: Problem) -> None:
        await self._answer(request, AnswerMessages(checks_view.failed(problem, _pressed(request)), ()))
        self._count(request, "failed")

    async def gave_up(self, request: CheckRequest, problem: Problem) -> None:
        await self._answer(request, AnswerMessages(checks_view.failed(problem, _pressed(request), gave_up=True), ()))
        self._count(request, "gave_up")

    async def _answer(self, request: CheckRequest, said: AnswerMessages) -> None:
        where, why = Reply.of(request), self._no_place.pop(request.id, None)
        try:
            if why:
                await self._message_poster.elsewhere(where, said, why)
                return
            try:
                head, edited = await self._stand(request, said.head, final=True)
                if edited and request.place.user and not where.place.channel.startswith(DIRECT):
                    # An edit rings no bell; a new message that names them does, and its text is the first line.
                    said = checks_view.calling(said, request.place.user)
                await self._message_poster.in_thread(where, head, said)
                self._picture(where, head, said)
            except Refused as refused:
                if refused.error not in NO_PLACE:
                    raise
                await self._message_poster.elsewhere(where, said, refused.error)
        except CallFailed as failed:
            raise CannotTell(str(failed)) from failed

    def _picture(self, where: Reply, head: Address, said: AnswerMessages) -> None:
        """Beside the job: the next answer does not wait for a picture of this one."""
        if said.picture:
            drawing = asyncio.create_task(self._message_poster.picture(where, head, said.picture), name="a picture")
            self._drawings.add(drawing)
            drawing.add_done_callback(self._drawings.discard)

    async def _stand(self, request: CheckRequest, message: Message, *, final: bool = False) -> tuple[Address, bool]:
        """See that the head stands, and with `final` that it says this; and whether it stood there before."""
        new = False
        known = self._heads.get(request.id)
        if known is None:
            posted, new = await self._message_poster.once(Reply.of(request), HEAD, message)
            known = self._heads.get(request.id) or self._remember(request, posted)
        if not final:
            return known.posted, not new
        known.final = True
        if new:
            return known.posted, False
        async with known.lock:
            known.posted = await self._message_poster.change_or_repeat(Reply.of(request), known.posted, HEAD, message)
        return known.posted, True

    def _count(self, request: CheckRequest, outcome: str) -> None:
        self._heads.pop(request.id, None)
        self._metrics.answers.labels(outcome).inc()
        self._metrics.answered_after.observe(max((datetime.now(UTC) - request.asked_at).total_seconds(), 0))


def _pressed(request: CheckRequest) -> Pressed:
    return Pressed(request.id, request.cluster.text, request.scope)
