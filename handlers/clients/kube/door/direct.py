"""The direct connection to the API server, with the identity of the kubeconfig."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from handlers.clients.errors import ArmError, Unreachable
from handlers.clients.kube.door.doors import KubeSession, KubeSessions
from handlers.clients.kube.reply import Reply
from handlers.model import Target

DIRECTLY = "directly"


class DirectWay:
    """One check's connection. Once it is found unreachable, all callers of the check fail at once."""

    azure_calls = 0

    def __init__(self, target: Target, doors: KubeSessions) -> None:
        self.reached = ""
        self._target = target
        self._doors = doors
        self._began = time.monotonic()
        self._entering = asyncio.Lock()
        self._door: KubeSession | None = None
        self._entered: list[KubeSession] = []
        self._failed: ArmError | None = None
        self._refused = False

    @property
    def entra(self) -> bool:
        """Whether the cluster uses Entra sign-in, if known."""
        return bool(self._door and self._door.entrance.entra)

    @property
    def trouble(self) -> Unreachable | None:
        return self._failed if isinstance(self._failed, Unreachable) else None

    async def send(self, method: str, target: str, body: Mapping[str, Any] | None, accept: str = "") -> Reply:
        door = await self._enter()
        also = {"Accept": accept} if accept else None
        try:
            reply, token = await door.send(method, target, body, also)
        except Unreachable as error:
            if error.code != "tls" or not await self._renewed(door, ""):
                raise self._noted(error, door) from error.__cause__
            return await self._once_more(method, target, body, also)
        self._got_through()
        if reply.status == 401 and await self._renewed(door, token):
            return await self._once_more(method, target, body, also)
        return reply

    async def close(self) -> None:
        for door in self._entered:
            await self._doors.leave(self._target, door)
        self._entered.clear()

    async def _once_more(
        self, method: str, target: str, body: Mapping[str, Any] | None, also: Mapping[str, str] | None
    ) -> Reply:
        door = await self._enter()
        try:
            reply, _ = await door.send(method, target, body, also)
        except Unreachable as error:
            raise self._noted(error, door) from error.__cause__
        self._got_through()
        self._refused = reply.status == 401
        return reply

    async def _enter(self) -> KubeSession:
        async with self._entering:
            if self._failed:
                raise _same(self._failed)
            if self._door is None:
                self._door = await self._opened(None)
            return self._door

    async def _opened(self, instead_of: KubeSession | None) -> KubeSession:
        try:
            door = await self._doors.enter(self._target, instead_of=instead_of)
        except ArmError as error:
            self._failed = error
            raise
        self._entered.append(door)
        return door

    async def _renewed(self, door: KubeSession, token: str) -> bool:
        """Whether there is another credential to try: the cached one may be outdated."""
        async with self._entering:
            if self._refused:
                return False
            if self._door is not door:
                return True
            if door.tokens and token:
                await door.tokens.renew(token, None, "the API server's token")
                return True
            if door.opened_at >= self._began:
                return False
            self._door = await self._opened(door)
            return True

    def _got_through(self) -> None:
        # One failed connection of several at once may be bad luck: do not conclude that the server is unreachable.
        self.reached, self._failed = DIRECTLY, None

    def _noted(self, error: Unreachable, door: KubeSession) -> Unreachable:
        if self.reached:
            # Other calls got through: one lost connection does not make the server unreachable.
            error.again = True
            return error
        self._failed = error
        if door.opened_at < self._began:
            self._doors.forget(self._target, door)
        return error


def _same(error: ArmError) -> ArmError:
    """A copy of a failure for another caller: the raised one carries its own traceback."""
    again = type(error).__new__(type(error), *error.args)
    again.__dict__.update(error.__dict__)
    return again
