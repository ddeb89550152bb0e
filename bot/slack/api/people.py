"""Who people are, and whether a channel is public, as Slack says.

For a look, what it said is remembered for some minutes. Who lets a fix run is asked about anew each time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from bot.policy.look import Asker
from bot.queue.cancel import end
from bot.slack.api.calls import LONGEST_WAIT_S, Body, Calls, Refused, Uncertain

T = TypeVar("T")

REMEMBERED_S = 600.0
"""Somebody who was made a guest, or left a group, is treated so after this long where they only look."""
NOW_WITHIN_S = 2.0
"""For all that is asked about one person who lets a fix run, or has."""
REFUSAL_REMEMBERED_S = 30.0
NOBODY = frozenset({"user_not_found", "users_not_found"})
"""Any other refusal is about the bot's own token and scopes, and says nothing about the person."""
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
        mine = [group for group in groups if user in await self._members(group)]
        return _asker(team, user, person, mine, stranger=stranger)

    async def asker_now(self, team: str, user: str, groups: Iterable[str]) -> Asker:
        """The same by what Slack says at this moment. Where it asks to wait or takes too long that is a CallFailed,
        whatever it said before."""
        found = (await self.askers_now(team, (user,), groups))[user]
        if isinstance(found, Refused):
            raise found
        return found

    async def askers_now(self, team: str, users: Iterable[str], groups: Iterable[str]) -> dict[str, Asker | Refused]:
        """The same of several at once: each group is asked for once. Refused: Slack knows nobody of that id."""
        people, named = list(dict.fromkeys(users)), list(groups)
        asked = [
            *(self._anew(f"user {person}", self._ask_user(person, longest_wait_s=0)) for person in people),
            *(self._anew(f"group {item}", self._ask_group(item, longest_wait_s=0)) for item in named),
        ]
        said = await _within(NOW_WITHIN_S, asked)
        members = {name: _users(item) for name, item in zip(named, said[len(people) :], strict=True)}
        return {
            user: person
            if isinstance(person, Refused)
            else _asker(team, user, _user(person), _groups_of(user, members))
            for user, person in zip(people, said, strict=False)
        }

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
        return _user(await self._remembered(f"user {user}", lambda: self._ask_user(user)))

    async def _members(self, group: str) -> list[str]:
        return _users(await self._remembered(f"group {group}", lambda: self._ask_group(group)))

    async def _anew(self, name: str, answer: Awaitable[Body]) -> Body | Refused:
        """What Slack says now is what is remembered from now on; that it knows no such person is handed on."""
        try:
            said = await answer
        except Refused as refused:
            if refused.error not in NOBODY:
                raise
            return refused
        self._keep(name, asyncio.get_running_loop().time() + self._remembered_s, said)
        return said

    async def _ask_user(self, user: str, *, longest_wait_s: float = LONGEST_WAIT_S) -> Body:
        async def ask(waited_s: float) -> Any:
            return await self._client.users_info(user=user)

        return await self._calls.read("users.info", ask, longest_wait_s=longest_wait_s)

    async def _ask_group(self, group: str, *, longest_wait_s: float = LONGEST_WAIT_S) -> Body:
        async def ask(waited_s: float) -> Any:
            return await self._client.usergroups_users_list(usergroup=group)

        return await self._calls.read("usergroups.users.list", ask, longest_wait_s=longest_wait_s)

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


def _asker(team: str, user: str, person: Body, groups: Iterable[str], *, stranger: bool = False) -> Asker:
    # In an organisation of several workspaces a colleague's first team may be another than the one they ask in.
    teams = {person.get("team_id"), *((person.get("enterprise_user") or {}).get("teams") or ())}
    foreign = stranger or bool(person.get("is_stranger")) or team not in teams
    # Somebody who has left is nobody's colleague any more.
    guest = any(person.get(item) for item in ("is_restricted", "is_ultra_restricted", "deleted"))
    return Asker(team, user, guest=guest, stranger=foreign, groups=frozenset(groups))


def _user(answer: Body) -> Body:
    return dict(answer.get("user") or {})


def _users(answer: Body | Refused) -> list[str]:
    if isinstance(answer, Refused):
        raise answer
    return list(answer.get("users") or ())


def _groups_of(user: str, members: Mapping[str, Sequence[str]]) -> list[str]:
    return [group for group, users in members.items() if user in users]


async def _within(seconds: float, asked: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """All answers; none of the questions outlives this."""
    tasks = [asyncio.create_task(coroutine) for coroutine in asked]
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.gather(*tasks)
    except TimeoutError as late:
        raise Uncertain(f"no answer within {seconds:g} s") from late
    finally:
        await end(*tasks)


async def _said(ask: Callable[[], Awaitable[Body]]) -> Body | Refused:
    try:
        return await ask()
    except Refused as refused:
        return refused
