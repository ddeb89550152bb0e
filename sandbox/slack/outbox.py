"""Delivery to the app, over a socket or HTTP, with retries if it was not acknowledged."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from sandbox.slack.changes import Changes
from sandbox.slack.clock import Clock
from sandbox.slack.running import Running

Body = dict[str, Any]
Kind = Literal["events_api", "slash_commands", "interactive"]

ACK_WITHIN_S = 3.0

RETRY_AFTER_S = (0.0, 60.0, 300.0)
"""Slack retries an event three times: almost immediately, after one minute, after five."""


class NotAcked(Exception):
    """The app did not acknowledge; the reason is Slack's retry reason."""

    def __init__(self, reason: str, *, final: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.final = final
        """The app asked for no retries."""


@dataclass
class Delivery:
    """One delivery attempt."""

    kind: Kind
    payload: Body
    attempt: int = 0
    reason: str = ""
    """Why the previous attempt failed."""
    accepts_answer: bool = False
    id: str = field(default_factory=lambda: str(uuid.uuid4()))


class Road(Protocol):
    """A transport to the app."""

    async def carry(self, delivery: Delivery) -> Body:
        """Deliver and return the app's acknowledgement, which may have a response payload; else raise NotAcked."""
        ...


class Outbox:
    """Queues deliveries to the app and tracks their outcome."""

    def __init__(self, road: Road, clock: Clock, running: Running, changes: Changes) -> None:
        self.road = road
        self._clock, self._running, self._changes = clock, running, changes
        self.attempts: list[Delivery] = []
        self.undelivered: list[Delivery] = []
        """The last attempt of each event that the app never acknowledged."""
        self.under_way = 0
        """Events neither acknowledged nor given up on."""
        self.pausing = 0
        """Of these, the events waiting for their next attempt."""

    def tell(self, payload: Body) -> None:
        """Send an event in the background, with retries."""
        self.under_way += 1
        self._running.start(self._tell(payload))

    async def _tell(self, payload: Body) -> None:
        reason = ""
        try:
            for attempt, wait_s in enumerate((None, *RETRY_AFTER_S)):
                if wait_s:
                    await self._pause(wait_s)
                delivery = Delivery("events_api", payload, attempt, reason)
                try:
                    await self._carry(delivery)
                except NotAcked as refusal:
                    reason = refusal.reason
                    if refusal.final:
                        break
                else:
                    return
            self.undelivered.append(delivery)
        finally:
            self.under_way -= 1
            self._changes.ring()

    async def _pause(self, seconds: float) -> None:
        self.pausing += 1
        self._changes.ring()
        await self._clock.sleep_until(self._clock.now() + seconds)
        self.pausing -= 1

    async def ask(self, kind: Kind, payload: Body) -> Body:
        """Send a command or interaction: once, because a person is waiting."""
        return await self._carry(Delivery(kind, payload, accepts_answer=True))

    async def _carry(self, delivery: Delivery) -> Body:
        self.attempts.append(delivery)
        self._changes.ring()
        return await self.road.carry(delivery)
