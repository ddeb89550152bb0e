"""Socket Mode: the app's connections and their lifecycle. Each envelope goes to exactly one connection."""

from __future__ import annotations

import asyncio
import itertools
import json
import secrets
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

from sandbox.slack.changes import Changes
from sandbox.slack.clock import Clock
from sandbox.slack.outbox import ACK_WITHIN_S, Body, Delivery, NotAcked
from sandbox.slack.waiting import within

MOST_CONNECTIONS = 10
PING_EVERY_S = 5.0
HOST = "applink-sandbox"


@dataclass(eq=False)
class Connection:
    """One open socket."""

    ws: web.WebSocketResponse
    request: web.Request
    envelopes: dict[str, asyncio.Future[Body]] = field(default_factory=dict)
    """Envelopes sent over it that are not acknowledged yet."""
    leaving: bool = False
    """It was asked to disconnect, so nothing new is sent over it."""
    silent: bool = False
    """The network is down without either side having noticed: nothing arrives in either direction."""


class Sockets:
    """All connections of the app."""

    def __init__(self, app_id: str, clock: Clock, changes: Changes) -> None:
        self._app_id, self._clock, self._changes = app_id, clock, changes
        self._tickets: set[str] = set()
        self._open: list[Connection] = []
        self._turn = itertools.count()
        self.refused = 0
        self.closed_to_new = False
        """New connections are rejected, as during a Slack outage."""
        self.turned_away = 0
        self.opened = 0

    # -- connecting -------------------------------------------------------------------------------------------

    def ticket(self) -> str:
        """Create a ticket, which authorizes one connection, once."""
        self._tickets.add(ticket := secrets.token_urlsafe(24))
        return ticket

    @property
    def count(self) -> int:
        return len(self._open)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            self.refused += 1
            return web.Response(status=408, text="the ticket is unknown or was used")
        self._tickets.discard(ticket)
        if self.closed_to_new:
            self.turned_away += 1
            self._changes.ring()
            return web.Response(status=503, text="try again later")
        ws = web.WebSocketResponse(heartbeat=PING_EVERY_S, timeout=1.0)
        await ws.prepare(request)
        if self.count >= MOST_CONNECTIONS:
            await ws.send_json(_disconnect("too_many_websockets"))
            await ws.close()
            return ws
        connection = Connection(ws, request)
        self._open.append(connection)
        self.opened += 1
        self._changes.ring()
        try:
            await ws.send_json(self._hello())
            async for message in ws:
                if message.type is WSMsgType.TEXT:
                    self._heard(message.data)
        finally:
            self._gone(connection)
        return ws

    def _hello(self) -> Body:
        return {
            "type": "hello",
            "num_connections": self.count,
            "debug_info": {"host": HOST, "build_number": 1, "approximate_connection_time": 18060},
            "connection_info": {"app_id": self._app_id},
        }

    def _gone(self, connection: Connection) -> None:
        self._open.remove(connection)
        self._changes.ring()
        for waiting in connection.envelopes.values():
            if not waiting.done():
                waiting.set_exception(NotAcked("disconnected"))

    def _heard(self, text: str) -> None:
        try:
            reply = json.loads(text)
        except ValueError:
            return
        name = reply.get("envelope_id") if isinstance(reply, dict) else None
        # An app that switches sockets may acknowledge an envelope from the old one over the new one.
        for connection in self._open:
            waiting = connection.envelopes.get(str(name))
            if waiting is not None and not waiting.done():
                waiting.set_result(reply.get("payload") or {})

    # -- delivery ---------------------------------------------------------------------------------------------

    async def carry(self, delivery: Delivery) -> Body:
        """Send to one connection, round-robin, and wait for its acknowledgement."""
        ready = [connection for connection in self._open if not connection.leaving and not connection.ws.closed]
        if not ready:
            raise NotAcked("no_connection")
        connection = ready[next(self._turn) % len(ready)]
        waiting: asyncio.Future[Body] = asyncio.get_running_loop().create_future()
        connection.envelopes[delivery.id] = waiting
        try:
            if not connection.silent:
                await connection.ws.send_json(_envelope(delivery))
            return await within(self._clock, ACK_WITHIN_S, waiting)
        except TimeoutError as error:
            raise NotAcked("timeout") from error
        except ConnectionError as error:
            raise NotAcked("disconnected") from error
        finally:
            connection.envelopes.pop(delivery.id, None)

    # -- disconnects ------------------------------------------------------------------------------------------

    async def warn(self) -> None:
        """Warn that the connections will be closed soon. They keep working until then."""
        for connection in self._open:
            await connection.ws.send_json(_disconnect("warning"))

    async def refresh(self, number: int | None = None) -> None:
        """Request a refresh of the oldest N connections (default: all), and close them."""
        for connection in list(self._open)[:number]:
            connection.leaving = True
            await connection.ws.send_json(_disconnect("refresh_requested"))
            await connection.ws.close()

    def cut(self) -> None:
        """Drop all connections without warning."""
        for connection in list(self._open):
            connection.leaving = True
            if (transport := connection.request.transport) is not None:
                transport.abort()

    def silence(self, number: int | None = None) -> None:
        """Silently stop all traffic on the oldest N connections (default: all)."""
        for connection in self._open[:number]:
            connection.silent = True
            if (transport := connection.request.transport) is not None:
                transport.pause_reading()  # so no ping is answered

    async def close(self) -> None:
        for connection in list(self._open):
            await connection.ws.close()


def _disconnect(reason: str) -> Body:
    return {"type": "disconnect", "reason": reason, "debug_info": {"host": HOST}}


def _envelope(delivery: Delivery) -> Body:
    body: dict[str, Any] = {
        "envelope_id": delivery.id,
        "payload": delivery.payload,
        "type": delivery.kind,
        "accepts_response_payload": delivery.accepts_answer,
    }
    if delivery.kind == "events_api":
        body |= {"retry_attempt": delivery.attempt, "retry_reason": delivery.reason}
    return body
