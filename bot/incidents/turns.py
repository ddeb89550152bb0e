"""What was said in channels, until it is dealt with. What one person says within seconds is one turn."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from redis.asyncio import Redis

from bot.store import keys
from bot.store.away import reachable
from bot.store.codec import kept_aside

_HEAR = """
local before = redis.call('GET', KEYS[1]) or redis.call('GET', KEYS[2])
if before then return {before, redis.call('EXISTS', ARGV[4] .. before) == 1 and 'done' or 'again'} end
local turn = redis.call('GET', KEYS[3])
local how = 'added'
if not turn then
  turn, how = ARGV[1], 'first'
  if tonumber(ARGV[5]) > 0 then redis.call('SET', KEYS[3], turn, 'PX', ARGV[5]) end
end
redis.call('SET', KEYS[1], turn, 'EX', ARGV[6])
redis.call('SET', KEYS[2], turn, 'EX', ARGV[6])
redis.call('SET', KEYS[4], turn, 'EX', ARGV[6], 'NX')
redis.call('RPUSH', ARGV[3] .. turn, ARGV[2])
redis.call('EXPIRE', ARGV[3] .. turn, ARGV[6])
return {turn, how}
"""

_AMEND = """
local turn = redis.call('GET', KEYS[3])
if not turn and ARGV[5] ~= '' then
  redis.call('SET', KEYS[3], ARGV[5], 'EX', ARGV[4])
  redis.call('SET', ARGV[6] .. ARGV[5], '1', 'EX', ARGV[4])
end
if not turn or redis.call('EXISTS', ARGV[2] .. turn) == 0 or redis.call('EXISTS', ARGV[3] .. turn) == 1 then
  return 0
end
if redis.call('EXISTS', KEYS[1], KEYS[2]) == 0 then redis.call('RPUSH', ARGV[2] .. turn, ARGV[1]) end
redis.call('SET', KEYS[1], turn, 'EX', ARGV[4])
redis.call('SET', KEYS[2], turn, 'EX', ARGV[4])
return 1
"""

_TAKE = """
if redis.call('GET', KEYS[2]) == ARGV[1] then redis.call('DEL', KEYS[2]) end
if redis.call('EXISTS', KEYS[3]) == 1 then return {} end
redis.call('SET', KEYS[4], '1', 'EX', ARGV[2])
return redis.call('LRANGE', KEYS[1], 0, -1)
"""


@dataclass(frozen=True, slots=True)
class HeardMessage:
    """In which turn a message is."""

    turn: str
    needs_job: bool
    """Whether somebody must see that the turn is dealt with: it is new, or nobody knows that it was."""


class Turns:
    """Every call may raise StoreAway."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._hear = redis.register_script(_HEAR)
        self._take, self._amend = redis.register_script(_TAKE), redis.register_script(_AMEND)

    async def hear(
        self,
        names: tuple[str, str],
        turn: str,
        of: tuple[str, str, str],
        text: str,
        lasts: timedelta,
        *,
        original: str | None = None,
    ) -> HeardMessage:
        """Keep a message, once. `names` are those by which a repetition is known; `turn` is what a new turn is called.

        `of`: workspace, channel, and who speaks in which thread. `original`: of a changed message the name of its first
        version, which may come after it and then says nothing new.
        """
        used = [keys.heard(names[0]), keys.heard(names[1]), keys.turn_of(*of), keys.heard(original or names[1])]
        kept_s, lasts_ms = int(keys.TURN_TTL.total_seconds()), int(lasts.total_seconds() * 1000)
        clean = await kept_aside(text)
        values: list[str | int] = [turn, clean, keys.turn(""), keys.turn_done(""), lasts_ms, kept_s]
        with reachable():
            found, how = await self._hear(keys=used, args=values)
        return HeardMessage(str(found), str(how) in ("first", "again"))

    async def amend(self, names: tuple[str, str], original: str, text: str, *, gone: str = "") -> bool:
        """Add another version of a message to its turn. Whether that is still open, and nobody has read it.

        `original` is the name by which the message itself is known as heard. With `gone`, a turn's name, it is taken
        back: should it come only now, it counts as dealt with.
        """
        used = [keys.heard(names[0]), keys.heard(names[1]), keys.heard(original)]
        kept_s = int(keys.TURN_TTL.total_seconds())
        clean = await kept_aside(text)
        with reachable():
            values: list[str | int] = [clean, keys.turn(""), keys.turn_taken(""), kept_s, gone, keys.turn_done("")]
            return bool(await self._amend(keys=used, args=values))

    async def take(self, turn: str, of: tuple[str, str, str]) -> list[str]:
        """Close a turn; its messages, or nothing where it has been dealt with."""
        with reachable():
            used = [keys.turn(turn), keys.turn_of(*of), keys.turn_done(turn), keys.turn_taken(turn)]
            found = await self._take(keys=used, args=[turn, int(keys.TURN_TTL.total_seconds())])
        return [str(item) for item in found]

    async def note(self, name: str) -> None:
        """What goes by this name was heard, and is somebody else's to answer."""
        with reachable():
            await self._redis.set(keys.heard(name), "noted", ex=keys.TURN_TTL)

    async def knows(self, name: str) -> bool:
        """Whether a message of this name was heard."""
        with reachable():
            return bool(await self._redis.exists(keys.heard(name)))

    async def kept(self, turn: str) -> list[str]:
        """The messages of a turn, also of one that was dealt with."""
        with reachable():
            return [str(item) for item in await self._redis.lrange(keys.turn(turn), 0, -1)]

    async def done(self, turn: str, *, keep: bool = False) -> None:
        """Nobody needs to look at it again. Its messages stay known as heard; with `keep` they can be read, too."""
        with reachable():
            async with self._redis.pipeline(transaction=True) as together:
                together.set(keys.turn_done(turn), "1", ex=keys.TURN_TTL)
                if not keep:
                    together.delete(keys.turn(turn))
                await together.execute()
