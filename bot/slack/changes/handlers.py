"""Worker side of `/aks changes`: who may look, then the activity log, then the answer with its picture."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from bot.checks.check import find
from bot.checks.length import cluster_and_length
from bot.slack.changes import text as said
from bot.slack.changes import view as changes_view
from bot.slack.inbound import replies
from bot.slack.inbound.asks import Ask, What
from bot.slack.inbound.gate import Gate
from bot.slack.inbound.replier import Replier
from bot.slack.kit import sentences
from bot.slack.kit.message import AnswerMessages
from bot.store.state import State
from handlers.changes.change import Changes
from handlers.changes.read import LONGEST, USUAL, read_changes
from handlers.clients.arm.reader import ArmReader
from handlers.problem import Problem

WITHIN_S = 60.0
"""A busy node resource group is ten pages, each of which Azure takes seconds for."""


@dataclass(frozen=True)
class ChangeHandlers:
    """Shows what the one who asks may see, and no more."""

    state: State
    replier: Replier
    gate: Gate
    arm: ArmReader

    @property
    def work(self) -> dict[What, Callable[[Ask], Awaitable[None]]]:
        return {What.CHANGES: self._changes}

    async def _changes(self, ask: Ask) -> None:
        """`text`: the cluster and how far back, as they were typed."""
        cluster, length = await self._asked(ask)
        if cluster is None:
            await self.replier.reply(ask, replies.only(said.FORM))
            return
        if refused := await self.gate.refusal(ask.place, cluster):
            await self.replier.privately(ask, AnswerMessages(refused, ()))
            return
        found = await self._read(cluster, length)
        await self.replier.in_channel(ask, changes_view.answer(found), "changes")

    async def _asked(self, ask: Ask) -> tuple[str | None, timedelta]:
        """Without a cluster, the channel's default is meant."""
        cluster, length = cluster_and_length(ask.text, USUAL, LONGEST)
        return cluster or await self.state.default_cluster(ask.place.team, ask.place.channel), length

    async def _read(self, cluster: str, length: timedelta) -> Changes:
        target = await find(cluster, self.arm)
        try:
            async with asyncio.timeout(WITHIN_S):
                return await read_changes(target, self.arm, length)
        except TimeoutError as late:
            what, why = f"cannot read what changed on {target.name}", sentences.no_answer_within(WITHIN_S)
            raise Problem(what, why, "ask for a shorter time, such as 2h") from late
