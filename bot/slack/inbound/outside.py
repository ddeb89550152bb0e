"""Whether an answer would be read by people who may not look: another company, or guests.

Where it would, only cluster, state and titles are said openly, and the rest to whoever asked and may look.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from bot.address import Address
from bot.policy.look import place_of, reads_outside
from bot.policy.model import DIRECT, Look
from bot.slack.api.calls import CallFailed
from bot.slack.api.readers import ChannelReaders, Readers

log = logging.getLogger(__name__)

_WITHIN_S = 5.0
_UNKNOWN = Readers(shared=True, guests=True)


@dataclass(frozen=True)
class Outside:
    """Decides with the policy and what Slack says. What Slack does not say counts as outside."""

    look: Look
    readers: ChannelReaders

    async def covers(self, place: Address) -> bool:
        """Whether this is such a channel. Nobody but its owner reads a conversation with the bot."""
        if place_of(place.channel) == DIRECT or not self._decides(place, _UNKNOWN):
            return False
        return self._decides(place, await self._read_by(place))

    async def joined(self, team: str, channel: str) -> None:
        """Somebody has come in: ask Slack anew. Raises StoreAway."""
        await self.readers.forget(team, channel)

    def _decides(self, place: Address, by: Readers) -> bool:
        return reads_outside(self.look, place.channel, shared=by.shared, guests=by.guests)

    async def _read_by(self, place: Address) -> Readers:
        try:
            async with asyncio.timeout(_WITHIN_S):
                return await self.readers.of(place.team, place.channel)
        except (CallFailed, TimeoutError) as mute:
            log.warning("who reads %s is not known, so it counts as outside: %s", place.channel, mute or "no answer")
            return _UNKNOWN
