"""What must be on disk before anything follows from it."""

from __future__ import annotations

import logging

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from bot.store.away import StoreAway, reachable

log = logging.getLogger(__name__)

_WITHIN_MS = 2000


async def wait_until_durable(connection: Redis, what: str) -> None:
    """WAITAOF, where the server has it and keeps an append-only file.

    It waits for what the same connection has written and for nothing else: `own_connection` is one, a pool is not.
    """
    try:
        with reachable():
            done = await connection.waitaof(1, 0, _WITHIN_MS)
    except ResponseError as cannot:
        log.debug("the server cannot say whether %s is on disk: %s", what, cannot)
        return
    if not done[0]:
        raise StoreAway(f"{what} was not on disk within {_WITHIN_MS / 1000:g} s")
