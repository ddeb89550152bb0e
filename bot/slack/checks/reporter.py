"""A check reported in Slack: a head message with live progress, and the answer in its thread. Each said once.

Reply the bot is not a member it answers over the response URL, and where that is gone too, in a direct message.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
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
from bot.slack.inbound.gate import Gate
from bot.slack.inbound.outside import Outside
from bot.slack.kit import limits, sentences
from bot.slack.kit.message import AnswerMessages, Message, Pressed
from bot.slack.kit.naming import addressed, calling
from handlers.fleet.names import NoSuchCluster
from handlers.model import State
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
        gate: Gate,
        outside: Outside,
        metrics: Metrics,
        links: Links = NO_LINKS,
    ) -> None:
        self._gate, self._outside, self._links = gate, outside, links
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
        said = checks_view.started(_name_of(request), running_for, durable=durable)
        try:
            await self._stand(request, said)
            self._look_who_reads(request)
        except Refused as refused:
            if refused.error not in NO_PLACE:
                raise CannotTell(str(refused)) from refused
            self._no_place[request.id] = refused.error
            if len(self._no_place) > _REMEMBERED:
                del self._no_place[next(iter(self._no_place))]
        except CallFailed as failed:
            raise CannotTell(str(failed)) from failed

    def _look_who_reads(self, request: CheckRequest) -> None:
        """Beside the check, so that its answer does not wait for Slack's."""

        async def look() -> None:
            await self._outside.covers(request.place)

        task = asyncio.create_task(look(), name=f"who reads {request.place.channel}")
        self._edits.add(task)
        task.add_done_callback(self._edits.discard)

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
            if head.final or await self._outside.covers(request.place):
                return  # what is found on the way is not for everybody either
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
        in_thread, outside = bool(request.place.thread_ts), await self._is_outside(request)
        shown = _without_buttons(answer) if outside else answer
        said = checks_view.answer(shown, _pressed(request), self._library, in_thread=in_thread, links=self._links)
        notify = () if answer.report.diagnosis.state is State.CLEAR else request.notify
        if outside:
            await self._answer_outside(request, checks_view.outside(answer, self._library), said, notify)
        else:
            await self._answer(request, said, notify)
        self._count(request, answer.report.diagnosis.state.value)

    async def failed(self, request: CheckRequest, problem: Problem) -> None:
        if isinstance(problem, NoSuchCluster):
            await self._tell_no_such_cluster(request, problem)
            self._count(request, "failed")
            return
        await self._tell_failed(request, checks_view.failed(problem, _pressed(request)))
        self._count(request, "failed")

    async def _tell_no_such_cluster(self, request: CheckRequest, missing: NoSuchCluster) -> None:
        """A slip of the pen is nobody else's matter: who typed a command is told alone."""
        place = request.place
        near = [name for name in missing.near if await self._gate.refusal(place, name) is None]
        said = AnswerMessages(checks_view.no_such_cluster(missing, near, request.scope), ())
        if place.thread_ts or not place.response_url:
            await self._tell_failed(request, said.head)
            return
        where, why = Reply.of(request), self._no_place.pop(request.id, "")
        try:
            if (head := await self._head(request)) and not head.final:
                head.final = True
                async with head.lock:
                    with suppress(Refused):  # somebody has deleted it
                        await self._slack_messages.take_back(head.posted)
            await self._message_poster.elsewhere(where, said, why)
        except CallFailed as failed:
            raise CannotTell(str(failed)) from failed

    async def gave_up(self, request: CheckRequest, problem: Problem) -> None:
        await self._tell_failed(request, checks_view.failed(problem, _pressed(request), gave_up=True))
        self._count(request, "gave_up")

    async def _tell_failed(self, request: CheckRequest, message: Message) -> None:
        said = AnswerMessages(message, ())
        if await self._is_outside(request):
            public = checks_view.failed_outside(_name_of(request))
            await self._answer_outside(request, public, said, request.notify)
        else:
            await self._answer(request, said, request.notify)

    async def _is_outside(self, request: CheckRequest) -> bool:
        """Where the bot has no place, only whoever asked is answered anyway."""
        return request.id not in self._no_place and await self._outside.covers(request.place)

    async def _answer_outside(
        self, request: CheckRequest, public: Message, said: AnswerMessages, notify: Sequence[str]
    ) -> None:
        """The state for everybody, the rest for whoever asked; they were let in at the door."""
        if notify:
            public = calling(public, notify)
        where, place, mine = Reply.of(request), request.place, checks_view.for_one(said)
        try:
            try:
                await self._stand(request, public, final=True)
            except Refused as refused:
                if refused.error not in NO_PLACE:
                    raise
            if place.response_url and not place.thread_ts:
                await self._message_poster.elsewhere(where, mine, "")
            elif place.user:
                await self._whisper(where, mine)
        except CallFailed as failed:
            raise CannotTell(str(failed)) from failed

    async def _whisper(self, where: Reply, said: AnswerMessages) -> None:
        """An alert has nobody to whisper to, and the bot itself is told nothing."""
        try:
            await self._message_poster.whisper(where, (said.head, *said.thread))
        except Refused as refused:
            log.info("nobody is told the rest of %s: %s", where.job, refused)

    async def _answer(self, request: CheckRequest, said: AnswerMessages, notify: Sequence[str] = ()) -> None:
        """`notify`: who is called where nobody has asked."""
        where, why = Reply.of(request), self._no_place.pop(request.id, None)
        if request.reported_by:
            said = replace(said, head=addressed(said.head, request.reported_by))
        elif notify:
            said = replace(said, head=calling(said.head, notify))
        try:
            if why:
                await self._message_poster.elsewhere(where, said, why)
                return
            try:
                head, edited = await self._stand(request, said.head, final=True)
                called = tuple(notify) or (request.place.user,)
                if edited and all(called) and not where.place.channel.startswith(DIRECT):
                    # An edit rings no bell; a new message that names them does, and its text is the first line.
                    said = checks_view.calling(said, called)
                await self._message_poster.in_thread(where, head, said)
                self._show_pictures(where, head, said)
            except Refused as refused:
                if refused.error not in NO_PLACE:
                    raise
                await self._message_poster.elsewhere(where, said, refused.error)
        except CallFailed as failed:
            raise CannotTell(str(failed)) from failed

    def _show_pictures(self, where: Reply, head: Address, said: AnswerMessages) -> None:
        """Beside the job: the next answer does not wait for the pictures of this one."""
        if said.pictures:
            drawing = asyncio.create_task(self._message_poster.pictures(where, head, said.pictures), name="pictures")
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


def _name_of(request: CheckRequest) -> str:
    """For everybody who reads there: an id or a link holds a subscription, and what is no cluster may hold anything."""
    return sentences.WHAT_WAS_NAMED if request.cluster.unreadable else request.cluster.name


def _without_buttons(answer: Answer) -> Answer:
    """No fix can be asked for where others read along; why something has none is worth reading anywhere."""
    return replace(answer, fixes=tuple(fix for fix in answer.fixes if not fix.has_button))


def _pressed(request: CheckRequest) -> Pressed:
    return Pressed(request.id, request.cluster.text, request.scope)
