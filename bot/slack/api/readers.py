"""Who reads a channel besides the people of this workspace, as Slack says: another company, or guests.

Remembered for ten minutes by all processes together, and forgotten when somebody joins the channel. Where the bot's
memory is away, each process goes by what it has found itself: Slack lists people twenty times a minute, not more.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from bot.slack.api.calls import Body, Calls, Refused
from bot.store.away import StoreAway
from bot.store.keys import READERS_TTL
from bot.store.state import State

_WAIT_S = 1.0
"""An answer waits for this; where Slack is in no mood to tell, the channel counts as outside."""
_PAGE = 1000
_MOST_PAGES = 20
_SHARED, _GUESTS, _NEITHER = "shared", "guests", "neither"


@dataclass(frozen=True, slots=True)
class Readers:
    """`shared`: with another company, or about to be. `guests`: at least one is a member."""

    shared: bool
    guests: bool


class ChannelReaders:
    """Raises CallFailed where Slack does not say."""

    def __init__(self, calls: Calls, state: State) -> None:
        self._calls, self._client, self._state = calls, calls.client, state
        self._found: dict[str, tuple[float, Readers]] = {}

    async def of(self, team: str, channel: str) -> Readers:
        now = asyncio.get_running_loop().time()
        try:
            if known := await self._state.readers(team, channel):
                return Readers(_SHARED in known, _GUESTS in known)
        except StoreAway:
            until, readers = self._found.get(channel, (0.0, Readers(shared=False, guests=False)))
            if now < until:
                return readers
        found = await self._asked(team, channel)
        self._found[channel] = (now + READERS_TTL.total_seconds(), found)
        return found

    async def _asked(self, team: str, channel: str) -> Readers:
        found = Readers(await self._is_shared(channel), await self._has_guests(team, channel))
        named = [name for name, holds in ((_SHARED, found.shared), (_GUESTS, found.guests)) if holds]
        with suppress(StoreAway):
            await self._state.set_readers(team, channel, " ".join(named) or _NEITHER)
        return found

    async def forget(self, team: str, channel: str) -> None:
        """Somebody has joined it. Raises StoreAway."""
        self._found.pop(channel, None)
        await self._state.forget_readers(team, channel)

    async def _is_shared(self, channel: str) -> bool:
        async def ask(waited_s: float) -> Any:
            return await self._client.conversations_info(channel=channel)

        answer = await self._calls.read("conversations.info", ask, longest_wait_s=_WAIT_S)
        found = answer.get("channel") or {}
        return any(bool(found.get(flag)) for flag in ("is_ext_shared", "is_pending_ext_shared"))

    async def _has_guests(self, team: str, channel: str) -> bool:
        guests = await self._guests(team)
        return bool(guests) and not guests.isdisjoint(await self._members(channel))

    async def _guests(self, team: str) -> frozenset[str]:
        """All guests of the workspace: one list for all channels costs less than each member of each channel."""
        with suppress(StoreAway):
            known = await self._state.guests(team)
            if known is not None:
                return known

        async def ask(cursor: str) -> Any:
            return await self._client.users_list(limit=_PAGE, cursor=cursor)

        people = await self._pages("users.list", ask, "members")
        found = frozenset(str(person["id"]) for person in people if _is_guest(person))
        with suppress(StoreAway):
            await self._state.set_guests(team, found)
        return found

    async def _members(self, channel: str) -> set[str]:
        async def ask(cursor: str) -> Any:
            return await self._client.conversations_members(channel=channel, limit=_PAGE, cursor=cursor)

        return {str(user) for user in await self._pages("conversations.members", ask, "members")}

    async def _pages(self, method: str, ask: Any, name: str) -> list[Any]:
        rows, cursor = list[Any](), ""
        for _ in range(_MOST_PAGES):

            async def page(waited_s: float, at: str = cursor) -> Any:
                return await ask(at)

            answer: Body = await self._calls.read(method, page, longest_wait_s=_WAIT_S)
            rows += answer.get(name) or ()
            cursor = str((answer.get("response_metadata") or {}).get("next_cursor") or "")
            if not cursor:
                return rows
        raise Refused(method, "too_many_to_read")


def _is_guest(person: Body) -> bool:
    """Not the bots and not those who have left, who read nothing."""
    gone = person.get("deleted") or person.get("is_bot")
    return not gone and any(person.get(flag) for flag in ("is_restricted", "is_ultra_restricted"))
