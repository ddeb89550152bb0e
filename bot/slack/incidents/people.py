"""Does what people and channels want of the bot where it reads along: whom to believe, what to mute, where to join."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.address import Address
from bot.incidents.model import Incident
from bot.incidents.mutes import Mute, Unreadable, read_mute
from bot.incidents.store import Incidents
from bot.incidents.turns import Turns
from bot.policy.model import Policy
from bot.slack.api.calls import Refused
from bot.slack.api.messages import Mark, SlackMessages
from bot.slack.api.poster import Reply
from bot.slack.inbound import commands, replies
from bot.slack.inbound.asks import Ask, What
from bot.slack.inbound.gate import Gate, name_of
from bot.slack.inbound.replier import Replier
from bot.slack.incidents import text as said
from bot.slack.incidents import view as incidents_view
from bot.slack.incidents.handlers import IncidentHandlers, readable
from bot.slack.incidents.messages import IncidentMessages
from bot.slack.incidents.places import Places
from bot.slack.incidents.tasks import Do, Task
from bot.slack.kit.message import AnswerMessages, Message, section
from runbooks.library import Library

SNOOZE = timedelta(hours=4)
_MOST_SHOWN = 30


class IncidentCommandHandlers:
    """Raises CallFailed, CannotTell and StoreAway, after which it is done again."""

    def __init__(
        self,
        *,
        desk: IncidentHandlers,
        telling: IncidentMessages,
        incidents: Incidents,
        turns: Turns,
        places: Places,
        slack_messages: SlackMessages,
        replier: Replier,
        gate: Gate,
        policy: Policy,
        library: Library,
    ) -> None:
        self._telling = telling
        self._desk, self._incidents, self._turns, self._places = desk, incidents, turns, places
        self._slack_messages, self._replier, self._gate = slack_messages, replier, gate
        self._policy, self._library = policy, library

    @property
    def work(self) -> dict[Do, Callable[[Task], Awaitable[None]]]:
        return {
            Do.ALLOW: self._allow,
            Do.APPEARED: self._appeared,
            Do.ARRIVED: self._arrived,
            Do.MUTE: self._mute,
            Do.SNOOZE: self._snooze,
        }

    # -- apps -------------------------------------------------------------------------------------------------

    async def _allow(self, task: Task) -> None:
        """`incident` is the turn that asked, `text` the message with the buttons, `number` 1 for yes."""
        place, yes = task.place, bool(task.number)
        decided = await self._incidents.allow_app(place.team, task.code, place.user, allowed=yes)
        if not decided and await self._incidents.is_alert_app(place.team, task.code) is not yes:
            await self._whisper(task, replies.only(said.ALREADY_DECIDED))
            return
        line = (said.allowed if yes else said.refused)(task.cluster)
        mark = Mark(f"app-{place.channel}-{task.code}", "ask")
        await self._slack_messages.change(
            Address(channel=place.channel, message_ts=task.text), incidents_view.done_by(line, place.user), mark
        )
        if not yes:
            return
        for turn in dict.fromkeys((*await self._incidents.waited(place.team, task.code), task.incident)):
            if kept := readable(await self._turns.kept(turn)):
                await self._desk.consider(kept, task.me)

    # -- channels ---------------------------------------------------------------------------------------------

    async def _appeared(self, task: Task) -> None:
        self._places.forget(task.place.channel)
        if not self._policy.channels.joins(task.text):
            return
        try:
            await self._slack_messages.join(task.place.channel)
        except Refused:
            return  # archived or private by now: there only an invitation helps
        await self._arrived(task)

    async def _arrived(self, task: Task) -> None:
        """One line, however it came in. Where it does not read along, it says nothing of the kind."""
        channels, place = self._policy.channels, task.place
        if not channels.reads_everything and not channels.reads((await self._places.channel(place.channel)).name):
            return
        if not await self._incidents.claim(f"arrived {place.team} {place.channel}", "the bot"):
            return
        where = Reply(f"arrived-{place.channel}", replace(place, thread_ts=""), datetime.now(UTC))
        await self._telling.once_where_possible(where, "hello", replies.only(said.arrived(channels.auto_check)))

    # -- muting -----------------------------------------------------------------------------------------------

    async def _mute(self, task: Task) -> None:
        asked = commands.read_command(task.text)
        if asked.word == "unmute":
            await self._unmute(task, asked.rest)
        elif not asked.rest.strip():
            await self._list(task)
        else:
            await self._add(task, asked.rest)

    async def _add(self, task: Task, rest: str) -> None:
        now, longest = datetime.now(UTC), timedelta(hours=self._policy.channels.longest_mute_hours)
        if not longest:
            await self._reply(task, replies.only(said.nobody_may_mute(self._policy.look.ask)))
            return
        fleet = await self._places.fleet()
        try:
            mute = read_mute(rest, now, self._library, longest, {member.name.lower() for member in fleet.members})
        except Unreadable as unreadable:
            await self._reply(task, replies.only(said.cannot_mute(str(unreadable))))
            return
        refused = await self._gate.refusal(task.place, mute.cluster)
        if refused:
            await self._reply(task, refused)
            return
        mute = replace(mute, cluster=name_of(mute.cluster), by=task.place.user)
        if fleet.members and not any(member.name.lower() == mute.cluster.lower() for member in fleet.members):
            await self._reply(task, replies.only(said.cannot_mute(said.no_such_cluster(mute.cluster))))
            return
        await self._incidents.mute(task.place.team, mute)
        until = datetime.fromtimestamp(mute.until_ms / 1000, UTC)
        line = said.is_muted(mute.code, mute.cluster, until, mute.reason)
        await self._openly(task, incidents_view.done_by(line, mute.by))

    async def _unmute(self, task: Task, rest: str) -> None:
        code, _, typed = rest.replace("`", "").strip().partition(" ")
        cluster = name_of(typed)
        refused = await self._gate.refusal(task.place, cluster) if cluster else None
        if refused:
            await self._reply(task, refused)
        elif await self._incidents.unmute(task.place.team, code, cluster):
            await self._openly(task, replies.only(said.unmuted(code, cluster)))
        else:
            await self._reply(task, replies.only(said.was_not_muted(code, cluster)))

    async def _list(self, task: Task) -> None:
        viewer = await self._gate.viewer(task.place)
        if isinstance(viewer, Message):
            await self._reply(task, viewer)
            return
        found = await self._incidents.mutes(task.place.team, _now_ms())
        lines = [_line(mute) for mute in found if viewer.may_see(mute.cluster)][:_MOST_SHOWN]
        message = Message(said.MUTED_NOW, (section(said.MUTED_NOW), *(section(line) for line in lines)))
        await self._reply(task, message if lines else replies.only(said.NOTHING_MUTED))

    async def _snooze(self, task: Task) -> None:
        """The incident of the card, for some hours."""
        team, hours = task.place.team, self._policy.channels.longest_mute_hours
        if not hours:
            await self._whisper(task, replies.only(said.nobody_may_mute(self._policy.look.ask)))
            return
        incident = (await self._incidents.book(team, task.cluster)).get(task.incident)
        if incident is None:
            await self._whisper(task, replies.only(said.GONE))
            return
        until = datetime.now(UTC) + min(SNOOZE, timedelta(hours=hours))
        codes = list(dict.fromkeys((*incident.codes, *(cause.code for cause in incident.causes))))
        for code in codes:
            until_ms = int(until.timestamp() * 1000)
            mute = Mute(code, incident.cluster, until_ms, task.place.user, said.SNOOZE_REASON)
            await self._incidents.mute(team, mute)
        await self._tell_in_thread(task, incident, said.snoozed(codes, incident.cluster, until))

    async def _tell_in_thread(self, task: Task, incident: Incident, line: str) -> None:
        spot = task.place.thread
        place = replace(task.place, channel=spot.channel, thread_ts=spot.thread_ts or incident.home.thread_ts)
        where = Reply(task.id, place, datetime.now(UTC))
        await self._telling.once_where_possible(where, "snoozed", incidents_view.done_by(line, task.place.user))

    # -- replies ----------------------------------------------------------------------------------------------

    async def _reply(self, task: Task, message: Message) -> None:
        await self._replier.privately(_ask(task), AnswerMessages(message, ()))

    async def _openly(self, task: Task, message: Message) -> None:
        """Everybody there relies on it, so everybody sees it."""
        await self._replier.openly(_ask(task), AnswerMessages(message, ()), "reply")

    async def _whisper(self, task: Task, message: Message) -> None:
        await self._replier.privately(_ask(task), AnswerMessages(message, ()))


def _ask(task: Task) -> Ask:
    return Ask(task.id, What.REPLY, task.place)


def _line(mute: Mute) -> str:
    until = datetime.fromtimestamp(mute.until_ms / 1000, UTC)
    return said.muted(mute.code, mute.cluster, until, mute.reason)


def _now_ms() -> int:
    return int(datetime.now(UTC).timestamp() * 1000)
