"""Answers what is said to the bot and is no command: a bare name, a question about a cluster, a pasted error."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from bot.checks.request import CheckRequest
from bot.slack.inbound.asks import Ask, What
from bot.slack.inbound.replier import Replier
from bot.slack.kit.fleet_rows import value_of
from bot.slack.kit.message import AnswerMessages, Message
from bot.slack.talk import text, view
from bot.triage.clusters import FleetNames
from bot.triage.talk import Talk, Wants, read_talk
from handlers.fleet.cluster_text import ClusterRef
from handlers.fleet.clusters import FleetMember
from handlers.problem import Problem
from runbooks.library import Library

Seen = Callable[[Ask], Awaitable[tuple[FleetMember, ...] | Message]]
"""The clusters that whoever asks may view from there, or why there are none."""


class TalkHandlers:
    """Raises CannotTell, CallFailed and StoreAway, after which it is done again."""

    def __init__(
        self, seen: Seen, check: Callable[[CheckRequest], Awaitable[object]], replier: Replier, library: Library
    ) -> None:
        self._seen, self._check, self._replier, self._library = seen, check, replier, library

    @property
    def work(self) -> dict[What, Callable[[Ask], Awaitable[None]]]:
        return {What.TALK: self._talk}

    async def _talk(self, ask: Ask) -> None:
        try:
            seen = await self._seen(ask)
        except Problem as problem:
            await self._without_fleet(ask, problem)
            return
        if isinstance(seen, Message):
            await self._replier.privately(ask, AnswerMessages(seen, ()))
            return
        talk = await self._read(ask.text, seen)
        meant = [value_of(member, seen) for name in talk.clusters for member in seen if member.name == name]
        if talk.wants is Wants.CHECK and len(meant) == 1:
            await self._check(CheckRequest(f"{ask.id}-check", ClusterRef.of(meant[0]), ask.place))
            return
        await self._replier.reply(ask, _answer(talk, meant))

    async def _read(self, said: str, seen: Sequence[FleetMember]) -> Talk:
        # Many patterns over a long paste: beside the event loop.
        return await asyncio.to_thread(read_talk, said, FleetNames.of(seen), self._library)

    async def _without_fleet(self, ask: Ask, problem: Problem) -> None:
        """An error is explained all the same; whether a word is a cluster's name is not known now."""
        talk = await self._read(ask.text, ())
        if talk.wants is Wants.EXPLAIN:
            await self._replier.reply(ask, _answer(talk, ()))
        else:
            await self._replier.reply(ask, view.not_understood(text.no_fleet(problem.what, problem.why)))


def _answer(talk: Talk, meant: Sequence[str]) -> Message:
    if talk.wants is Wants.EXPLAIN and talk.explanation:
        return view.explained(talk.explanation, meant)
    return view.which(meant) if meant else view.not_understood()
