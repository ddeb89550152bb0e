"""Worker side of everything about the fleet: lists, menus, App Home, a channel's default cluster, *Triage this*.

Each shows what the person who asks may see, and no more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime

from bot.checks.check import find
from bot.checks.fleet_lines import FleetRow, rows
from bot.checks.store.recent import RecentCheck, RecentChecks
from bot.checks.store.verdicts import Verdicts
from bot.slack.api.calls import CallFailed
from bot.slack.api.messages import SlackMessages
from bot.slack.api.people import People
from bot.slack.fixes.lists.view import OpenApproval
from bot.slack.fleet import view as fleet_view
from bot.slack.home import view as home_view
from bot.slack.home.view import Approvals, Shown
from bot.slack.inbound import channel_text, commands, gate_text, replies
from bot.slack.inbound.asks import Ask, What
from bot.slack.inbound.gate import Gate, Viewer, name_of
from bot.slack.inbound.replier import Replier
from bot.slack.kit import sentences
from bot.slack.kit.message import AnswerMessages, Message, section
from bot.slack.kit.rich_text import blocks as rich_blocks
from bot.slack.kit.rich_text import section as rich_section
from bot.slack.kit.rich_text import text
from bot.slack.triage.view import triaged
from bot.store.away import StoreAway
from bot.store.state import State
from handlers.clients.arm.reader import ArmReader
from handlers.clients.errors import ArmError
from handlers.fleet.cluster_text import ClusterRef
from handlers.fleet.clusters import FleetMember, fleet
from handlers.problem import Problem
from runbooks.library import Library

FLEET_TIMEOUT_S = 30.0
HOME_TIMEOUT_S = 10.0
"""Somebody looks at the page and sees nothing else until then."""
_MOST_LOOKED_AT = 60
"""Recent checks of which Slack is asked whether their channel is public."""


class FleetHandlers:
    """Handles the tasks that begin by reading the fleet."""

    def __init__(
        self,
        slack_messages: SlackMessages,
        replier: Replier,
        gate: Gate,
        people: People,
        state: State,
        recent: RecentChecks,
        verdicts: Verdicts,
        approvals: Approvals,
        library: Library,
        arm: ArmReader,
    ) -> None:
        self._slack_messages, self._replier, self._gate, self._people = slack_messages, replier, gate, people
        self._state, self._recent, self._verdicts, self._approvals = state, recent, verdicts, approvals
        self._library, self._arm = library, arm

    @property
    def work(self) -> dict[What, Callable[[Ask], Awaitable[None]]]:
        return {
            What.CLUSTERS: self._clusters,
            What.PICKER: self._picker,
            What.DEFAULT: self._default,
            What.TRIAGE: self._triage,
            What.HOME: self._home,
        }

    # -- lists ------------------------------------------------------------------------------------------------

    async def _clusters(self, ask: Ask) -> None:
        seen = await self.seen(ask)
        if isinstance(seen, Message):
            await self._whisper(ask, seen)
        else:
            await self._replier.reply(ask, fleet_view.clusters(await self._rows(seen), self._library))

    async def _rows(self, seen: Sequence[FleetMember]) -> list[FleetRow]:
        """Without the bot's memory nobody knows the verdicts, and the list says so of each."""
        try:
            latest = await self._verdicts.latest([member.id for member in seen])
        except StoreAway:
            latest = {}
        return rows(seen, latest)

    async def _picker(self, ask: Ask) -> None:
        """If `pressed` names a cluster, that one is being checked already."""
        seen = await self.seen(ask)
        if isinstance(seen, Message):
            await self._whisper(ask, seen)
            return
        sentence = channel_text.another(name_of(ask.pressed)) if ask.pressed else sentences.PICK
        await self._replier.reply(ask, replies.picker(seen, ask.text or None, said=sentence))

    async def seen(self, ask: Ask) -> tuple[FleetMember, ...] | Message:
        """The clusters that this person may view from there, or why there are none."""
        viewer = await self._viewer(ask)
        if isinstance(viewer, Message):
            return viewer
        members = await self._fleet()
        seen = viewer.seen(members)
        return replies.only(gate_text.NOTHING_FOR_YOU) if members and not seen else seen

    async def fleet(self) -> tuple[FleetMember, ...]:
        """All clusters. Raises Problem."""
        return await self._fleet()

    async def _viewer(self, ask: Ask) -> Viewer | Message:
        viewer = await self._gate.viewer(ask.place)
        return viewer if isinstance(viewer, Message) else viewer.refusal or viewer

    async def _fleet(self, timeout_s: float = FLEET_TIMEOUT_S) -> tuple[FleetMember, ...]:
        try:
            async with asyncio.timeout(timeout_s):
                return await fleet(self._arm)
        except ArmError as error:
            raise Problem(sentences.CANNOT_LIST, error.detail, sentences.TRY_AGAIN) from error
        except TimeoutError as late:
            raise Problem(sentences.CANNOT_LIST, sentences.no_answer_within(timeout_s), sentences.TRY_AGAIN) from late

    # -- a channel's default ----------------------------------------------------------------------------------

    async def _default(self, ask: Ask) -> None:
        wanted = ask.text.replace("`", "").strip()
        before = await self._state.default_cluster(ask.place.team, ask.place.channel)
        about = before if not wanted or wanted.lower() == commands.NO_CLUSTER else wanted
        refused = await self._gate.refusal(ask.place, about) if about else None
        if refused:
            await self._whisper(ask, refused)
        elif not wanted:
            sentence = channel_text.is_set(name_of(before)) if before else channel_text.NONE_SET
            await self._replier.reply(ask, replies.only(sentence))
        elif wanted.lower() == commands.NO_CLUSTER:
            await self._clear(ask, before)
        else:
            await self._set(ask, wanted, before)

    async def _clear(self, ask: Ask, before: str | None) -> None:
        if before is None:
            await self._replier.reply(ask, replies.only(channel_text.WAS_NONE))
            return
        await self._announce(ask, channel_text.was_cleared(name_of(before)))
        await self._state.set_default_cluster(ask.place.team, ask.place.channel, None)

    async def _set(self, ask: Ask, wanted: str, before: str | None) -> None:
        meant = ClusterRef.of(wanted)
        target = await find(meant, self._arm, timeout_s=FLEET_TIMEOUT_S)
        # Somebody who gave an id may have had to: the name alone may be another's, too.
        chosen = str(target.id) if meant.id else target.name
        if before and before.lower() == chosen.lower():
            await self._replier.reply(ask, replies.only(channel_text.already(target.name)))
            return
        # Announce first: a worker that dies in between repeats both, and the announcement is deduplicated.
        await self._announce(ask, channel_text.was_set(target.name, name_of(before) if before else None))
        await self._state.set_default_cluster(ask.place.team, ask.place.channel, chosen)

    async def _announce(self, ask: Ask, sentence: str) -> None:
        """Everybody in the channel relies on the default, so everybody sees who changed it."""
        by = rich_section(text(channel_text.SET_BY), {"type": "user", "user_id": ask.place.user})
        message = Message(sentence, (section(sentence), *rich_blocks([by])))
        await self._replier.openly(ask, AnswerMessages(message, ()), "default")

    # -- *Triage this* ----------------------------------------------------------------------------------------

    async def _triage(self, ask: Ask) -> None:
        """`pressed` holds the thread of the message."""
        seen: tuple[FleetMember, ...] | Message | Problem
        try:
            seen = await self.seen(ask)
        except Problem as problem:
            seen = problem
        await self._replier.privately(ask, triaged(ask.text, self._library, seen, ask.pressed))

    # -- App Home ---------------------------------------------------------------------------------------------

    async def _home(self, ask: Ask) -> None:
        direct = ask.place.channel
        viewer = await self._viewer(ask)
        if isinstance(viewer, Message):
            await self._slack_messages.show_home(ask.place.user, home_view.refused(viewer, direct))
            return
        async with asyncio.TaskGroup() as together:
            members = together.create_task(self._fleet_or_why())
            recent = together.create_task(self._recent_of(viewer))
            address = together.create_task(self._address())
            approvals = together.create_task(self._approvals_of(ask))
        found = members.result()
        shown = Shown(
            found if isinstance(found, Problem) else viewer.seen(found),
            datetime.now(UTC),
            recent.result(),
            approvals.result(),
            address.result(),
            ask.text,
        )
        await self._slack_messages.show_home(ask.place.user, home_view.page(shown, direct))

    async def _fleet_or_why(self) -> tuple[FleetMember, ...] | Problem:
        try:
            return await self._fleet(HOME_TIMEOUT_S)
        except Problem as problem:
            return problem

    async def _approvals_of(self, ask: Ask) -> Sequence[OpenApproval] | Message | None:
        try:
            return await self._approvals.open_for(ask.place.team, ask.place.user)
        except StoreAway:
            return None

    async def _recent_of(self, viewer: Viewer) -> list[RecentCheck] | None:
        """The checks that this person may see: their own, and those in public channels."""
        asker = viewer.asker
        try:
            latest = await self._recent.latest(asker.team, datetime.now(UTC))
        except StoreAway:
            return None
        seen = []
        for check in latest[:_MOST_LOOKED_AT]:
            mine = check.user == asker.user
            if viewer.may_see(check.cluster) and (
                mine or (check.ts and not asker.guest and await self._is_public(check))
            ):
                seen.append(check)
        return seen

    async def _is_public(self, check: RecentCheck) -> bool:
        try:
            return await self._people.is_public(check.channel)
        except CallFailed:
            return False  # Better one line too few than one too many.

    async def _address(self) -> str:
        with suppress(CallFailed):
            return await self._people.address()
        return ""

    async def _whisper(self, ask: Ask, message: Message) -> None:
        await self._replier.privately(ask, AnswerMessages(message, ()))
