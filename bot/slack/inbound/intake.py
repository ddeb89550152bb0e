"""What listeners have in common: the gate, the way into the queue, and what is said when that is closed."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from bot.address import Address
from bot.checks.request import CheckRequest
from bot.checks.service import Jobs
from bot.queue.job import Job
from bot.queue.priority import Priority
from bot.slack.api import outgoing
from bot.slack.inbound import payloads, replies
from bot.slack.inbound.asks import MUST_BE_KEPT, Ask, What, told
from bot.slack.inbound.deadline import left_s
from bot.slack.inbound.gate import AT_THE_DOOR_S, Gate
from bot.slack.kit import sentences
from bot.slack.kit.message import Message
from bot.store.away import StoreAway
from bot.store.state import State
from handlers.fleet.cluster_text import ClusterRef

Body = dict[str, Any]

QUEUE_S = 2.0
"""For a queue that restarts, or a memory that hangs."""
PATIENCE_S = 0.5
"""For a look into the memory. One that hangs must not cost the acknowledgement."""


class Intake:
    """Takes in what people ask. Slack waits 3 s, so nothing here waits for long."""

    def __init__(self, jobs: Jobs, gate: Gate, state: State) -> None:
        self._jobs, self._gate, self._state = jobs, gate, state

    async def check(self, request: CheckRequest, priority: Priority = Priority.CHECK) -> None:
        await self._jobs.check(request, priority, patience_s=left_s(QUEUE_S))

    async def ask(self, ask: Ask) -> Message | None:
        """None when it is in the queue; else why not."""
        try:
            if ask.what in MUST_BE_KEPT:
                ask = replace(ask, pressed_ms=await self._jobs.writes.now_ms(left_s(QUEUE_S)))
            await self._jobs.submit(Job(ask.id, ask, Priority.CLICK), patience_s=left_s(QUEUE_S))
        except StoreAway as away:
            return replies.only(sentences.away(away))
        return None

    async def say(self, name: str, place: Address, said: Message) -> Message | None:
        """These words, where it was asked. What Slack has not acknowledged it sends again: a worker says it, once."""
        return await self.ask(told(f"{name}-said", What.SAY, place, said))

    async def whisper(self, name: str, place: Address, said: Message) -> Message | None:
        """The same, so that only the one who asked sees it."""
        return await self.ask(told(f"{name}-whispered", What.WHISPER, place, said))

    async def refusal(
        self, place: Address, cluster: str | ClusterRef, body: Body, *, account: str = ""
    ) -> Message | None:
        """Why this person may not look at the cluster from there, or not ask about that service account."""
        stranger, patience_s = payloads.is_stranger(body), left_s(AT_THE_DOOR_S)
        return await self._gate.refusal(place, cluster, account=account, stranger=stranger, patience_s=patience_s)

    def stranger_refusal(self, place: Address, body: Body) -> Message | None:
        """Why somebody of another company is not answered here."""
        return self._gate.stranger_refusal(place) if payloads.is_stranger(body) else None

    async def default_cluster(self, place: Address) -> str | None:
        """The cluster that is meant when none is named. Without the memory nobody knows, and a menu helps."""
        try:
            async with asyncio.timeout(left_s(PATIENCE_S)):
                return await self._state.default_cluster(place.team, place.channel)
        except (StoreAway, TimeoutError):
            return None


def private(message: Message | None) -> Body:
    """What only the one who asked sees, as an acknowledgement or over a response URL."""
    if message is None:
        return {}
    shown = outgoing.message(message)
    return {"text": shown.text, "blocks": list(shown.blocks), "response_type": "ephemeral"}
