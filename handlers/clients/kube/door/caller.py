"""One call to the API server: refuses writes, counts, retries transient failures, records."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Container, Mapping
from typing import Any

from handlers.clients.call_log import Call, CallLog
from handlers.clients.clock import Clock, give_up_at
from handlers.clients.errors import ArmError, Garbled
from handlers.clients.kube.listing import parsed
from handlers.clients.kube.paths import ApiPath, refuse_writes
from handlers.clients.kube.recorded import AnswerRecorder
from handlers.clients.kube.refusals import refusal
from handlers.clients.kube.reply import Reply, Way
from handlers.engine.current import collecting

TRIES = 4
FIRST_PAUSE_S = 0.2


class Caller:
    """Sends calls through one connection."""

    def __init__(
        self, way: Way, calls: CallLog, clock: Clock, kept: AnswerRecorder | None, *, tries: int = TRIES
    ) -> None:
        self.way = way
        self.clock = clock
        self.kept = kept
        self._tries = tries
        self._calls = calls
        self._reached = ""

    async def reply(
        self,
        method: str,
        target: str,
        body: Mapping[str, Any] | None = None,
        *,
        also: Container[int] = (),
        called: str = "",
        accept: str = "",
        into_pod: bool = False,
    ) -> Reply:
        """The answer. `also`: more statuses to accept. `called`: its address in a recording. `accept`: its form.
        `into_pod`: the target is a port of a pod, which the settings allow to ask."""
        refuse_writes(method, target, into_pod=into_pod)
        name = called or target
        try:
            return await self._persistently(method, target, body, also, accept)
        except ArmError as error:
            if self.kept:
                self.kept.failed(method, name, body, error)
            raise
        except asyncio.CancelledError:
            if self.kept:
                self.kept.cut_off(method, name, body)
            raise

    async def json(self, method: str, target: str, body: Mapping[str, Any] | None = None) -> tuple[Any, Reply]:
        """The parsed raw answer, and the reply."""
        reply = await self.reply(method, target, body)
        value = self.understood(method, target, body, lambda: parsed(reply.content, ApiPath.at(target).wanted))
        self.record(lambda kept: kept.answer(method, target, body, reply))
        return value, reply

    def understood(self, method: str, called: str, body: Any, read: Callable[[], Any]) -> Any:
        """What `read` makes of an answer. If it fails, the failure is recorded in place of the answer."""
        try:
            return read()
        except Garbled as error:
            if self.kept:
                self.kept.failed(method, called, body, error)
            raise

    def record(self, give: Callable[[AnswerRecorder], object]) -> None:
        if self.kept:
            give(self.kept)

    def _note_reached(self) -> None:
        if self.kept and self.way.reached != self._reached:
            self.kept.reached(self.way.reached, self.way.trouble)
        self._reached = self.way.reached

    async def _persistently(
        self, method: str, target: str, body: Mapping[str, Any] | None, also: Container[int], accept: str
    ) -> Reply:
        until = give_up_at(self.clock)
        for tried in range(1, self._tries):
            try:
                return await self._once(method, target, body, also, accept)
            except ArmError as error:
                pause = _pause(error, tried)
                if method != "GET" or not error.again or self.clock.now() + pause >= until:
                    raise
            await self.clock.sleep(pause)
        return await self._once(method, target, body, also, accept)

    async def _once(
        self, method: str, target: str, body: Mapping[str, Any] | None, also: Container[int], accept: str
    ) -> Reply:
        started, status = time.monotonic(), None
        try:
            reply = await self.way.send(method, target, body, accept)
            status = reply.status
            self._note_reached()
        finally:
            path = target.partition("?")[0]
            self._calls.add(Call(collecting.get(), method, path, status, "", started, time.monotonic()))
        if reply.ok or reply.status in also:
            return reply
        raise refusal(method, target, reply)


def _pause(error: ArmError, tried: int) -> float:
    backoff: float = FIRST_PAUSE_S * 2 ** (tried - 1)
    return backoff if error.retry_after_s is None else max(error.retry_after_s, 0.0)
