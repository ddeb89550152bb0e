"""The one who leads a check: runs it, shows signs of life, and answers everyone who has joined until nobody is left."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from bot.checks.reporter import Answer
from bot.checks.request import CheckRequest
from bot.checks.runner import Outcome, watched
from bot.checks.store.running import Hold, Joined, Kept, Part, Waiter
from bot.queue.cancel import end
from bot.queue.notify_each import notify_in_order
from bot.queue.retry import CannotTell
from bot.report import report_json
from bot.store.away import StoreAway
from bot.store.codec import decode_or_none, encode
from handlers.problem import Problem

if TYPE_CHECKING:
    from bot.checks.shared import Checks

log = logging.getLogger(__name__)

T = TypeVar("T")

SIGN_OF_LIFE_S = 1.0
"""How often the leader says that it lives, and looks who has joined."""
_ASK_AGAIN_S = 0.2


class _TakenOver(Exception):
    """Another worker has this job now."""


@dataclass(frozen=True, slots=True)
class _Ended:
    """An outcome, and when it came by the server's clock. None: it could not be kept."""

    outcome: Outcome
    kept: Kept | None = None

    @property
    def at_ms(self) -> int | None:
        return self.kept.at_ms if self.kept else None


class CheckLeader:
    """One leading of one check."""

    def __init__(self, checks: Checks, request: CheckRequest, token: str, joined_ms: int) -> None:
        self._checks, self._running, self._reporter = checks, checks.running, checks.reporter
        self._request, self._question, self._token = request, request.question, token
        self._joined_ms = joined_ms
        self._waiting = {request.id: request}

    async def run(self) -> None:
        try:
            ended = await self._recent() or await self._checked(self._request)
            await self._answer_everyone(ended)
        except* _TakenOver:
            log.info("request %s was taken up by another worker", self._request.id)

    async def _recent(self) -> _Ended | None:
        """The latest report, if it will do for this request: also our own, where we were killed while telling it."""
        kept = await self._running.kept(self._question)
        if not kept or not self._will_do(kept.at_ms, self._request, self._joined_ms):
            return None
        report = report_json.load_or_none(kept.text)
        return _Ended(report, kept) if report else None

    def _will_do(self, at_ms: int, request: CheckRequest, joined_ms: int) -> bool:
        if at_ms >= joined_ms:
            return True
        return not request.fresh and timedelta(milliseconds=joined_ms - at_ms) <= self._checks.recent

    async def _checked(self, request: CheckRequest) -> _Ended:
        with suppress(CannotTell):
            await self._reporter.started(request, timedelta(), durable=True)
        async with asyncio.TaskGroup() as group:
            life = group.create_task(self._live(), name="sign of life")
            try:
                outcome = await watched(
                    request, self._checks.run, self._reporter.progress, lambda: tuple(self._waiting.values())
                )
            finally:
                await end(life)
        return await self._keep(outcome)

    async def _keep(self, outcome: Outcome) -> _Ended:
        if isinstance(outcome, Problem):
            return _Ended(outcome)
        text = report_json.dump(outcome)
        try:
            return _Ended(outcome, await self._patiently(lambda: self._running.keep(self._question, text)))
        except StoreAway as away:
            log.warning("an answer goes out unrecorded: %s", away)
            return _Ended(outcome)

    async def _answer_everyone(self, ended: _Ended) -> None:
        failed: dict[str, CannotTell] = {}
        while True:
            try:
                hold, waiters = await self._patiently(lambda: self._running.close(self._question, self._token))
            except StoreAway:
                await self._answer_unrecorded(ended)
                return
            if hold is Hold.TAKEN:
                raise _TakenOver
            if hold is Hold.GONE:
                if not await self._join_again():
                    return
                continue
            still = [item for item in await self._readable(waiters) if item[1].id not in failed]
            if not still:
                if failed:
                    raise next(iter(failed.values()))
                return
            too_late = await self._tell(still, ended, failed)
            if too_late:
                # They want to know how it is now, and asked after the check had ended.
                self._waiting = {request.id: request for request in too_late}
                # What Azure answered to the check before was from before they asked, too.
                ended = await self._checked(replace(self._request, fresh=True))

    async def _tell(
        self, waiters: Iterable[tuple[Waiter, CheckRequest]], ended: _Ended, failed: dict[str, CannotTell]
    ) -> list[CheckRequest]:
        """Answer those whom this outcome answers; the others are returned."""
        told = await notify_in_order(self._tell_one(waiter, request, ended, failed) for waiter, request in waiters)
        return [request for request in told if request]

    async def _readable(self, waiters: Iterable[Waiter]) -> list[tuple[Waiter, CheckRequest]]:
        """Each with its request. Where one cannot be read nobody can be answered: it no longer holds up this check."""
        found = []
        for waiter in waiters:
            if request := decode_or_none(CheckRequest, waiter.request, f"the request {waiter.id}"):
                found.append((waiter, request))
            else:
                await self._patiently(partial(self._running.forget, self._question, waiter.id))
        return found

    async def _tell_one(
        self, waiter: Waiter, request: CheckRequest, ended: _Ended, failed: dict[str, CannotTell]
    ) -> CheckRequest | None:
        """The request, if it came too late for this outcome."""
        if self._checks.was_reported(request):
            await self._record(request, ended.kept)
            return None
        if ended.at_ms is not None and not self._will_do(ended.at_ms, request, waiter.joined_ms):
            return request
        age_ms = waiter.joined_ms - ended.at_ms if ended.at_ms is not None else 0
        try:
            await self._say(request, ended.outcome, timedelta(milliseconds=max(age_ms, 0)), durable=True)
        except CannotTell as mute:
            failed[request.id] = mute
        else:
            await self._record(request, ended.kept)
        return None

    async def _say(self, request: CheckRequest, outcome: Outcome, age: timedelta, *, durable: bool) -> None:
        if isinstance(outcome, Problem):
            await self._reporter.failed(request, outcome)
        else:
            await self._reporter.done(request, Answer(outcome, age, durable))

    async def _record(self, request: CheckRequest, kept: Kept | None) -> None:
        self._checks.told(request)
        self._waiting.pop(request.id, None)
        try:
            await self._patiently(lambda: self._running.answered(self._question, request.id, kept))
        except StoreAway:
            self._checks.remember(request)

    async def _answer_unrecorded(self, ended: _Ended) -> None:
        """The memory stays away: those we know of get their answer now, whatever may come."""
        unreported_outcomes = [request for request in self._waiting.values() if not self._checks.was_reported(request)]
        await notify_in_order(self._tell_unrecorded(outcome, ended) for outcome in unreported_outcomes)

    async def _tell_unrecorded(self, request: CheckRequest, ended: _Ended) -> None:
        await self._say(request, ended.outcome, timedelta(), durable=False)
        self._checks.remember(request)
        self._waiting.pop(request.id, None)

    async def _live(self) -> None:
        """Say that we live, and look who has joined. A server that is away for a while is no reason to stop."""
        while True:
            await asyncio.sleep(SIGN_OF_LIFE_S)
            with suppress(StoreAway):
                hold = await self._running.renew(self._question, self._token)
                if hold is Hold.TAKEN:
                    raise _TakenOver
                if hold is Hold.GONE:
                    await self._join_again()
                for waiter in await self._running.waiting(self._question):
                    if request := decode_or_none(CheckRequest, waiter.request, f"the request {waiter.id}"):
                        self._waiting.setdefault(request.id, request)

    async def _join_again(self) -> bool:
        """The server has lost its data: enter everyone we know of once more. False: somebody else leads them now."""
        leads = False
        for request in list(self._waiting.values()):
            joined = await self._patiently(partial(self._enter, request))
            if joined.part is Part.ANSWERED:
                self._waiting.pop(request.id)
            leads = leads or joined.part is Part.LEAD
        return leads

    async def _enter(self, request: CheckRequest) -> Joined:
        """Under the lead's own name, so that all of them follow this check."""
        job = self._request.id
        return await self._running.join_as(self._question, job, request.id, encode(request), self._token)

    async def _patiently(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask until it answers: a restart takes seconds, and what is not recorded could be said twice."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + self._checks.patience_s
        while True:
            try:
                return await ask()
            except StoreAway:
                if loop.time() >= ends:
                    raise
                await asyncio.sleep(_ASK_AGAIN_S)
