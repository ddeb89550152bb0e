"""Equal reads share one call, and for a few seconds one answer."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass, field

from azure.core.pipeline import PipelineRequest, PipelineResponse
from azure.core.pipeline.policies import AsyncHTTPPolicy
from azure.core.rest import AsyncHttpResponse, HttpRequest

from handlers.clients.arm.freshness import oldest_acceptable
from handlers.clients.clock import Clock, give_up_at
from handlers.clients.errors import Throttled, TimedOut

Response = PipelineResponse[HttpRequest, AsyncHttpResponse]

FRESH_FOR_S = 15.0
"""Long enough for one check and a second person's press, short enough that nobody acts on an old state."""
MANY = 512


class _RanOutOfTime(Exception):
    """A shared call ran out of time, and a caller that joined it has time left."""


@dataclass
class _Flight:
    """One call that several callers wait for. `until` is its own deadline."""

    task: asyncio.Task[Response]
    until: float
    asked_at: float
    waiting: int = 0


@dataclass
class _Kept:
    answer: Response
    asked_at: float
    until: float


@dataclass
class _FreshAnswers:
    """The answers that are still fresh."""

    kept: dict[str, _Kept] = field(default_factory=dict)

    def find(self, key: str, now: float) -> Response | None:
        found = self.kept.get(key)
        return found.answer if found and found.until > now and found.asked_at >= oldest_acceptable() else None

    def keep(self, key: str, answer: Response, asked_at: float, now: float, fresh_for_s: float) -> None:
        newer = self.kept.get(key)
        if newer and newer.asked_at > asked_at:
            return
        if len(self.kept) >= MANY:
            self.kept = {key: kept for key, kept in self.kept.items() if kept.until > now}
        while len(self.kept) >= MANY:
            self.kept.pop(next(iter(self.kept)))
        self.kept[key] = _Kept(answer, asked_at, now + fresh_for_s)


class ShareEqualReads(AsyncHTTPPolicy[HttpRequest, AsyncHttpResponse]):
    """The first caller starts the call; equal ones join it. Cancelling one caller does not cancel it for the others."""

    def __init__(self, clock: Clock, fresh_for_s: float = FRESH_FOR_S) -> None:
        super().__init__()
        self._clock = clock
        self._fresh_for_s = fresh_for_s
        self._shelf = _FreshAnswers()
        self._flights: dict[str, _Flight] = {}
        self._ending: set[asyncio.Task[Response]] = set()

    async def send(self, request: PipelineRequest[HttpRequest]) -> Response:
        key = _key(request.http_request)
        try:
            return await self._find_or_ask(key, request)
        except _RanOutOfTime:
            # The first caller had less time than this one: repeat the call with our own deadline.
            return await self._find_or_ask(key, request, last=True)

    async def _find_or_ask(self, key: str, request: PipelineRequest[HttpRequest], *, last: bool = False) -> Response:
        kept = self._shelf.find(key, self._clock.now())
        if kept is not None:
            return kept
        flight = self._flights.get(key)
        if flight and flight.asked_at < oldest_acceptable():
            self._ending.add(flight.task)  # Other callers still wait for it.
            flight = None
        mine = flight is None
        flight = flight or self._take_off(key, request)
        try:
            return await self._wait(key, flight)
        except (Throttled, TimedOut) as error:
            if mine or last or give_up_at(self._clock) <= flight.until:
                raise
            raise _RanOutOfTime from error

    async def close(self) -> None:
        """Cancel the calls that nobody waits for any more."""
        for task in (*self._ending, *(flight.task for flight in self._flights.values())):
            task.cancel()
        await asyncio.gather(*self._ending, *(flight.task for flight in self._flights.values()), return_exceptions=True)

    def _take_off(self, key: str, request: PipelineRequest[HttpRequest]) -> _Flight:
        task = asyncio.ensure_future(self.next.send(request))
        flight = self._flights[key] = _Flight(task, give_up_at(self._clock), self._clock.now())
        task.add_done_callback(lambda done: self._land(key, flight))
        return flight

    async def _wait(self, key: str, flight: _Flight) -> Response:
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.task.done():
                self._forget(key, flight)
                self._ending.add(flight.task)
                flight.task.cancel()

    def _land(self, key: str, flight: _Flight) -> None:
        task = flight.task
        self._ending.discard(task)
        self._forget(key, flight)
        if not task.cancelled() and task.exception() is None and self._fresh_for_s > 0:
            self._shelf.keep(key, task.result(), flight.asked_at, self._clock.now(), self._fresh_for_s)

    def _forget(self, key: str, flight: _Flight) -> None:
        """Remove this call, unless a newer one has taken its place."""
        if self._flights.get(key) is flight:
            del self._flights[key]


def _key(request: HttpRequest) -> str:
    """Ids compare in any case; tokens in a query do not."""
    path, _, query = request.url.partition("?")
    content = request.content or b""
    raw = content.encode() if isinstance(content, str) else bytes(content)
    body = hashlib.sha256(raw).hexdigest() if raw else ""
    return f"{request.method} {path.lower()}?{query} {body}"
