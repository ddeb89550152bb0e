"""One connection out of the pool for a few commands that belong together, such as a write and its WAITAOF."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from redis.asyncio import Redis


@asynccontextmanager
async def own_connection(redis: Redis) -> AsyncIterator[Redis]:
    """A client with one connection of its own. It goes back to the pool also when the task is cancelled.

    `async with redis.client()` waits before it gives the connection back; a task that is cancelled there, as when the
    bot stops, leaves the client unclosed. `aclose` lets go of it before it waits for anything.
    """
    client = redis.client()
    try:
        yield await client.initialize()
    finally:
        await client.aclose()
