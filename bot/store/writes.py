"""Whether what is asked now can be kept: a server that answers reads may take no writes."""

from __future__ import annotations

import asyncio

from bot.store import keys
from bot.store.away import NO_ANSWER, StoreAway, TakesNoWrites, reachable
from bot.store.connect import Connection

_AGAIN_S = 0.05

_WRITE = """
redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])
local t = redis.call('TIME')
return string.format('%.0f', t[1] * 1000 + math.floor(t[2] / 1000))
"""


class Writes:
    """Asked before something is taken in that must not be lost, and by probes."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._write = connection.redis.register_script(_WRITE)

    def must_be_taken(self) -> None:
        """Raises TakesNoWrites where that is known without asking."""
        if why := self._connection.why_no_writes:
            raise TakesNoWrites(why)

    async def now_ms(self, patience_s: float) -> int:
        """The server's time, given with a write that it has taken, or StoreAway. A restart is waited for."""
        away = StoreAway(NO_ANSWER)
        try:
            async with asyncio.timeout(patience_s):
                while True:
                    self.must_be_taken()
                    try:
                        return await self._written()
                    except TakesNoWrites:
                        raise
                    except StoreAway as lost:
                        away = lost
                    await asyncio.sleep(_AGAIN_S)
        except TimeoutError as late:
            raise away from late

    async def _written(self) -> int:
        lasts_ms = int(keys.WRITE_TTL.total_seconds() * 1000)
        with reachable():
            return int(await self._write(keys=[keys.WRITE], args=[lasts_ms]))
