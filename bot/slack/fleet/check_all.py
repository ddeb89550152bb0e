"""`/aks check all`: every cluster that the asker may see from there, in one message that is edited as they end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime

from bot.address import Address
from bot.checks.fleet import MOST, Checked, checked_fleet
from bot.checks.fleet_lines import FleetRow
from bot.checks.keeping import Seen
from bot.checks.runner import Runner
from bot.checks.store.verdicts import PastVerdict
from bot.queue.retry import CannotTell
from bot.render.verdict import not_checked
from bot.slack.api.calls import CallFailed, Refused
from bot.slack.api.poster import NO_PLACE, Poster, Reply
from bot.slack.fleet import text as said
from bot.slack.fleet import view as fleet_view
from bot.slack.fleet.handlers import FleetHandlers
from bot.slack.inbound import replies
from bot.slack.inbound.asks import Ask, What
from bot.slack.inbound.outside import Outside
from bot.slack.inbound.replier import Replier
from bot.slack.kit.limits import EDIT_EVERY_S
from bot.slack.kit.message import AnswerMessages, Message
from bot.slack.kit.rich_text import blocks as rich_blocks
from bot.slack.kit.rich_text import section as rich_section
from bot.slack.kit.rich_text import text
from handlers.fleet.clusters import FleetMember
from handlers.problem import Problem
from runbooks.library import Library

HEAD, END = "fleet", "fleet-end"


@dataclass
class _Board:
    """What is known so far, and whether the message says it."""

    members: tuple[FleetMember, ...]
    left_out: int
    library: Library
    rows: dict[str, FleetRow | Problem] = field(default_factory=dict)

    @property
    def message(self) -> Message:
        return fleet_view.checking(self.rows, self.members, self.library, self.left_out)

    def note(self, checked: Checked) -> None:
        self.rows[checked.member.id] = _row(checked)


@dataclass(frozen=True)
class CheckAll:
    """Raises CallFailed, CannotTell and Problem. Killed and begun again, it edits the same message."""

    about_fleet: FleetHandlers
    message_poster: Poster
    replier: Replier
    outside: Outside
    run: Runner
    seen: Seen
    library: Library

    @property
    def work(self) -> dict[What, Callable[[Ask], Awaitable[None]]]:
        return {What.CHECK_ALL: self._check_all}

    async def _check_all(self, ask: Ask) -> None:
        members = await self.about_fleet.seen(ask)
        if isinstance(members, Message):
            await self.replier.privately(ask, AnswerMessages(members, ()))
        elif not members:
            await self.replier.reply(ask, replies.only(said.NOTHING_TO_CHECK))
        else:
            await self._check(ask, _Board(members[:MOST], max(0, len(members) - MOST), self.library))

    async def _check(self, ask: Ask, board: _Board) -> None:
        posted = await self._head(ask, board.message)
        editing = asyncio.create_task(self._keep_editing(ask.where, posted, board)) if posted else None
        try:
            async with aclosing(checked_fleet(board.members, self.run, ask.id)) as checks:
                async for checked in checks:
                    board.note(checked)
                    if not isinstance(checked.outcome, Problem):
                        await self.seen(ask.place.team, checked.outcome)
        finally:
            if editing:
                editing.cancel()
                await asyncio.gather(editing, return_exceptions=True)
        await self._end(ask, posted, board)

    async def _head(self, ask: Ask, message: Message) -> Address | None:
        """Where it stands. Nowhere, where the bot may not speak or somebody reads along who may not look: then only the
        one who asked sees the end of it."""
        if await self.outside.covers(ask.place):
            return None
        try:
            return (await self.message_poster.once(ask.where, HEAD, message))[0]
        except Refused as refused:
            if refused.error not in NO_PLACE:
                raise
            return None

    async def _keep_editing(self, where: Reply, posted: Address, board: _Board) -> None:
        """As often as Slack lets a message change; a step on the way that fails is not worth a second try."""
        shown = 0
        while True:
            await asyncio.sleep(EDIT_EVERY_S)
            if len(board.rows) == shown:
                continue
            shown = len(board.rows)
            try:
                await self.message_poster.change_or_repeat(where, posted, HEAD, board.message)
            except CallFailed:
                continue

    async def _end(self, ask: Ask, posted: Address | None, board: _Board) -> None:
        """The whole list in its place, and a new message that calls who asked: an edit rings no bell."""
        whole = board.message
        if posted is None:
            await self.replier.in_channel(ask, AnswerMessages(whole, ()), END)
            return
        try:
            await self.message_poster.change_or_repeat(ask.where, posted, HEAD, whole)
            thread = ask.place.thread_ts or posted.message_ts
            place = Address(ask.place.team, posted.channel, ask.place.user, thread_ts=thread)
            called = rich_section(text(said.FOR), {"type": "user", "user_id": ask.place.user}, text(f": {whole.text}"))
            end = Message(whole.text, tuple(rich_blocks([called])))
            await self.message_poster.once(Reply(ask.id, place, ask.asked_at), END, end)
        except CallFailed as failed:
            raise CannotTell(str(failed)) from failed


def _row(checked: Checked) -> FleetRow | Problem:
    if isinstance(checked.outcome, Problem):
        return checked.outcome
    diagnosis = checked.outcome.diagnosis
    verdict = PastVerdict.of(diagnosis, datetime.now(UTC), checked=not not_checked(diagnosis))
    return FleetRow(checked.member, verdict)
