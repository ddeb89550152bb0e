"""Reads a list page by page: only one page is in memory as objects, and it is freed before the next is fetched."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any, Generic, Protocol, TypeVar

from handlers.clients.errors import Garbled, NotFound, ServerFault, Throttled
from handlers.clients.kube.clean import without_secrets
from handlers.clients.kube.door.caller import Caller
from handlers.clients.kube.listing import read_page, without_collector
from handlers.clients.kube.paths import ApiPath, target_of
from handlers.clients.kube.recorded import MOST_OF_A_LIST, ListCut
from handlers.clients.kube.reply import CUT, Reply
from handlers.engine.current import deadline

T = TypeVar("T")
Made = TypeVar("Made", covariant=True)
A = TypeVar("A")

RESTARTS = 3
"""How often a list may expire while it is read: a token lives about five minutes, unless etcd is compacted."""
HEADROOM = 1.5
"""The next page may take this much longer than the slowest one so far."""


MOST_AT_ONCE = 2
"""Long lists of one check. Many at once cost the API server, and this process, memory for all of their pages."""


class Turns:
    """What the lists of one check share: two turns for their second and later pages, and a 429, which ends them all."""

    def __init__(self) -> None:
        self.long = asyncio.Semaphore(MOST_AT_ONCE)
        self._refused: Throttled | None = None

    def refuse(self, error: Throttled) -> None:
        """The API server throttles the bot itself, not one kind: whatever else is asked would only make it worse."""
        self._refused = self._refused or error

    def check(self, wanted: str) -> None:
        if self._refused:
            detail = f"not asked any more, as the API server throttles aksbot: {self._refused.detail}"
            raise Throttled(wanted, detail, status=429, retry_after_s=self._refused.retry_after_s)


class Sheet(Protocol[Made]):
    """What is made of the objects, page by page."""

    def take(self, rows: list[dict[str, Any]]) -> bool:
        """Add an object. Returns whether there is room for more."""
        ...

    @property
    def full(self) -> bool:
        """Whether an object did not fit."""
        ...

    def close(self) -> Made: ...


class Keeping(Generic[T]):
    """A row for each object that is kept."""

    def __init__(self, keep: Callable[[Mapping[str, Any]], T | None], most: int) -> None:
        self._keep = keep
        self._most = most
        self._kept: list[T] = []

    def take(self, rows: list[dict[str, Any]]) -> bool:
        self._kept += without_secrets([row for row in map(self._keep, rows) if row is not None])
        return len(self._kept) < self._most

    @property
    def full(self) -> bool:
        return len(self._kept) > self._most

    def close(self) -> tuple[T, ...]:
        return tuple(self._kept[: self._most])


class Folding(Generic[A]):
    """One sum over all objects."""

    full = False

    def __init__(self, value: A, add: Callable[[A, Mapping[str, Any]], None]) -> None:
        self._value = value
        self._add = add

    def take(self, rows: list[dict[str, Any]]) -> bool:
        value, add = self._value, self._add
        for row in rows:
            add(value, row)
        return True

    def close(self) -> A:
        return without_secrets([self._value])[0]


class Paginator:
    """One list, from its first page to its last (or to where it is cut)."""

    def __init__(
        self, caller: Caller, path: str, turns: Turns, *, labels: str, fields: str, page: int, accept: str = ""
    ) -> None:
        self._caller = caller
        self._turns = turns
        self._path = path
        self._accept = accept
        self._params = {"labelSelector": labels, "fieldSelector": fields}
        self._page = str(page)
        self._wanted = ApiPath.at(path).wanted
        self._recorded = 0

    @property
    def target(self) -> str:
        """The whole list, as a person would ask for it."""
        return target_of(self._path, self._params)

    async def all(self, begin: Callable[[], Sheet[T]]) -> tuple[T, Reply, bool]:
        """What was made of the list, the first page's frame, and whether it was cut. An expired list starts again."""
        for _ in range(RESTARTS):
            self._turns.check(self._wanted)
            try:
                async with AsyncExitStack() as turn:
                    return await self._once(begin(), turn)
            except NotFound as gone:
                if gone.status != 410:
                    raise
            except Throttled as error:
                self._turns.refuse(error)
                raise
        detail = f"410 Expired: the list expired {RESTARTS} times while it was being read"
        raise ServerFault(self._wanted, detail, status=410, code="Expired")

    async def _once(self, sheet: Sheet[T], turn: AsyncExitStack) -> tuple[T, Reply, bool]:
        self._recorded = 0
        token, number, slowest_s = "", 1, 0.0
        followed: set[str] = set()
        first: Reply | None = None
        while True:
            began = self._caller.clock.now()
            try:
                reply = await self._fetch(token, number)
            except ListCut:
                if first is None:
                    raise
                return sheet.close(), first, True
            slowest_s = max(slowest_s, self._caller.clock.now() - began)
            first = first or Reply(reply.status, reply.headers, b"", reply.taken_at)
            following, more = self._digest(reply, sheet, number)
            del reply
            if not following:
                return sheet.close(), first, sheet.full or CUT in first.headers
            if following in followed:
                raise Garbled(self._wanted, "the list leads in a circle")
            followed.add(following)
            if not more or not self._time_for(slowest_s):
                self._record_cut(number + 1)
                return sheet.close(), first, True
            if number == 1 and not await self._has_turn(turn, slowest_s):
                self._record_cut(number + 1)
                return sheet.close(), first, True
            token, number = following, number + 1

    async def _has_turn(self, turn: AsyncExitStack, slowest_s: float) -> bool:
        """Wait until the list may go on; False where the deadline comes first."""
        until = deadline.get()
        left = None if until is None else max(0.0, until - self._caller.clock.now() - slowest_s * HEADROOM)
        try:
            async with asyncio.timeout(left):
                await turn.enter_async_context(self._turns.long)
        except TimeoutError:
            return False
        self._turns.check(self._wanted)
        return True

    async def _fetch(self, token: str, number: int) -> Reply:
        return await self._caller.reply("GET", self._target(token), called=self._name(number), accept=self._accept)

    def _digest(self, reply: Reply, sheet: Sheet[T], number: int) -> tuple[str, bool]:
        """Keep what is used of a page. Returns the next page's token if there is room; frees the objects on return."""
        with without_collector():
            rows, following = self._caller.understood(
                "GET", self._name(number), None, lambda: read_page(reply.content, self._wanted)
            )
            self._record(reply, number, last=not following)
            more = sheet.take(rows)
            del rows
        return following, more

    def _record(self, reply: Reply, number: int, *, last: bool) -> None:
        if not self._caller.kept or self._recorded > MOST_OF_A_LIST:
            return
        follows = "" if last else _mark(number + 1)
        self._recorded += self._caller.kept.page(self._name(number), reply, follows)
        if self._recorded > MOST_OF_A_LIST and not last:
            self._record_cut(number + 1)

    def _record_cut(self, number: int) -> None:
        if self._caller.kept:
            self._caller.kept.list_cut(self._name(number))

    def _target(self, token: str) -> str:
        return target_of(self._path, {**self._params, "limit": self._page, "continue": token})

    def _name(self, number: int) -> str:
        """The page's address in a recording. A token means nothing to a reader, and may hold names."""
        return self._target(_mark(number) if number > 1 else "")

    def _time_for(self, slowest_s: float) -> bool:
        """Whether another page is likely to arrive before the deadline: half a list in time beats none."""
        until = deadline.get()
        return until is None or self._caller.clock.now() + slowest_s * HEADROOM < until


def _mark(number: int) -> str:
    return f"page-{number}"
