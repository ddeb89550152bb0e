"""Worker side of `/aks history`: who may look, then what the bot's memory holds of the cluster."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.checks.check import find
from bot.incidents.history import Histories
from bot.slack.history import text as said
from bot.slack.history import view as history_view
from bot.slack.inbound import replies
from bot.slack.inbound.asks import Ask, What
from bot.slack.inbound.gate import Gate
from bot.slack.inbound.replier import Replier
from bot.slack.kit.message import AnswerMessages
from bot.store.state import State
from handlers.clients.arm.reader import ArmReader


@dataclass(frozen=True)
class HistoryHandlers:
    """Shows what the one who asks may see, and no more. Raises StoreAway."""

    state: State
    replier: Replier
    gate: Gate
    arm: ArmReader
    histories: Histories

    @property
    def work(self) -> dict[What, Callable[[Ask], Awaitable[None]]]:
        return {What.HISTORY: self._history}

    async def _history(self, ask: Ask) -> None:
        """`text` names the cluster; without one the channel's default is meant."""
        cluster = ask.text or await self.state.default_cluster(ask.place.team, ask.place.channel)
        if not cluster:
            await self.replier.reply(ask, replies.only(said.FORM))
            return
        if refused := await self.gate.refusal(ask.place, cluster):
            await self.replier.privately(ask, AnswerMessages(refused, ()))
            return
        target = await find(cluster, self.arm)
        found = await self.histories.of(target, ask.place.team)
        await self.replier.in_channel(ask, history_view.answer(found), "history")
