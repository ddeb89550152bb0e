"""What Slack keeps of what was said: read at a pace that leaves room for everything else, within bounds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from bot.address import Address
from bot.slack.api.calls import Body, Calls
from bot.slack.api.pace import Bucket
from bot.slack.kit import limits

T = TypeVar("T")

MOST_CHANNELS = 100
"""Where the bot is in more, the others are not read: at the pace below that alone takes three minutes."""
_MOST_PAGES = 3
_PAGE = 200
_AT_ONCE = 15
_PER_MINUTE = limits.CALLS_PER_MINUTE[3] * 0.6
_MEMBER_OF = "public_channel,private_channel"
"""Direct messages would need a scope of their own (im:read), which nothing else does."""


@dataclass(frozen=True, slots=True)
class Channel:
    """Where the bot is a member."""

    id: str
    name: str
    kind: str
    """As events call it: channel or group."""


@dataclass(frozen=True, slots=True)
class Read(Generic[T]):
    """What was found, and whether there is more that is not read."""

    found: list[T]
    cut: bool = False


class History:
    """Raises CallFailed."""

    def __init__(self, calls: Calls) -> None:
        self._calls, self._client = calls, calls.client
        self._pace = Bucket(_AT_ONCE, _PER_MINUTE)

    async def channels(self) -> Read[Channel]:
        async def ask(cursor: str) -> Any:
            return await self._client.users_conversations(
                types=_MEMBER_OF, exclude_archived=True, limit=_PAGE, cursor=cursor
            )

        read = await self._pages("users.conversations", ask, "channels")
        found = [_channel(item) for item in read.found]
        return Read(found[:MOST_CHANNELS], read.cut or len(found) > MOST_CHANNELS)

    async def said(self, channel: str, since: float, until: float) -> Read[Body]:
        """What stands in a channel itself, the oldest first; of very much, the latest."""
        window = _window(since, until)

        async def ask(cursor: str) -> Any:
            return await self._client.conversations_history(channel=channel, limit=_PAGE, cursor=cursor, **window)

        read = await self._pages("conversations.history", ask, "messages")
        return Read(read.found[::-1], read.cut)

    async def replies(self, spot: Address, since: float, until: float) -> Read[Body]:
        """What was said in a thread, without the message on which it hangs; of very much, the earliest."""
        window = _window(since, until)

        async def ask(cursor: str) -> Any:
            where: Body = {"channel": spot.channel, "ts": spot.thread_ts}
            return await self._client.conversations_replies(**where, limit=_PAGE, cursor=cursor, **window)

        read = await self._pages("conversations.replies", ask, "messages")
        return Read([item for item in read.found if item.get("ts") != spot.thread_ts], read.cut)

    async def _pages(self, method: str, ask: Any, what: str) -> Read[Body]:
        found: list[Body] = []
        cursor = ""
        for _ in range(_MOST_PAGES):
            await self._pace.take()
            answer = await self._calls.read(method, partial(_asked, ask, cursor))
            found += answer.get(what) or ()
            cursor = str((answer.get("response_metadata") or {}).get("next_cursor") or "")
            if not cursor:
                return Read(found)
        return Read(found, cut=True)


async def _asked(ask: Any, cursor: str, waited_s: float) -> Any:
    return await ask(cursor)


def _window(since: float, until: float) -> Body:
    return {"oldest": f"{since:.6f}", "latest": f"{until:.6f}"}


def _channel(body: Body) -> Channel:
    kind = "group" if body.get("is_private") else "channel"
    return Channel(str(body["id"]), str(body.get("name") or ""), kind)
