"""What was said in channels, until it is dealt with. What one person says within seconds is one turn.

A turn is read at each message, so that a check starts at once, and once more when it closes: what only the whole of it
says, such as which cluster is meant, is asked then.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from redis.asyncio import Redis

from bot.store import keys
from bot.store.away import reachable
from bot.store.codec import kept_aside

_HEAR = """
local told, lasts, kept = ARGV[2], tonumber(ARGV[5]), ARGV[6]
local function size(turn) return redis.call('LLEN', ARGV[3] .. turn) end
local function add(turn)
  redis.call('SET', KEYS[1], turn, 'EX', kept)
  redis.call('SET', KEYS[2], turn, 'EX', kept)
  redis.call('RPUSH', ARGV[3] .. turn, told)
  redis.call('EXPIRE', ARGV[3] .. turn, kept)
end
local before = redis.call('GET', KEYS[1]) or redis.call('GET', KEYS[2])
if before then
  return {before, redis.call('EXISTS', ARGV[4] .. before) == 1 and 'done' or 'again', lasts, size(before)}
end
if ARGV[7] == '1' then
  local turn = redis.call('GET', KEYS[4])
  if turn and redis.call('EXISTS', ARGV[3] .. turn) == 1 and redis.call('EXISTS', ARGV[8] .. turn) == 0 then
    add(turn)
    return {turn, 'added', lasts, size(turn)}
  end
  if turn then lasts = 0 end
end
local turn, how = lasts > 0 and redis.call('GET', KEYS[3]), 'added'
if not turn then
  turn, how = ARGV[1], 'first'
  if lasts > 0 then redis.call('SET', KEYS[3], turn, 'PX', lasts) end
end
add(turn)
redis.call('SET', KEYS[4], turn, 'EX', kept, 'NX')
return {turn, how, lasts, size(turn)}
"""

_TAKE_BACK = """
local turn = redis.call('GET', KEYS[3])
if not turn then
  redis.call('SET', KEYS[3], ARGV[5], 'EX', ARGV[4])
  redis.call('SET', ARGV[6] .. ARGV[5], '1', 'EX', ARGV[4])
  return
end
if redis.call('EXISTS', ARGV[2] .. turn) == 0 or redis.call('EXISTS', ARGV[3] .. turn) == 1 then return end
if redis.call('EXISTS', KEYS[1], KEYS[2]) == 0 then redis.call('RPUSH', ARGV[2] .. turn, ARGV[1]) end
redis.call('SET', KEYS[1], turn, 'EX', ARGV[4])
redis.call('SET', KEYS[2], turn, 'EX', ARGV[4])
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
    lasts: timedelta
    """How long the turn waits for more."""
    unread: int = 0
    """How many messages it holds, where they are to be read before it closes; 0 where it is dealt with."""


class Turns:
    """Every call may raise StoreAway."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._hear = redis.register_script(_HEAR)
        self._take, self._take_back = redis.register_script(_TAKE), redis.register_script(_TAKE_BACK)

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
        version. Where nobody has read that yet, the change joins its turn. Where it was read, the change is a turn of
        its own. Where it was not heard at all, the change has overtaken it and is what was said; the first version,
        should it come, then says nothing new.
        """
        used = [keys.heard(names[0]), keys.heard(names[1]), keys.turn_of(*of), keys.heard(original or names[1])]
        kept_s, lasts_ms = int(keys.TURN_TTL.total_seconds()), int(lasts.total_seconds() * 1000)
        clean = await kept_aside(text)
        changes = int(original is not None)
        values: list[str | int] = [turn, clean, keys.turn(""), keys.turn_done(""), lasts_ms, kept_s, changes]
        with reachable():
            found, how, waits_ms, size = await self._hear(keys=used, args=[*values, keys.turn_taken("")])
        waits = timedelta(milliseconds=int(waits_ms))
        unread = int(size) if waits and str(how) != "done" else 0
        return HeardMessage(str(found), str(how) in ("first", "again"), waits, unread)

    async def take_back(self, names: tuple[str, str], original: str, text: str, turn: str) -> None:
        """Add to a turn that nobody has read yet what is left of one of its messages.

        `original` is the name by which the message itself is known as heard. Should it come only now, it counts as
        dealt with: in `turn`, of which nothing is said.
        """
        used = [keys.heard(names[0]), keys.heard(names[1]), keys.heard(original)]
        kept_s = int(keys.TURN_TTL.total_seconds())
        values: list[str | int] = [await kept_aside(text), keys.turn(""), keys.turn_taken(""), kept_s]
        with reachable():
            await self._take_back(keys=used, args=[*values, turn, keys.turn_done("")])

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

    async def read_to(self, turn: str, count: int) -> None:
        """So many messages of an open turn were read, and all that they say is dealt with."""
        with reachable():
            await self._redis.set(keys.turn_read(turn), count, ex=keys.TURN_TTL)

    async def is_read(self, turn: str, count: int) -> bool:
        """Whether nothing has been added since all that was there was dealt with."""
        with reachable():
            return str(await self._redis.get(keys.turn_read(turn)) or "") == str(count)

    async def done(self, turn: str, *, keep: bool = False) -> None:
        """Nobody needs to look at it again. Its messages stay known as heard; with `keep` they can be read, too."""
        with reachable():
            async with self._redis.pipeline(transaction=True) as together:
                together.set(keys.turn_done(turn), "1", ex=keys.TURN_TTL)
                if not keep:
                    together.delete(keys.turn(turn))
                await together.execute()
