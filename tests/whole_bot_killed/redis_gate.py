"""A proxy between one process and Redis that stops forwarding at a chosen command."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from bot.store.connect import Connection


@dataclass
class Halt:
    """Stop at the first command that contains this; with `done`, Redis executes it but the reply is dropped."""

    says: str
    done: bool = False
    skip: int = 0
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    def takes(self, command: bytes) -> bool:
        if not re.search(self.says.encode(), command, re.DOTALL):
            return False
        self.skip -= 1
        return self.skip < 0


class RedisGate:
    """Forwards everything until its halt is reached, and nothing after that."""

    def __init__(self, behind: str) -> None:
        self._behind = behind
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()
        self._shut = False
        self.halt: Halt | None = None

    @property
    def url(self) -> str:
        assert self._server
        return f"redis://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)

    async def stop(self) -> None:
        assert self._server
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._open.add(task)
        try:
            there, back = await asyncio.open_unix_connection(urlsplit(self._behind).path)
            try:
                async with asyncio.TaskGroup() as both:
                    last = asyncio.Event()
                    both.create_task(self._questions(reader, back, last), name="what the process asks")
                    both.create_task(self._answers(there, writer, last), name="what Redis answers")
            finally:
                back.close()
        except* (OSError, asyncio.IncompleteReadError):
            pass  # one side has disconnected
        finally:
            writer.close()
            self._open.discard(task)

    async def _questions(self, reader: asyncio.StreamReader, back: asyncio.StreamWriter, last: asyncio.Event) -> None:
        while True:
            command = await _command(reader)
            if not self._shut and self.halt and not last.is_set() and self.halt.takes(command):
                if self.halt.done:
                    last.set()
                else:
                    self._close(self.halt)
            if not self._shut:
                back.write(command)
                await back.drain()

    async def _answers(self, there: asyncio.StreamReader, writer: asyncio.StreamWriter, last: asyncio.Event) -> None:
        while data := await there.read(65536):
            if last.is_set() and self.halt:
                if data.startswith(b"-NOSCRIPT"):
                    # Nothing was executed: the client retries with the full script.
                    self.halt.skip = 0
                    last.clear()
                else:
                    self._close(self.halt)
            if not self._shut:
                writer.write(data)
                await writer.drain()
        raise ConnectionResetError("Redis has closed the connection")

    def reopen(self) -> None:
        """Reopen the gate for the next process."""
        self._shut, self.halt = False, None

    def _close(self, halt: Halt) -> None:
        self._shut = True
        halt.reached.set()


async def _command(reader: asyncio.StreamReader) -> bytes:
    """Read one complete command: a RESP array of bulk strings."""
    head = await reader.readuntil(b"\r\n")
    parts = [head]
    for _ in range(int(head[1:])):
        length = await reader.readuntil(b"\r\n")
        parts += [length, await reader.readexactly(int(length[1:]) + 2)]
    return b"".join(parts)


@asynccontextmanager
async def gated(redis: Connection) -> AsyncIterator[RedisGate]:
    """A gate in front of the embedded server."""
    gate = RedisGate(redis.url)
    await gate.start()
    try:
        yield gate
    finally:
        await gate.stop()
