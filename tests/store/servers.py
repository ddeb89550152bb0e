"""Helpers to kill servers and processes, and to wait for the effects."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from bot.store.away import StoreAway
from bot.store.connect import Connection

ROOT = Path(__file__).parents[2]
PATIENCE_S = 20.0


async def until(holds: Callable[[], Awaitable[bool]], timeout_s: float = PATIENCE_S) -> None:
    """Wait until the condition is true; connection errors count as false."""
    async with asyncio.timeout(timeout_s):
        while not await _said_yes(holds):  # noqa: ASYNC110 - the server tells nobody
            await asyncio.sleep(0.01)


async def _said_yes(holds: Callable[[], Awaitable[bool]]) -> bool:
    try:
        return await holds()
    except StoreAway:
        return False


def kill_server(connection: Connection) -> int:
    """Kill the embedded server; its supervisor starts it again."""
    assert connection.embedded
    pid = connection.embedded.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    return pid


async def until_it_is_back(connection: Connection, pid: int) -> None:
    server = connection.embedded
    assert server

    async def back() -> bool:
        return server.pid not in (None, pid) and bool(await connection.redis.ping())

    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                if await back():
                    return
            except (OSError, ConnectionError):
                pass
            except Exception as error:
                if "Connection" not in type(error).__name__:
                    raise
            await asyncio.sleep(0.01)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # An unreaped child is a zombie and counts as dead.
    return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text() if sys.platform == "linux" else True


@asynccontextmanager
async def python(*words: str, **environment: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """A Python process with the project importable, killed on exit."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *words,
        cwd=ROOT,
        env={**os.environ, **environment},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()
