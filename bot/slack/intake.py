"""What listeners have in common: the gate, the way into the queue, and what is said when that is closed."""

from __future__ import annotations

from typing import Any

from bot.jobs.request import CheckRequest, Place, Priority
from bot.jobs.service import Jobs
from bot.slack import heard, replies, words
from bot.slack.asks import KIND, Ask
from bot.slack.gate import AT_THE_DOOR_S, Gate
from bot.slack.message import Message
from bot.store.away import StoreAway
from bot.store.state import State

Body = dict[str, Any]


class Intake:
    """Takes in what people ask. Slack waits 3 s, so nothing here waits for long."""

    def __init__(self, jobs: Jobs, gate: Gate, state: State) -> None:
        self._jobs, self._gate, self._state = jobs, gate, state

    async def check(self, request: CheckRequest, priority: Priority = Priority.CHECK) -> None:
        await self._jobs.check(request, priority)

    async def ask(self, ask: Ask) -> Message | None:
        """None when it is in the queue; else why not."""
        try:
            await self._jobs.submit(KIND, ask.id, ask.as_json(), Priority.CLICK)
        except StoreAway as away:
            return replies.only(words.away(away))
        return None

    async def refusal(self, place: Place, cluster: str, body: Body) -> Message | None:
        """Why this person may not look at the cluster from there."""
        stranger = heard.is_stranger(body)
        return await self._gate.refusal(place, cluster, stranger=stranger, patience_s=AT_THE_DOOR_S)

    def stranger_refusal(self, place: Place, body: Body) -> Message | None:
        """Why somebody of another company is not answered here."""
        return self._gate.stranger_refusal(place) if heard.is_stranger(body) else None

    async def default_cluster(self, place: Place) -> str | None:
        """The cluster that is meant when none is named. Without the memory nobody knows, and a menu helps."""
        try:
            return await self._state.default_cluster(place.team, place.channel)
        except StoreAway:
            return None


def private(message: Message | None) -> Body:
    """What only the one who asked sees, as an acknowledgement or over a response URL."""
    if message is None:
        return {}
    return {"text": message.text, "blocks": list(message.blocks), "response_type": "ephemeral"}
