"""Who people are, and whether a channel is public, as Slack says. What it said is remembered for some minutes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any
from weakref import WeakValueDictionary

from bot.policy.look import Asker
from bot.slack.calls import Body, Calls, Refused

REMEMBERED_S = 600.0
"""Somebody who was made a guest, or left a group, is treated so after this long."""
REFUSAL_REMEMBERED_S = 30.0
_MOST = 10_000


class People:
    """Raises CallFailed where Slack does not say."""

    def __init__(self, calls: Calls, *, remembered_s: float = REMEMBERED_S) -> None:
        self._calls, self._client, self._remembered_s = calls, calls.client, remembered_s
        self._known: dict[str, tuple[float, Any]] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def asker(self, team: str, user: str, groups: Iterable[str], *, stranger: bool = False) -> Asker:
        """Who this is, and which of these groups they are in."""
        person = await self._user(user)
        # In an organisation of several workspaces a colleague's first team may be another than the one they ask in.
        teams = {person.get("team_id"), *((person.get("enterprise_user") or {}).get("teams") or ())}
        foreign = stranger or bool(person.get("is_stranger")) or team not in teams
        # Somebody who has left is nobody's colleague any more.
        guest = any(person.get(one) for one in ("is_restricted", "is_ultra_restricted", "deleted"))
        mine = [one for one in groups if user in await self._members(one)]
        return Asker(team, user, guest=guest, stranger=foreign, groups=frozenset(mine))

    async def name(self, user: str) -> str:
        """What people call them."""
        person = await self._user(user)
        return str(person.get("real_name") or person.get("name") or user)

    async def is_public(self, channel: str) -> bool:
        """Whether everybody of the workspace can read a channel. One that is not shown to us is not public."""
        if not channel.startswith("C"):
            return False
        try:
            found = await self._remembered(f"channel {channel}", lambda: self._channel(channel))
        except Refused:
            return False
        return bool(found.get("is_channel")) and not found.get("is_private")

    async def address(self) -> str:
        """Where the workspace lives: `https://contoso.slack.com/`."""

        async def ask(waited_s: float) -> Any:
            return await self._client.auth_test()

        answer: Body = await self._remembered("address", lambda: self._calls.read("auth.test", ask))
        return str(answer.get("url") or "")

    async def _user(self, user: str) -> Body:
        async def ask(waited_s: float) -> Any:
            return await self._client.users_info(user=user)

        answer: Body = await self._remembered(f"user {user}", lambda: self._calls.read("users.info", ask))
        return dict(answer.get("user") or {})

    async def _members(self, group: str) -> list[str]:
        async def ask(waited_s: float) -> Any:
            return await self._client.usergroups_users_list(usergroup=group)

        made = await self._remembered(f"group {group}", lambda: self._calls.read("usergroups.users.list", ask))
        return list(made.get("users") or ())

    async def _channel(self, channel: str) -> Body:
        async def ask(waited_s: float) -> Any:
            return await self._client.conversations_info(channel=channel)

        return dict((await self._calls.read("conversations.info", ask)).get("channel") or {})

    async def _remembered(self, name: str, ask: Callable[[], Awaitable[Body]]) -> Body:
        """Asked once, however many want to know at the same time. A clear no is remembered, too, for a shorter time."""
        until, said = self._known.get(name, (0.0, None))
        if asyncio.get_running_loop().time() >= until:
            said = await self._asked(name, ask)
        if isinstance(said, Refused):
            raise said
        known: Body = said
        return known

    async def _asked(self, name: str, ask: Callable[[], Awaitable[Body]]) -> Body | Refused:
        async with self._locks.setdefault(name, asyncio.Lock()):
            now = asyncio.get_running_loop().time()
            until, said = self._known.get(name, (0.0, None))
            if now >= until:
                until, said = now + self._remembered_s, await _said(ask)
                if isinstance(said, Refused):
                    until = now + (0 if said.error == "ratelimited" else REFUSAL_REMEMBERED_S)
                self._keep(name, until, said)
        answer: Body | Refused = said
        return answer

    def _keep(self, name: str, until: float, said: Any) -> None:
        self._known.pop(name, None)
        self._known[name] = (until, said)
        if len(self._known) > _MOST:
            del self._known[next(iter(self._known))]


async def _said(ask: Callable[[], Awaitable[Body]]) -> Body | Refused:
    try:
        return await ask()
    except Refused as refused:
        return refused
