"""Worker side of `/aks support` and of the button under answers: collects a support packet and posts it as a file."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from bot.address import Address
from bot.checks.support.packets import Done, SupportPackets
from bot.slack.api.calls import Refused
from bot.slack.api.poster import NO_PLACE, Poster, Reply
from bot.slack.inbound.asks import Ask, What
from bot.slack.inbound.gate import Gate
from bot.slack.inbound.outside import Outside
from bot.slack.inbound.replier import Replier
from bot.slack.inbound.replies import only
from bot.slack.kit.message import AnswerMessages, Message, Pressed
from bot.slack.support import text as said
from bot.slack.support import view
from handlers.fleet.cluster_text import ClusterRef
from handlers.problem import Problem

HEAD = "support"


@dataclass(frozen=True)
class SupportHandlers:
    """One file for one request: it is posted where it was asked for, or to the one who asked."""

    packets: SupportPackets
    done: Done
    gate: Gate
    outside: Outside
    message_poster: Poster
    replier: Replier

    @property
    def work(self) -> dict[What, Callable[[Ask], Awaitable[None]]]:
        return {What.SUPPORT: self._support}

    async def _support(self, ask: Ask) -> None:
        """`text` names the cluster, or what the button carries does."""
        cluster = ClusterRef.of(Pressed.load(ask.pressed).cluster if ask.pressed else ask.text)
        refused = await self.gate.refusal(ask.place, cluster)
        if refused:
            await self.replier.privately(ask, AnswerMessages(refused, ()))
            return
        where, head = await self._begun(ask, view.collecting(cluster.name))
        try:
            packet = await self.packets.made(cluster, ask.asked_at, self.done)
        except Problem as problem:
            await self.message_poster.change_or_repeat(where, head, HEAD, view.failed(cluster.name, problem))
            return
        shown = view.made(packet, ask.place.user)
        head = await self.message_poster.change_or_repeat(where, head, HEAD, shown.head)
        await self.message_poster.in_thread(where, head, shown, HEAD)

    async def _begun(self, ask: Ask, message: Message) -> tuple[Reply, Address]:
        """The first message, and where it stands. A packet is for those who may look, so nobody else may read there."""
        if await self.outside.covers(ask.place):
            return await self._directly(ask, message, said.ELSEWHERE)
        try:
            head, _ = await self.message_poster.once(ask.where, HEAD, message)
        except Refused as refused:
            if refused.error not in NO_PLACE:
                raise
            return await self._directly(ask, message, said.NOT_A_MEMBER)
        return ask.where, head

    async def _directly(self, ask: Ask, message: Message, why: str) -> tuple[Reply, Address]:
        """As a direct message, and a word of it where it was asked for."""
        place = Address(ask.place.team, ask.place.user, ask.place.user)
        where = replace(ask.where, place=place)
        head, new = await self.message_poster.once(where, HEAD, message)
        if new:
            await self.replier.privately(ask, AnswerMessages(only(why), ()))
        return where, head
