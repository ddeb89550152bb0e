"""The base of the sandbox's servers: a context manager that serves TLS on a free port of 127.0.0.1."""

from __future__ import annotations

import asyncio
import tempfile
from abc import ABC, abstractmethod
from contextlib import AsyncExitStack
from pathlib import Path
from ssl import SSLContext
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar

from aiohttp import web

from sandbox.arm.faults import Fault

HOST = "127.0.0.1"


class Door(Protocol):
    """Answers the requests, and injects faults on demand."""

    closing: asyncio.Event
    faults: list[Fault]
    latency_s: float

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse: ...


D = TypeVar("D", bound=Door)


class LocalServer(ABC, Generic[D]):
    """A server in front of one Door. Inside `async with` it listens, and has a temporary folder for certificates."""

    def __init__(self, door: D, port: int) -> None:
        self._door = door
        self._port = port
        self._stack = AsyncExitStack()

    @abstractmethod
    async def _start(self, stack: AsyncExitStack, folder: Path) -> None:
        """Start listening, and push the cleanup onto the stack."""

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="aksbot-sandbox-")))
            await self._start(stack, folder)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._door.closing.set()
        await self._stack.aclose()

    async def _listen(self, stack: AsyncExitStack, tls: SSLContext) -> None:
        # Cancel the handler when its client disconnects: that is how a watch and a "timeout" fault end.
        server = web.Server(self._door.handle, handler_cancellation=True, access_log=None)
        runner = web.ServerRunner(server, shutdown_timeout=1.0)
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, HOST, self._port, ssl_context=tls).start()
        self._port = runner.addresses[0][1]

    @property
    def url(self) -> str:
        return f"https://{HOST}:{self._port}"

    @property
    def faults(self) -> list[Fault]:
        """The faults to inject into matching requests; tests append to this list."""
        return self._door.faults

    @property
    def latency_s(self) -> float:
        return self._door.latency_s

    @latency_s.setter
    def latency_s(self, seconds: float) -> None:
        self._door.latency_s = seconds
