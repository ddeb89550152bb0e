"""Raw HTTP requests as an attacker might send them, piece by piece over a plain connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress

PATIENCE_S = 60


class RawRequest:
    """One request whose body the test sends piece by piece."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def send(self, part: bytes) -> None:
        self._writer.write(part)
        await self._writer.drain()

    async def status(self) -> int:
        """The response status, which may arrive before the body is complete."""
        line = await asyncio.wait_for(self._reader.readline(), PATIENCE_S)
        return int(line.split(b" ")[1])

    async def text_until_closed(self) -> str:
        """The rest of the response, until the server closes the connection."""
        return (await asyncio.wait_for(self._reader.read(), PATIENCE_S)).decode()


@asynccontextmanager
async def begun(port: int, path: str, headers: Mapping[str, str], host: str = "127.0.0.1") -> AsyncIterator[RawRequest]:
    """A POST whose headers have been sent, but not its body."""
    reader, writer = await asyncio.open_connection(host, port)
    try:
        lines = [f"POST {path} HTTP/1.1", f"Host: {host}", *(f"{name}: {value}" for name, value in headers.items())]
        writer.write("\r\n".join((*lines, "", "")).encode())
        await writer.drain()
        yield RawRequest(reader, writer)
    finally:
        writer.close()
        with suppress(ConnectionError):  # the server closed first
            await writer.wait_closed()
