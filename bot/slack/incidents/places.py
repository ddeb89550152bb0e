"""What stands around a message and may say which cluster is meant: the channel, its topic, the thread, the fleet."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from bot.address import Address
from bot.queue.cancel import end
from bot.slack.api.calls import CallFailed, Calls
from bot.slack.api.pace import Bucket
from bot.slack.kit import sentences
from bot.store.away import StoreAway
from bot.store.state import State
from bot.triage.clusters import FleetNames
from bot.triage.message_text import readable
from bot.triage.recognise import Around
from handlers.clients.arm.reader import ArmReader
from handlers.clients.errors import ArmError
from handlers.fleet.clusters import FleetMember, fleet
from handlers.problem import Problem

log = logging.getLogger(__name__)

FLEET_LASTS_S = 120.0
FLEET_TIMEOUT_S = 30.0
NO_FLEET_LASTS_S = 15.0
LISTED_WITHIN_S = 0.3
"""Somebody waits for a first sign: where Resource Graph takes longer, the names that it gave before will do."""
CHANNEL_LASTS_S = 600.0
_MOST_CHANNELS = 5000
_MOST_OF_THREAD = 20


@dataclass(frozen=True, slots=True)
class Fleet:
    """The clusters as they were listed last, or why there is no list."""

    members: tuple[FleetMember, ...] = ()
    names: FleetNames = field(default_factory=lambda: FleetNames(()))
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class ChannelInfo:
    """A channel as Slack describes it."""

    name: str
    topic: str


class Places:
    """Asked once for some minutes, however many want to know."""

    def __init__(self, calls: Calls, state: State, arm: ArmReader, *, fleet_lasts_s: float = FLEET_LASTS_S) -> None:
        self._fleet_lasts_s = fleet_lasts_s
        self._calls, self._client = calls, calls.client
        self._state, self._arm = state, arm
        self._fleet, self._fleet_until = Fleet(), 0.0
        self._listing: asyncio.Task[None] | None = None
        self._channels: dict[str, tuple[float, ChannelInfo]] = {}
        self._adds, self._removes = Bucket(10, 40), Bucket(10, 15)

    async def fleet(self) -> Fleet:
        """Names to look for in messages, without a look at Azure for each."""
        if asyncio.get_running_loop().time() >= self._fleet_until:
            listing = self._listing = self._listing or asyncio.create_task(self._list(), name="the list of clusters")
            done, _ = await asyncio.wait([listing], timeout=LISTED_WITHIN_S if self._fleet.members else None)
            for ended in done:
                ended.result()
        return self._fleet

    async def aclose(self) -> None:
        """Nobody waits for the list any more."""
        if self._listing:
            await end(self._listing)

    async def _list(self) -> None:
        try:
            self._fleet = await self._listed()
            lasts_s = NO_FLEET_LASTS_S if self._fleet.problem else self._fleet_lasts_s
            self._fleet_until = asyncio.get_running_loop().time() + lasts_s
        finally:
            self._listing = None

    async def _listed(self) -> Fleet:
        try:
            async with asyncio.timeout(FLEET_TIMEOUT_S):
                members = await fleet(self._arm)
        except ArmError as error:
            return self._blind(error.detail)
        except TimeoutError:
            return self._blind(sentences.no_answer_within(FLEET_TIMEOUT_S))
        # A node resource group carries its cluster's name by default: MC_<group>_<cluster>_<location>.
        groups = {f"MC_{member.group}_{member.name}_{member.location}": member.name for member in members}
        return Fleet(members, FleetNames(tuple(member.name for member in members), groups))

    def _blind(self, why: str) -> Fleet:
        """The clusters that were there lately are better than none."""
        log.warning("the fleet cannot be listed, so messages are read with its last names: %s", why)
        problem = None if self._fleet.members else Problem(sentences.CANNOT_LIST, why, sentences.TRY_AGAIN)
        return Fleet(self._fleet.members, self._fleet.names, problem)

    async def channel(self, channel: str) -> ChannelInfo:
        """Raises CallFailed."""
        now = asyncio.get_running_loop().time()
        until, known = self._channels.get(channel, (0.0, ChannelInfo("", "")))
        if now < until:
            return known

        async def ask(waited_s: float) -> Any:
            return await self._client.conversations_info(channel=channel)

        found = (await self._calls.read("conversations.info", ask)).get("channel") or {}
        texts = [str((found.get(item) or {}).get("value") or "") for item in ("topic", "purpose")]
        known = ChannelInfo(str(found.get("name") or ""), "\n".join(filter(None, texts)))
        self._channels[channel] = (now + CHANNEL_LASTS_S, known)
        if len(self._channels) > _MOST_CHANNELS:
            del self._channels[next(iter(self._channels))]
        return known

    def forget(self, channel: str) -> None:
        """It has another name now."""
        self._channels.pop(channel, None)

    async def around(self, team: str, spot: Address, *, threaded: bool) -> list[Around]:
        """What may say which cluster is meant, the nearest first. What cannot be read says nothing."""
        found: list[Around] = []
        with suppress(CallFailed):
            if threaded:
                found += [Around("an earlier message of the thread", text) for text in await self._thread(spot)]
        with suppress(StoreAway):
            default = await self._state.default_cluster(team, spot.channel)
            found += [Around("the channel's default", default)] if default else []
        with suppress(CallFailed):
            where = await self.channel(spot.channel)
            found += [Around("the channel's topic", where.topic), Around("the channel's name", where.name)]
        return found

    async def _thread(self, spot: Address) -> list[str]:
        async def ask(waited_s: float) -> Any:
            return await self._client.conversations_replies(
                channel=spot.channel, ts=spot.thread_ts, limit=_MOST_OF_THREAD
            )

        messages = (await self._calls.read("conversations.replies", ask)).get("messages") or ()
        return [readable(message)[:8000] for message in messages]

    async def react(self, channel: str, ts: str, name: str, *, there: bool) -> bool:
        """A sign under a message; decoration, so nobody waits for it. Whether it is as wanted now."""
        if not (self._adds if there else self._removes).take_now():
            return False

        async def ask(waited_s: float) -> Any:
            where = {"channel": channel, "timestamp": ts, "name": name}
            return await (self._client.reactions_add(**where) if there else self._client.reactions_remove(**where))

        try:
            await self._calls.do("reactions.add" if there else "reactions.remove", ask, longest_wait_s=0)
        except CallFailed as failed:
            return any(word in str(failed) for word in ("already_reacted", "no_reaction", "message_not_found"))
        return True
