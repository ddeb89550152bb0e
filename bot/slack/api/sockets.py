"""Socket Mode over two connections: Slack sends each event to one of them, so the loss of one is half a loss.

Slack repeats an event that was not acknowledged, but no command and no click; and what is said while there is no
connection at all is never sent. Whoever wants to know what may have been missed is told of each loss.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial

import aiohttp
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError

from bot.queue.cancel import end
from bot.slack.kit.limits import ACK_WITHIN_S
from handlers.problem import Problem

log = logging.getLogger(__name__)

CONNECTIONS = 2
"""Slack allows ten for an app, and several processes share them."""
_LOOK_S = 0.5
_ALIVE_S = 30.0
"""A connection that gave a sign of life so shortly before is not thought dead; the client finds out sooner."""
_SHORT = 1000
"""Characters; Slack's request to go has some hundred, events have thousands."""
_NEW_URL_AFTER_S, _NEW_URL_AT_MOST_S = 2.0, 30.0
"""Slack gives out about one a minute, with a small burst."""


@dataclass(frozen=True, slots=True)
class Gap:
    """From when until when a connection may have missed something, in seconds since the epoch."""

    since: float
    until: float
    alone: float | None = None
    """From when there was no connection at all: what was said before that went to another one."""

    @property
    def deaf_since(self) -> float:
        return self.since if self.alone is None else self.alone


@dataclass(slots=True)
class _Session:
    """One connection, from its opening to its replacement."""

    socket: object
    began: float
    heard_at: float
    told_at: float | None = None
    """When Slack has asked for another one in its place; from then on it sends nothing new here."""


Lost = Callable[[Gap], Awaitable[None]]


class Sockets:
    """The connections of one process."""

    def __init__(self, bolt: AsyncApp, token: str, lost: Lost, ping_s: float) -> None:
        self._lost = lost
        self.opened = asyncio.Event()
        """Whether one of them has been open."""
        self._handlers = [AsyncSocketModeHandler(bolt, token, ping_interval=ping_s) for _ in range(CONNECTIONS)]
        self._urls = {handler: _Url(handler) for handler in self._handlers}
        self._opening: dict[AsyncSocketModeHandler, asyncio.Task[None]] = {}
        self._sessions: dict[AsyncSocketModeHandler, _Session] = {}
        self._answering: set[asyncio.Task[object]] = set()
        """What Slack has sent and nobody has acknowledged yet. The client starts these tasks and forgets them."""
        for each_handler in self._handlers:
            each_handler.client.on_message_listeners.append(partial(self._told, each_handler))
            each_handler.client.socket_mode_request_listeners.insert(0, self._take_in)

    async def up(self) -> int:
        """How many are connected."""
        return sum([await handler.client.is_connected() for handler in self._handlers])

    async def why_down(self) -> str | None:
        """What to say of the connections; None while all are up."""
        up = await self.up()
        if up == len(self._handlers):
            return None
        if not up:
            return "the connection to Slack (Socket Mode) is down"
        return f"{up} of {len(self._handlers)} connections to Slack (Socket Mode) are up"

    @property
    def alive_at(self) -> float | None:
        """When one of them gave its last sign of life."""
        return max((session.heard_at for session in self._sessions.values()), default=None)

    async def must_be_let_in(self) -> None:
        """Raises Problem where Slack refuses the token; a Slack that is away may come back."""
        first = self._handlers[0].client
        try:
            first.wss_uri = await first.issue_new_wss_url()
        except (aiohttp.ClientError, TimeoutError, OSError) as lost:
            log.warning("cannot reach Slack yet: %s", lost or type(lost).__name__)
        except SlackApiError as refused:
            why = f"it answers {refused.response.get('error', 'refused')}"
            do = "correct SLACK_APP_TOKEN (xapp-…, with connections:write), and switch Socket Mode on in the app"
            raise Problem("cannot connect to Slack", why, do) from refused

    async def keep_open(self) -> None:
        """Open them, then look for losses, until cancelled."""
        for handler in self._handlers:
            self._opening[handler] = asyncio.create_task(self._open(handler), name="a connection to Slack")
        while True:
            for handler in self._handlers:
                await self._look(handler)
            await asyncio.sleep(_LOOK_S)

    async def close(self) -> None:
        """Not before what was sent is acknowledged: Slack repeats no command, and no click."""
        await end(*self._opening.values())
        with suppress(TimeoutError):
            async with asyncio.timeout(ACK_WITHIN_S):
                while self._answering:
                    await asyncio.wait(self._answering)
        for handler in self._handlers:
            await handler.close_async()  # type: ignore[no-untyped-call]
        await end(*self._answering)

    async def _take_in(self, _client: object, _request: object) -> None:
        if task := asyncio.current_task():
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)

    async def _open(self, handler: AsyncSocketModeHandler) -> None:
        await handler.connect_async()  # type: ignore[no-untyped-call]
        now = time.time()
        self._sessions[handler] = _Session(handler.client.current_session, now, now)
        self.opened.set()

    async def _open_again(self, handler: AsyncSocketModeHandler) -> None:
        try:
            await handler.client.connect_to_new_endpoint()
        except Exception as lost:  # noqa: BLE001 - whatever it was, it is tried again
            log.warning("no new connection to Slack yet: %s", lost or type(lost).__name__)
            await asyncio.sleep(_NEW_URL_AFTER_S)

    async def _look(self, handler: AsyncSocketModeHandler) -> None:
        """A lost connection is replaced at once, not when the client looks next."""
        if not await handler.client.is_connected():
            self._urls[handler].renew()
            if self._opening[handler].done():
                self._opening[handler] = asyncio.create_task(
                    self._open_again(handler), name="a new connection to Slack"
                )
        elif handler in self._sessions:
            self._urls[handler] = _Url(handler)
            await self._heard(handler)

    async def _heard(self, handler: AsyncSocketModeHandler) -> None:
        """A new connection was deaf since the last sign of life of the old one."""
        old, now = self._sessions[handler], time.time()
        if handler.client.current_session is old.socket:
            old.heard_at = max(old.heard_at, handler.client.last_ping_pong_time or 0.0)
            return
        self._sessions[handler] = _Session(handler.client.current_session, now, now)
        others = [self._sessions[other] for other in self._handlers if other is not handler and other in self._sessions]
        if old.told_at is not None and any(_stood(other, old.told_at) for other in others):
            log.info("a connection to Slack was replaced, as Slack has asked")
            return
        since = old.told_at or old.heard_at
        log.warning("a connection to Slack was replaced after %.1f s", now - since)
        alone = max([since, *(other.heard_at for other in others)])
        await self._lost(Gap(since, now, min(alone, now)))

    async def _told(self, handler: AsyncSocketModeHandler, message: aiohttp.WSMessage) -> None:
        """Whether Slack asks for another connection."""
        if handler in self._sessions and _asks_to_go(str(message.data)):
            self._sessions[handler].told_at = time.time()


def _stood(other: _Session, at: float) -> bool:
    """Whether it was there all the time since, to be sent what the one that goes is not sent any more."""
    return other.began <= at and other.told_at is None and at - other.heard_at < _ALIVE_S


def _asks_to_go(text: str) -> bool:
    return len(text) < _SHORT and '"disconnect"' in text and json.loads(text).get("type") == "disconnect"


class _Url:
    """The client tries one URL for ever, which Slack takes once: a connection that failed half way never came back."""

    def __init__(self, handler: AsyncSocketModeHandler) -> None:
        self._client, self._pause_s = handler.client, _NEW_URL_AFTER_S
        self._at = asyncio.get_running_loop().time() + self._pause_s

    def renew(self) -> None:
        """Let the client ask for another one, less and less often."""
        now = asyncio.get_running_loop().time()
        if now < self._at:
            return
        self._client.wss_uri = None
        self._pause_s = min(self._pause_s * 2, _NEW_URL_AT_MOST_S)
        self._at = now + self._pause_s


@asynccontextmanager
async def connected(sockets: Sockets) -> AsyncIterator[Sockets]:
    """Open while the context is."""
    keeping: asyncio.Task[None] | None = None
    try:
        await sockets.must_be_let_in()
        keeping = asyncio.create_task(sockets.keep_open(), name="connections to Slack")
        await sockets.opened.wait()
        yield sockets
    finally:
        if keeping:
            await end(keeping)
        await sockets.close()
